#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# test_bundle.sh: what bundle.sh packs runs where there is nothing but libc and
# the common tools, on the stand-in for the driver, as TAP.  Needs a finished
# build in build/, or in the folder that is the first argument.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/tap.sh
. "$root/tests/tap.sh"
export LC_ALL=C.UTF-8
build=${1-$root/build}

top=$(mktemp -d)
trap 'rm -rf "$top" "$tap_log"' EXIT

if [ ! -e "$build/tests/cuda/libcuda.so.1" ]; then
  tap_skip "the bundle" "the build has no CUDA backend"
  tap_end
  exit 0
fi

# Packs; every library is in it, glibc is old enough, 60 MB are not exceeded.
packs() {
  "$root/tests/cuda/bundle.sh" "$top/jail/bundle" "$build" > "$top/packed" 2>&1
  local status=$?
  cat "$top/packed"
  return $status
}

# What is built where glibc is newer needs a newer one; this is no machine to make
# bundles on.
max_glibc=$(sed -n 's/^max_glibc=//p' "$root/tests/cuda/bundle.sh")
glibc=$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)
if [ "$(printf '%s\n' "$glibc" "$max_glibc" | sort -V | tail -n 1)" != \
  "$max_glibc" ] && ! packs > /dev/null &&
  grep -q "needs glibc .* $max_glibc or older" "$top/packed"; then
  tap_skip "the bundle" "glibc is $glibc here, and must not be newer than $max_glibc"
  tap_end
  exit 0
fi
rm -rf "$top/jail"
tap_case "bundle.sh packs what is needed" packs

check_refused() {
  ! "$root/tests/cuda/bundle.sh" "$top/jail/bundle" "$build" 2> "$top/refused" &&
    grep -q 'is there already' "$top/refused" &&
    ! "$root/tests/cuda/bundle.sh" "$top/other" "$top" 2> "$top/refused" &&
    grep -q 'is no build folder' "$top/refused" && [ ! -e "$top/other" ]
}
tap_case "bundle.sh refuses what cannot be" check_refused

# A system of libc, a shell and the tools that run.sh calls.
make_jail() {
  local jail=$top/jail tool library
  mkdir -p "$jail"/{usr/bin,usr/lib,tmp,dev,proc,etc} || return 1
  ln -s usr/bin "$jail/bin" && ln -s usr/lib "$jail/lib" &&
    ln -s usr/lib "$jail/lib64" || return 1
  for tool in sh env mkdir rm cat sed grep wc mktemp dirname find; do
    cp -L "$(command -v $tool)" "$jail/usr/bin/" || return 1
  done
  for library in $(ldd "$jail"/usr/bin/* | grep -o '/[^ ]*' | grep -v ':$' |
    sort -u); do
    cp -L "$library" "$jail/usr/lib/" || return 1
  done
  # The rest of libc.
  library=$(ldd "$jail/usr/bin/sh" | sed -n 's/.*libc\.so\.6 => \([^ ]*\) .*/\1/p')
  for tool in libm.so.6 libmvec.so.1 libdl.so.2 libpthread.so.0 librt.so.1 \
    libresolv.so.2; do
    cp -L "$(dirname "$library")/$tool" "$jail/usr/lib/" 2> /dev/null
  done
  echo 'root:x:0:0::/:/bin/sh' > "$jail/etc/passwd"
}
tap_case "a system without GStreamer" make_jail

# in_jail COMMAND...: where the kernel lets us; with its devices and processes.
in_jail() {
  # shellcheck disable=SC2016 # for the inner shell
  unshare -rmp --fork sh -c 'mount --rbind /dev "$0/dev" &&
    mount -t proc none "$0/proc" 2> /dev/null || mount --rbind /proc "$0/proc"
    exec chroot "$0" env -i PATH=/bin HOME=/tmp "$@"' "$top/jail" "$@"
}

check_jail() {
  in_jail find / -xdev -name 'libgst*' > "$top/found" && [ -s "$top/found" ] &&
    ! grep -v '^/bundle/' "$top/found"
}

if ! in_jail sh -c true 2> /dev/null; then
  for name in "there is none" "the tests run" "the tests run as on a T4" "a driver is missed"; do
    tap_skip "$name" "no unshare or chroot here"
  done
  tap_end
  exit 0
fi
tap_case "there is none" check_jail

# What the tests find is found elsewhere: a part of them is enough.
check_runs() {
  in_jail TFX_TEST_PART=1 sh /bundle/run.sh --standin --quick plan response \
    cuda_memory cuda_fir gst-pipelines gst-fir_files pipelines benchmark \
    > "$top/run.txt" 2>&1
  local status=$?
  cat "$top/run.txt"
  [ $status -eq 0 ] && grep -q '^ok  *cuda_memory$' "$top/run.txt" &&
    grep -q '^ok  *gst-pipelines$' "$top/run.txt" &&
    grep -q '^ok  *pipeline-six-cuda$' "$top/run.txt" &&
    tail -n 1 "$top/run.txt" | grep -q '^[1-9][0-9]* passed, 0 failed'
}
tap_case "the tests run" check_runs

# With the limits of a card that is small, which forgives nothing.
check_runs_as_t4() {
  in_jail TFX_TEST_PART=1 TFX_STANDIN_CARD=t4 sh /bundle/run.sh --standin --quick cuda_memory \
    cuda_rows cuda_fft pipelines > "$top/run.txt" 2>&1
  local status=$?
  cat "$top/run.txt"
  [ $status -eq 0 ] && grep -q '^ok  *cuda_fft$' "$top/run.txt" &&
    grep -q '^ok  *pipeline-six-cuda$' "$top/run.txt"
}
tap_case "the tests run as on a T4" check_runs_as_t4

# A driver that is there is one that the jail has not.
check_no_driver() {
  local status=0
  in_jail sh /bundle/run.sh --quick plan > "$top/run.txt" 2>&1 || status=$?
  cat "$top/run.txt"
  [ $status -eq 1 ] && grep -q 'there is no GPU to test on' "$top/run.txt"
}
if [ -e "$build/tests/bench/bench_cuda" ]; then
  tap_case "a driver is missed" check_no_driver
else
  tap_skip "a driver is missed" "the build has no benchmark"
fi
tap_end
