#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# bundle.sh: the plugin and its tests in one folder, for a machine with a GPU
# where nothing can be installed.
set -eu -o pipefail

usage="Usage: tests/cuda/bundle.sh OUT [BUILD]

Packs the plugin, the tests, the GPU's benchmark and the GStreamer libraries
that they need out of BUILD (build/ if it is not given), which must be finished,
into the new folder OUT.  What is in it runs on any x86-64 Linux of glibc 2.36
or newer with an NVIDIA driver:

  OUT/run.sh            all of it; --help tells the rest
  OUT/run.sh --standin  without a GPU, on the stand-in for the driver

Kernels are in it as machine code if the build had nvcc; otherwise the machine
needs NVRTC."

max_bytes=$((60 * 1024 * 1024))
max_glibc=2.36

case ${1-} in
  -h | --help) echo "$usage" && exit 0 ;;
esac
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  echo "$usage" >&2
  exit 2
fi

fail() {
  echo "error: $*" >&2
  exit 1
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=$1
build=${2-$root/build}
# shellcheck source=tests/setup/deps.sh
. "$root/tests/setup/deps.sh"
export LC_ALL=C.UTF-8

[ ! -e "$out" ] || fail "$out is there already"
[ -e "$build/build.ninja" ] || fail "$build is no build folder"
[ -e "$build/tests/cuda/libcuda.so.1" ] ||
  fail "$build has no CUDA backend, or is not finished"
build=$(cd "$build" && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
mkdir "$out"/{bin,data,gstreamer,hidden,lib,plugins,presets,standin,tests}

# ---- what is packed ----------------------------------------------------------

# The tests as the build knows them: a line
#   NAME|SUITES|PROGRAM|VARIABLE=VALUE ...|ARGUMENT ...
# for each program of ours that wants nothing else of the build.  "standin" is a
# suite of those that cannot do without it.
list_tests() {
  meson introspect --tests "$build" | python3 -c '
import json, pathlib, sys
build = pathlib.Path (sys.argv[1])
# Most is the same on every machine, and these programs are large: of the core
# what runs kernels of the processor, of the rest what is not about texts or the
# stand-in itself.
CORE = {"test_fidelity", "test_kernels"}
ELSEWHERE = {
    "test_buffers", "test_changes", "test_filters", "test_stream", "test_values",
    "test_chain_channels", "test_chain_changes", "test_chain_children", "test_chain_file", "test_chain_impulses",
    "test_chain_memory",
    "test_chain_presets", "test_chain_sound", "test_chain_text", "test_class_curves", "test_cuda_channels", "test_cuda_classes",
    "test_cuda_cost", "test_cuda_faults", "test_cuda_flight", "test_cuda_hangs", "test_cuda_links",
    "test_cuda_memory_faults", "test_cuda_missing", "test_cuda_overlap", "test_cuda_ramps", "test_cuda_residents", "test_cuda_standin", "test_cuda_traps", "test_cuda_waits",
    "test_keys", "test_presets", "test_response", "test_silence", "test_sofa", "test_threads", "test_times"}
# What run.sh sets, or nobody needs.
OWN = {"LD_LIBRARY_PATH", "GST_PLUGIN_PATH_1_0", "GST_PLUGIN_SYSTEM_PATH_1_0",
       "GST_PRESET_PATH", "GST_REGISTRY", "XDG_CACHE_HOME", "ASAN_OPTIONS"}
for test in json.load (sys.stdin):
    program = pathlib.Path (test["cmd"][0])
    if not program.is_relative_to (build / "tests"):
        continue
    if program.name in ELSEWHERE:
        continue
    if program.parent.name == "dsp" and program.name not in CORE:
        continue
    suites = [suite.split (":")[-1] for suite in test["suite"]]
    env = {k: v for k, v in test["env"].items () if k not in OWN}
    drivers = [folder for folder in test["env"].get ("LD_LIBRARY_PATH", "").split (":")
               if (pathlib.Path (folder) / "libcuda.so.1").exists ()]
    # The CPU alone: a driver that the machine has is hidden.
    if drivers == [str (build / "tests" / "gst")]:
        suites += ["hidden"]
        drivers = []
    # Another driver than the stand-in, or what lies elsewhere.
    if any (pathlib.Path (folder) != build / "tests" / "cuda" for folder in drivers):
        continue
    if any (text in v for v in env.values () for text in (str (build), " ", "|")):
        continue
    if any ("/" in argument for argument in test["cmd"][1:]):
        continue
    if any (k.startswith ("TFX_STANDIN") for k in env) or "faults" in test["name"]:
        suites += ["standin"] if "cuda" in suites else []
    print ("|".join ([test["name"], " ".join (suites),
                      str (program.relative_to (build / "tests")),
                      " ".join (f"{k}={v}" for k, v in env.items () if v),
                      " ".join (test["cmd"][1:])]))
' "$build"
}

# The plugins that the tests load by name.
list_plugins() {
  sed -n '/names\[\] = {/,/};/p' "$root/tests/gst/tfxcheck.c" |
    grep -o '"[a-z0-9]*"' | tr -d '"'
}

# pack FOLDER FILE...: without symbols that nobody looks up.
pack() {
  local folder=$1 file
  shift
  mkdir -p "$folder"
  for file in "$@"; do
    cp -L "$file" "$folder/"
    # Scripts have none.
    strip --strip-unneeded "$folder/$(basename "$file")" 2> /dev/null || true
  done
}

list_tests > "$out/tests.txt"
while IFS='|' read -r _ _ program _; do
  [ -e "$build/tests/$program" ] || fail "$build is not finished: no $program"
  [ -e "$out/tests/$program" ] ||
    pack "$out/tests/$(dirname "$program")" "$build/tests/$program"
done < "$out/tests.txt"
[ -s "$out/tests.txt" ] || fail "$build has no tests"

pack "$out/plugins" "$build/gst/libgsttfx.so"
pack "$out/lib" "$build/tests/cuda/images/libtfxkernels.so"
# A file that is no library, in a driver's place.
cp "$build/tests/gst/libcuda.so.1" "$out/hidden/"
pack "$out/standin" "$build/tests/cuda/libcuda.so.1" \
  "$build/tests/cuda/nvrtc/libnvrtc.so.13"
plugins_dir=$(pkg-config --variable=pluginsdir gstreamer-1.0)
for name in $(list_plugins); do
  pack "$out/gstreamer" "$plugins_dir/libgst$name.so"
done
for tool in gst-launch-1.0 gst-inspect-1.0; do
  pack "$out/bin" "$(command -v $tool)"
done
if [ -e "$build/tests/bench/bench_cuda" ]; then
  pack "$out/bin" "$build/tests/bench/bench_cuda"
  cp "$root/tests/bench/torchfx_peer.py" "$out/bin/"
fi
cp "$root"/gst/presets/*.prs "$out/presets/"
# What test_fidelity compares with.
cp "$root/tests/golden/sections.txt" "$out/data/"
cp "$root/tests/cuda/bundle-run.sh" "$out/run.sh"
cp "$root/COPYING" "$out/"

# ---- the libraries -------------------------------------------------------------

packed_programs() {
  find "$out" -type f \( -name '*.so*' -o -perm -u+x \) ! -name '*.sh' ! -name '*.py' \
    ! -path '*/hidden/*'
}

# libc and what comes with it, and the driver, are the machine's own.
is_own() {
  case $1 in
    ld-linux* | libc.so.* | libm.so.* | libmvec.so.* | libdl.so.* | \
      libpthread.so.* | librt.so.* | libresolv.so.* | libutil.so.* | \
      libanl.so.* | libnsl.so.1 | libnss_* | libcuda.so.* | linux-vdso*) true ;;
    *) false ;;
  esac
}

# pack_libraries FILE...: those that the files need, however deep.
pack_libraries() {
  local name arrow path
  ldd "$@" | while read -r name arrow path _; do
    [ "$arrow" = '=>' ] || continue
    if is_own "$name" || [ -e "$out/lib/$name" ]; then continue; fi
    [ "$path" != not ] || fail "$name is not found"
    pack "$out/lib" "$path"
    # By the name that it is asked for.
    [ -e "$out/lib/$name" ] || mv "$out/lib/$(basename "$path")" "$out/lib/$name"
  done
}
packed_programs | while read -r file; do pack_libraries "$file"; done
# Opened by name, not linked.
if grep -q -a 'libgstcuda-1\.0\.so\.0' "$out/plugins/libgsttfx.so"; then
  library=$(pkg-config --variable=libdir gstreamer-cuda-1.0 2> /dev/null || true)
  library=${library:-$(dirname "$plugins_dir")}/libgstcuda-1.0.so.0
  [ ! -e "$library" ] || [ -e "$out/lib/libgstcuda-1.0.so.0" ] || {
    pack "$out/lib" "$library"
    pack_libraries "$library"
  }
fi

# ---- what it must be ------------------------------------------------------------

# A library that the folder lacks would be the system's, or none.
check_complete() {
  local file found name arrow path
  packed_programs | while read -r file; do
    found=$(LD_LIBRARY_PATH="$out/lib:$out/standin" ldd "$file")
    while read -r name arrow path _; do
      [ "$arrow" = '=>' ] || continue
      is_own "$name" && continue
      case $path in
        "$out"/*) ;;
        *) fail "$file: $name would be $path" ;;
      esac
    done <<< "$found"
  done
}
check_complete

newest=$(packed_programs | xargs objdump -p 2> /dev/null |
  grep -o 'GLIBC_2\.[0-9.]*' | sed 's/GLIBC_//' | sort -V | tail -n 1)
[ "$(printf '%s\n' "$newest" $max_glibc | sort -V | tail -n 1)" = $max_glibc ] ||
  fail "it needs glibc $newest; build it where glibc is $max_glibc or older"

bytes=$(du -s --apparent-size -B1 "$out" | cut -f 1)
[ "$bytes" -le $max_bytes ] ||
  fail "$out has $bytes bytes; it must not have more than $max_bytes"

if [ -z "$(find "$build/cuda" -maxdepth 1 -name '*.image' 2> /dev/null)" ]; then
  echo "note: this build has no compiled kernels; the machine needs NVRTC" >&2
fi
echo "$out: $((bytes / 1024 / 1024)) MB, $(wc -l < "$out/tests.txt") test" \
  "programs, glibc $newest"
