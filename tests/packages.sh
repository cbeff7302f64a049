#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck disable=SC2317 # functions are called by name
# packages.sh: a release is made, and Debian packages of it, as TAP.  Needs a finished
# build in build/, git, and debhelper.  fresh.sh does the packages without CUDA, on
# systems of their own.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tests/tap.sh
. "$root/tests/tap.sh"
export LC_ALL=C.UTF-8
top=$(mktemp -d)
trap 'rm -rf "$top" "$tap_log"' EXIT

# The tree may be another user's, to git.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'

# The last commit, with nothing that is built.
make_release() {
  meson dist -C "$root/build" --no-tests --allow-dirty --formats gztar &&
    mv "$root"/build/meson-dist/gst-tfx-*.tar.gz "$top/release.tar.gz" &&
    tar -x -z -f "$top/release.tar.gz" -C "$top" && cd "$top"/gst-tfx-* &&
    [ -x examples/demo.sh ] && [ ! -e build ] && [ ! -e .git ]
}

# With the CUDA backend where GStreamer's library for it is, or its headers.
build_packages() {
  local profiles='' package
  export PKG_CONFIG_PATH=$root/build-deps/cuda
  pkg-config gstreamer-cuda-1.0 || profiles+=,pkg.gst-tfx.nocuda
  pkg-config gtk4 || profiles+=,pkg.gst-tfx.noeq
  profiles=${profiles#,}
  echo "profiles: $profiles"
  cd "$top"/gst-tfx-* &&
    DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" \
      dpkg-buildpackage -b -d -us -uc ${profiles:+-P"$profiles"} || return
  for package in ../*.deb; do dpkg-deb -x "$package" "$top/installed" || return; done
}

# Tests of the filter core, built by what the packages were.
check_core() {
  cd "$top"/gst-tfx-*/obj-* && meson configure -Dtests=enabled &&
    meson test --timeout-multiplier 10 example design lang plan
}

# What is in the packages is enough, and filters on the CPU where there is no driver.
check_use() {
  local plugins
  plugins=$(dirname "$(find "$top/installed" -name libgsttfx.so)")
  export GST_PLUGIN_PATH=$plugins GST_REGISTRY=$top/registry CUDA_VISIBLE_DEVICES='' \
    PATH=$top/installed/usr/bin:$PATH
  cd "$top" && gst-launch-1.0 -q audiotestsrc num-buffers=9 ! wavenc ! \
    filesink location=tone.wav &&
    gst-inspect-1.0 tfxchain | tee inspected && grep -q "Filename *$plugins" inspected &&
    grep -q 'gst-tfx (Debian)' inspected &&
    gst-tfx process tone.wav low.flac 'LoButterworth(100)' && [ -s low.flac ] &&
    gst-tfx devices | tee devices && grep -q '^cpu   runs it' devices &&
    grep -q '^cuda  does not run it' devices &&
    zcat "$top"/installed/usr/share/man/man1/gst-tfx.1.gz | grep -q 'gst-tfx process'
}

# The packages have whole pages under the names that links and the manual have.
check_pages() {
  local doc=$top/installed/usr/share/doc/gst-tfx page pages
  python3 "$root/tests/pages.py" --links "$doc" || return
  pages=$(zcat "$top"/installed/usr/share/man/man1/gst-tfx.1.gz |
    grep -o '/usr/share/doc/[A-Za-z0-9_./-]*[a-z]') && echo "$pages" || return
  for page in $pages; do ls "$top/installed$page" || return; done
  [ ! -e "$doc/docs/dev" ]
}

# A program that is compiled with what is in the packages.
check_library() {
  local libraries
  libraries=$(dirname "$(find "$top/installed" -name libtfx.so.0)")
  dpkg-deb -f "$top"/libtfx-dev_*.deb Depends | grep 'libtfx0 (= ' &&
    dpkg-deb -f "$top"/libtfx0_*.deb Depends | tee depends && ! grep gst depends &&
    dpkg-deb -I "$top"/libtfx0_*.deb shlibs | grep '^libtfx 0 libtfx0' || return
  # shellcheck disable=SC2046 # one word for each flag
  PKG_CONFIG_SYSROOT_DIR=$top/installed PKG_CONFIG_PATH=$libraries/pkgconfig \
    PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 \
    sh -c 'cc "$1" -o tfx-filter $(pkg-config --cflags --libs tfx)' - \
    "$root/examples/tfx-filter.c" &&
    head -c 32000 /dev/zero | LD_LIBRARY_PATH=$libraries ./tfx-filter 48000 2 'Limiter(-1)' |
    cmp - <(head -c 32000 /dev/zero)
}

# It alone needs libsoup.
check_server() {
  dpkg-deb -f "$top"/gst-tfx-serve_*.deb Depends | grep 'gst-tfx (= .*libsoup-3.0-0' &&
    dpkg-deb -f "$top"/gst-tfx_*.deb Depends | tee depends && ! grep soup depends &&
    dpkg-deb -c "$top"/gst-tfx-serve_*.deb | tee files &&
    grep 'lib/systemd/user/gst-tfx-serve.service' files &&
    grep 'lib/systemd/system/gst-tfx-serve.service' files &&
    gst-tfx serve --help | grep '^  gst-tfx serve' && ! gst-tfx serve 'Gian(1)'
}

check_equaliser() {
  ldd "$top/installed/usr/bin/tfx-eq" | grep gtk-4 &&
    dpkg-deb -f "$top"/tfx-eq_*.deb Depends | grep 'gstreamer1.0-plugins-good.*libgtk-4-1'
}

# Nobody gets a package whose maintainers cannot be written to.
check_addresses() {
  local file
  for file in debian/control debian/changelog debian/copyright; do
    grep -E '<[^@ ]+@[^@ >]+\.[^@ >]+>' "$root/$file" || { echo "$file" && return 1; }
  done | sed -E 's/.*(<[^>]*>).*/\1/' | sort -u > "$top/addresses"
  cat "$top/addresses"
  [ "$(wc -l < "$top/addresses")" -eq 1 ]
}

tap_case "one address in all of debian/" check_addresses
if ! git -C "$root" rev-parse HEAD > /dev/null 2>&1; then
  tap_skip "a release" "this tree is no clone"
elif ! command -v dh > /dev/null; then
  tap_skip "packages" "there is no debhelper"
else
  tap_case "meson dist: a release" make_release
  tap_case "packages of the release" build_packages
  tap_case "the filter core of the release" check_core
  tap_case "the packages, without a driver" check_use
  tap_case "the packages' pages and manual" check_pages
  tap_case "the packages of the library" check_library
  tap_case "the package of the server" check_server
  if pkg-config gtk4; then
    tap_case "the package of the equaliser" check_equaliser
  else
    tap_skip "the package of the equaliser" "there is no GTK 4"
  fi
fi
tap_end
