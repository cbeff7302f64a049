# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2034
# deps.sh: what the commands need from Debian, installed only where it is
# missing.  Sourced by examples/demo.sh and tests/run.sh (bash).
#
#   deps_require "to build" $DEPS_BUILD
#
# returns 0 once all the packages, or the same things from elsewhere, are
# there.  It asks no network and no privilege when nothing is missing.

DEPS_BUILD="gcc libc6-dev meson ninja-build pkg-config
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libavutil-dev
  libsndfile1-dev"
DEPS_PYTHON="python3-gi gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0"
DEPS_PLAY="gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good"
# GStreamer's CUDA library, and a compiler for the kernels on the host.  The
# package brings hundreds of megabytes of other libraries, so it is asked for
# only where it is of use: see deps_cuda.
DEPS_CUDA="libgstreamer-plugins-bad1.0-dev g++"

# Prints DEPS_CUDA if the machine has an NVIDIA driver.
deps_cuda() {
  if PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2> /dev/null |
    grep -q -F libcuda.so.1; then
    echo "$DEPS_CUDA"
  fi
}

# 0 if Python finds what is known of a library.
find_typelib() {
  /usr/bin/python3 -c 'import gi, sys
name, version = sys.argv[1].rsplit ("-", 1)
gi.require_version (name, version)' "$1"
}

# 0 if what the package is needed for is there though the package is not: on
# another distribution, or built by hand.
deps_has() {
  case $1 in
    gcc) command -v cc ;;
    libc6-dev) echo '#include <math.h>' | cc -E - ;;
    meson) command -v meson ;;
    ninja-build) command -v ninja ;;
    pkg-config) command -v pkg-config ;;
    libgstreamer1.0-dev) pkg-config gstreamer-check-1.0 ;;
    libgstreamer-plugins-base1.0-dev)
      pkg-config gstreamer-audio-1.0 gstreamer-fft-1.0 ;;
    libgstreamer-plugins-bad1.0-dev) pkg-config gstreamer-cuda-1.0 ;;
    g++) command -v c++ ;;
    libavutil-dev) pkg-config --atleast-version=57 libavutil ;;
    libsndfile1-dev) pkg-config sndfile ;;
    gstreamer1.0-tools) command -v gst-launch-1.0 ;;
    gstreamer1.0-plugins-base) gst-inspect-1.0 --exists audioconvert ;;
    gstreamer1.0-plugins-good) gst-inspect-1.0 --exists wavenc ;;
    python3-gi) /usr/bin/python3 -c 'import gi' ;;
    gir1.2-gstreamer-1.0) find_typelib GstController-1.0 ;;
    gir1.2-gst-plugins-base-1.0) find_typelib GstApp-1.0 ;;
    gnuplot-nox) command -v gnuplot ;;
    clang-format-14) command -v clang-format-14 ;;
    *) false ;;
  esac > /dev/null 2>&1
}

# Prints those of the packages that are missing.
deps_missing() {
  local installed='' package

  # One question for all: dpkg-query takes 10 ms each time.
  if command -v dpkg-query > /dev/null; then
    installed=$(dpkg-query -W -f='${Package}=${db:Status-Status}\n' "$@" \
      2> /dev/null || true)
  fi
  for package in "$@"; do
    grep -q -x "$package=installed" <<< "$installed" ||
      deps_has "$package" || printf '%s ' "$package"
  done
}

# deps_require WHY PACKAGE...
deps_require() {
  local why=$1 missing as_root=()
  shift

  missing=$(deps_missing "$@")
  missing=${missing% }
  [ -n "$missing" ] || return 0

  if ! command -v apt-get > /dev/null; then
    echo "error: $why, these Debian packages or their like are needed," \
      "and there is no apt-get to install them: $missing" >&2
    return 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo > /dev/null; then
      echo "error: $why, packages are missing, and installing them takes" \
        "root or sudo.  As root: apt-get install $missing" >&2
      return 1
    fi
    as_root=(sudo)
  fi

  echo "Installing $why: $missing"
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q
    -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2)
  # DPkg::Lock::Timeout: another apt at work makes this one wait.
  # A failed update may still leave lists that serve; the install tells.
  "${as_root[@]}" update || true
  # shellcheck disable=SC2086 # one word for each package
  if ! "${as_root[@]}" install -y --no-install-recommends $missing; then
    echo "error: apt-get could not install: $missing" >&2
    echo "(no network, no rights, or no such package here; see above)" >&2
    return 1
  fi

  # Is what was installed what is needed?
  missing=$(deps_missing "$@")
  if [ -n "$missing" ]; then
    echo "error: still missing after apt-get install: $missing" >&2
    return 1
  fi
}
