# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2034
# deps.sh: what the commands need from Debian, installed only where it is
# missing.  Sourced by examples/demo.sh, debian/build.sh and the tests (bash).
#
#   deps_require "to build" $DEPS_BUILD
#
# returns 0 once all the packages, or the same things from elsewhere, are
# there, and so does
#
#   deps_require_cuda "to build"
#
# for GStreamer's CUDA library.  They ask no network and no privilege when
# nothing is missing.

# The filter core alone, and all.
DEPS_CORE="gcc libc6-dev meson ninja-build"
DEPS_BUILD="$DEPS_CORE pkg-config
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev
  libsndfile1-dev libyaml-dev libmysofa-dev libsoup-3.0-dev libjson-glib-dev"
DEPS_PYTHON="python3-gi gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0"
# What loudness is held against.
DEPS_LOUDNESS="libebur128-dev"
DEPS_PLAY="gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good"
# The filter core and the plugin for AArch64, and what runs them.
DEPS_AARCH64="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user mmdebstrap"
# Wheels for x86-64 and AArch64.
DEPS_WHEELS="gcc gcc-aarch64-linux-gnu pkg-config python3-venv mmdebstrap"
# The other compiler that docs/install.md names.
DEPS_CLANG="clang"
# The example with a window, a screen for it and a hand.
DEPS_WINDOW="libgtk-4-dev xvfb xdotool"
# What runs an archive on many machines.
DEPS_ARCHIVE="parallel slurm-wlm"
# The Python package, and its tests.
DEPS_NUMPY="python3-dev python3-numpy python3-scipy python3-pytest python3-soundfile mypy"
# The page of the server, in a browser.
DEPS_BROWSER="chromium chromium-driver python3-selenium"
# What makes and reads sound files.
DEPS_FILES="ffmpeg python3-mutagen"
# What makes Debian packages.
DEPS_PACKAGES="debhelper dpkg-dev"
# What serves live streams, and who listens to them.
DEPS_LIVE="libgstrtspserver-1.0-dev ffmpeg pulseaudio gstreamer1.0-pulseaudio"
# GStreamer's CUDA library.  Its headers are in libgstreamer-plugins-bad1.0-dev,
# which needs OpenCV and some 200 MB: see deps_require_cuda.
DEPS_CUDA="libgstreamer-plugins-bad1.0-0"

# The headers of GStreamer's CUDA library, if no package has installed them;
# build_setup looks here.
DEPS_CUDA_HEADERS=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build-deps/cuda

# 0 if the machine has an NVIDIA driver.
deps_has_driver() {
  PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2> /dev/null |
    grep -q -F libcuda.so.1
}

# Prints the path of GStreamer's CUDA library.
deps_cuda_library() {
  local library
  library=$(pkg-config --variable=libdir gstreamer-1.0)/libgstcuda-1.0.so.0
  [ -e "$library" ] && echo "$library"
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
    libgstreamer-plugins-bad1.0-0)
      pkg-config gstreamer-cuda-1.0 || deps_cuda_library
      ;;
    g++) command -v c++ ;;
    clang) command -v clang ;;
    libsndfile1-dev) pkg-config sndfile ;;
    libyaml-dev) pkg-config yaml-0.1 ;;
    libmysofa-dev) pkg-config libmysofa ;;
    libsoup-3.0-dev) pkg-config libsoup-3.0 ;;
    libjson-glib-dev) pkg-config json-glib-1.0 ;;
    gstreamer1.0-tools) command -v gst-launch-1.0 ;;
    gstreamer1.0-plugins-base) gst-inspect-1.0 --exists audioconvert ;;
    gstreamer1.0-plugins-good) gst-inspect-1.0 --exists wavenc ;;
    python3) command -v python3 ;;
    python3-dev) /usr/bin/python3-config --includes ;;
    python3-numpy | python3-scipy | python3-pytest | python3-soundfile | mypy)
      /usr/bin/python3 -c "import ${1#python3-}"
      ;;
    python3-gi) /usr/bin/python3 -c 'import gi' ;;
    gir1.2-gstreamer-1.0) find_typelib GstController-1.0 ;;
    gir1.2-gst-plugins-base-1.0) find_typelib GstApp-1.0 ;;
    libebur128-dev) pkg-config libebur128 ;;
    libgstrtspserver-1.0-dev) pkg-config gstreamer-rtsp-server-1.0 ;;
    ffmpeg) command -v ffmpeg ;;
    python3-mutagen) /usr/bin/python3 -c 'import mutagen' ;;
    pulseaudio) command -v pulseaudio && command -v pactl ;;
    gstreamer1.0-pulseaudio) gst-inspect-1.0 --exists pulsesrc ;;
    gnuplot-nox) command -v gnuplot ;;
    libgtk-4-dev) pkg-config gtk4 ;;
    xvfb) command -v Xvfb ;;
    xdotool) command -v xdotool ;;
    gcc-aarch64-linux-gnu) command -v aarch64-linux-gnu-gcc ;;
    libc6-dev-arm64-cross)
      echo '#include <math.h>' | aarch64-linux-gnu-gcc -E -
      ;;
    debhelper) command -v dh ;;
    buildah) command -v buildah ;;
    dpkg-dev) command -v dpkg-buildpackage ;;
    parallel) command -v parallel ;;
    slurm-wlm) command -v slurmctld && command -v slurmd && command -v munged ;;
    qemu-user) command -v qemu-aarch64 ;;
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

# deps_apt_get ARGUMENT...: apt-get as root.
deps_apt_get() {
  local as_root=()

  if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
  # DPkg::Lock::Timeout: another apt at work makes this one wait.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q \
    -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 "$@"
}

# Once: a second installation finds the lists of the first.
deps_are_updated=false
deps_update() {
  $deps_are_updated || deps_apt_get update || true
  deps_are_updated=true
}

# deps_check WHY PACKAGE...: leaves those that are missing in deps_lacking, and fails,
# naming all of them, if they cannot be installed.
deps_check() {
  local why=$1
  shift

  deps_lacking=$(deps_missing "$@")
  deps_lacking=${deps_lacking% }
  [ -n "$deps_lacking" ] || return 0

  if ! command -v apt-get > /dev/null; then
    echo "error: $why, these Debian packages or their like are needed," \
      "and there is no apt-get to install them: $deps_lacking" >&2
    return 1
  fi
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo > /dev/null; then
    echo "error: $why, packages are missing, and installing them takes" \
      "root or sudo.  As root: apt-get install $deps_lacking" >&2
    return 1
  fi
}

# deps_require WHY PACKAGE...
deps_require() {
  local why=$1
  deps_check "$@" || return
  shift
  [ -n "$deps_lacking" ] || return 0

  echo "Installing $why: $deps_lacking"
  # A failed update may still leave lists that serve; the install tells.
  deps_update
  # shellcheck disable=SC2086 # one word for each package
  if ! deps_apt_get install -y --no-install-recommends $deps_lacking; then
    echo "error: apt-get could not install: $deps_lacking" >&2
    echo "(no network, no rights, or no such package here; see above)" >&2
    return 1
  fi

  # Is what was installed what is needed?
  deps_lacking=$(deps_missing "$@")
  if [ -n "$deps_lacking" ]; then
    echo "error: still missing after apt-get install: $deps_lacking" >&2
    return 1
  fi
}

# deps_unpack_cuda FOLDER: the headers out of the package that has them, with a
# .pc file.  The package is not installed.
deps_unpack_cuda() {
  local folder=$1 package=libgstreamer-plugins-bad1.0-dev version

  version=$(dpkg-query -W -f='${Version}' "$DEPS_CUDA") || return 1
  mkdir -p "$folder"/{include,lib} || return 1
  # Of the library's own version, or of the one that is to be had now.
  (cd "$folder" && {
    apt-get -q -o APT::Sandbox::User=root download "$package=$version" ||
      apt-get -q -o APT::Sandbox::User=root download "$package"
  } && dpkg-deb -x "$package"_*.deb unpacked) || return 1
  mkdir "$folder/include/gst" &&
    mv "$folder"/unpacked/usr/include/gstreamer-1.0/gst/cuda \
      "$folder/include/gst/" &&
    ln -s "$(deps_cuda_library)" "$folder/lib/libgstcuda-1.0.so" || return 1
  {
    grep -E '^(Name|Description|Version):' \
      "$folder"/unpacked/usr/lib/*/pkgconfig/gstreamer-cuda-1.0.pc
    # shellcheck disable=SC2016 # pkg-config's variable
    printf '%s\n' 'Requires: gstreamer-base-1.0, gstreamer-video-1.0' \
      'Libs: -L${pcfiledir}/lib -lgstcuda-1.0' \
      'Cflags: -I${pcfiledir}/include'
  } > "$folder/gstreamer-cuda-1.0.pc"
  rm -r "$folder/unpacked" "$folder"/*.deb
}

# Prints the series of a pkg-config module, such as 1.22.
deps_series() {
  pkg-config --modversion "$1" 2> /dev/null | cut -d. -f1,2 | grep .
}

# deps_require_cuda WHY [PACKAGE...]: with packages that are needed beside; GStreamer
# itself must be among them.
deps_require_cuda() {
  local why=$1 new=$DEPS_CUDA_HEADERS.new
  shift
  deps_require "$why" "$@" $DEPS_CUDA || return 1

  if pkg-config gstreamer-cuda-1.0; then
    rm -rf "$DEPS_CUDA_HEADERS"
    return 0
  fi
  # Headers of another series are of no use.
  [ "$(PKG_CONFIG_PATH=$DEPS_CUDA_HEADERS deps_series gstreamer-cuda-1.0)" != \
    "$(deps_series gstreamer-1.0)" ] || return 0

  echo "Fetching $why: headers out of libgstreamer-plugins-bad1.0-dev"
  rm -rf "$new" "$DEPS_CUDA_HEADERS"
  # Packages may have been installed without their lists.
  if ! deps_unpack_cuda "$new"; then
    rm -rf "$new"
    deps_update
    deps_unpack_cuda "$new" || rm -rf "$new"
  fi
  if ! mv "$new" "$DEPS_CUDA_HEADERS"; then
    echo "error: $why, headers out of the package" \
      "libgstreamer-plugins-bad1.0-dev are needed" >&2
    return 1
  fi
}
