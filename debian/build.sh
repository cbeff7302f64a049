#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# build.sh: builds the Debian packages of this tree.
set -eu

usage="Usage: debian/build.sh [--cuda] [--eq] [--check] [--out FOLDER]

Builds the packages gst-tfx (the program), gst-tfx-serve (its server), gstreamer1.0-tfx
(the plugin), libtfx0 and libtfx-dev (the library for programs in C) from a copy of this
source tree, and puts them into debs/.  It installs missing build dependencies with
apt-get, with sudo if needed.

--cuda        build the plugin's CUDA backend (the default if this machine has an NVIDIA driver)
--eq          build the package tfx-eq as well, an equaliser with a window (GTK 4)
--check       run the tests
--out FOLDER  put the packages into FOLDER"

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tests/setup/deps.sh
. "$root/tests/setup/deps.sh"

cuda=false eq=false check=false out=$root/debs
if deps_has_driver; then cuda=true; fi
while [ $# -gt 0 ]; do
  case $1 in
    --cuda) cuda=true ;;
    --eq) eq=true ;;
    --check) check=true ;;
    --out) out=${2:?"$usage"} && shift ;;
    -h | --help) echo "$usage" && exit 0 ;;
    *) echo "error: unknown argument: $1" >&2 && echo "$usage" >&2 && exit 2 ;;
  esac
  shift
done

profiles='' options="noautodbgsym parallel=$(nproc)"
$cuda || profiles+=,pkg.gst-tfx.nocuda
$eq || profiles+=,pkg.gst-tfx.noeq
if ! $check; then
  profiles+=,nocheck
  options+=' nocheck'
fi
profiles=${profiles#,}

# Fails early, before minutes of compiling.
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Without what was built here.
mkdir "$work/gst-tfx"
tar -C "$root" -c --exclude-vcs --exclude='./build*' --exclude=./debs --exclude=./out \
  --exclude=__pycache__ . | tar -C "$work/gst-tfx" -x
cd "$work/gst-tfx"

# shellcheck disable=SC2086 # one word for each package
deps_require "to build packages" $DEPS_PACKAGES
if ! dpkg-checkbuilddeps ${profiles:+-P"$profiles"}; then
  deps_update
  # apt-get reads debian/control as another user.
  chmod -R go+rX "$work"
  deps_apt_get build-dep -y --no-install-recommends ${profiles:+-P "$profiles"} ./
fi

DEB_BUILD_OPTIONS=$options dpkg-buildpackage -b -us -uc ${profiles:+-P"$profiles"}

rm -f "$out"/{gst-tfx,gst-tfx-serve,gstreamer1.0-tfx,libtfx0,libtfx-dev,tfx-eq}_*.deb
cp "$work"/*.deb "$out"
echo
echo "Packages:"
ls "$out"/*.deb
