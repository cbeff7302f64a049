#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck disable=SC2317 # functions are called by name
# library.sh: libtfx where it is installed, as TAP: its ABI, its headers, and a program
# outside of the tree that pkg-config compiles.
#
#   library.sh BUILD
set -u
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
build=$1
here=$(cd "$(dirname "$0")" && pwd)
export LC_ALL=C.UTF-8
top=$(mktemp -d)
trap 'rm -rf "$top" "$tap_log"' EXIT

install_library() {
  meson install -C "$build" --no-rebuild --quiet --tags devel,runtime --destdir "$top" &&
    ls "$(dirname "$(find "$top" -name tfx.pc)")"/../libtfx.so.0
}

tap_case "it is installed" install_library
pc=$(find "$top" -name tfx.pc)
libraries=$(cd "$(dirname "$pc")/.." && pwd)
headers=$(dirname "$(find "$top" -name tfx.h)")
export PKG_CONFIG_PATH=$libraries/pkgconfig PKG_CONFIG_SYSROOT_DIR=$top \
  PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1

# As the list has it; and each kind of fault is found.
check_abi() {
  local bad=$top/bad
  python3 "$here/abi.py" "$headers" "$libraries/libtfx.so.0" || return
  mkdir "$bad" && cp "$headers"/tfx*.h "$bad" &&
    sed -i -e '/^void tfx_expr_free /d' -e 's/^int tfx_expr_check (/int tfx_expr_test (/' \
      -e 's/unsigned line, column;/unsigned line;/' \
      -e 's/^\(int tfx_expr_find (.*const char\) \*name/\1 name/' "$bad/tfx-expr.h" || return
  ! python3 "$here/abi.py" "$bad" "$libraries/libtfx.so.0" > "$bad/faults" &&
    cat "$bad/faults" && diff - <(grep : "$bad/faults") << 'END'
added: tfx_expr_test
changed: TfxExprError
changed: tfx_expr_find
exported: tfx_expr_check
exported: tfx_expr_free
not exported: tfx_expr_test
removed: tfx_expr_check
removed: tfx_expr_free
END
}

# check_headers COMPILER...: each of them alone.
check_headers() {
  local header
  for header in "$headers"/tfx*.h; do
    echo "#include <$(basename "$header")>" |
      "$@" "-I$headers" -Wall -Wextra -Werror -pedantic -fsyntax-only - || return
  done
}

# compile NAME ARGUMENT...: the example.
compile() {
  local name=$1
  shift
  # shellcheck disable=SC2046 # one word for each flag
  ${CC:-cc} -std=c11 -Wall -Wextra -Wno-unused-parameter -Werror \
    "$here/../../examples/tfx-filter.c" -o "$top/$name" $(pkg-config --cflags tfx) "$@"
}

# Low-passed noise, delayed by a limiter that does nothing, against the same in Python.
check_output() {
  python3 - "$top/$1" << 'END'
import array, math, random, subprocess, sys
random.seed (1)
x = array.array ('f', (random.uniform (-0.1, 0.1) for _ in range (2 * 5001)))
run = subprocess.run ([sys.argv[1], '48000', '2', 'LoButterworth(1000, order=2) | Limiter(-1, lookahead=0.01)'],
                      input=x.tobytes (), capture_output=True, check=True)
print (run.stderr)
assert run.stderr == b'latency: 480 frames\n'
y = array.array ('f', run.stdout)
assert len (y) == len (x)
# Bilinear transform of 1 / (s^2 + sqrt(2) s + 1).
k = math.tan (math.pi * 1000 / 48000)
norm = 1 / (1 + math.sqrt (2) * k + k * k)
b, a1, a2 = k * k * norm, 2 * (k * k - 1) * norm, (1 - math.sqrt (2) * k + k * k) * norm
for c in range (2):
    s1 = s2 = 0.0
    for n in range (c, len (x), 2):
        out = b * x[n] + s1
        s1, s2 = 2 * b * x[n] - a1 * out + s2, b * x[n] - a2 * out
        assert abs (out - y[n]) < 1e-7, (n, out, y[n])
END
}

check_shared() {
  # shellcheck disable=SC2046 # one word for each flag
  compile shared $(pkg-config --libs tfx) && readelf -d "$top/shared" | grep 'NEEDED.*libtfx\.so\.0' &&
    LD_LIBRARY_PATH=$libraries check_output shared
}

check_static() {
  # shellcheck disable=SC2046 # one word for each flag
  compile static "$libraries/libtfx.a" $(pkg-config --static --libs tfx | sed 's/-ltfx//') &&
    ! readelf -d "$top/static" | grep libtfx && check_output static
}

# Errors of a text have a place, and the program fails.
check_errors() {
  ! LD_LIBRARY_PATH=$libraries "$top/shared" 48000 2 'Gain(1) | LoButter(5)' < /dev/null \
    2> "$top/said" && cat "$top/said" && grep 'LoButterworth' "$top/said" &&
    grep '^ *^' "$top/said"
}

# The command and the code of docs/library.md: a sine gets 6 dB from its set_gain().
check_page() {
  local page=$here/../../docs/library.md
  awk '/^```c$/ { code = 1; next } /^```/ { code = 0 } code' "$page" > "$top/filter.c" &&
    cat >> "$top/filter.c" << 'END' && cd "$top" && sh -c "$(grep '^cc filter.c' "$page") -lm" &&
#include <math.h>
#include <stdio.h>
#include <string.h>
int
main (void)
{
  const char *text = "eq=ParametricEQ(1000, q=1, gain=0)";
  float samples[2 * 480], peak = 0.0f;
  TfxExprError error;
  TfxExpr *expr = tfx_expr_parse (text, strlen (text), &error);
  TfxFilter *filter = NULL;
  TfxPlan *plan = NULL;
  int ret = make_filter (expr, &filter, &plan, &error);
  for (int block = 0; ret == 0 && block < 20; block++) {
    for (int i = 0; i < 2 * 480; i++)
      samples[i] = 0.25f * (float)sin (2 * 3.14159265358979 * (i / 2) / 48);
    ret = block == 1 ? set_gain (filter, expr, 6.0) : 0;
    if (ret == 0)
      ret = filter_block (filter, plan, samples, 480);
  }
  for (int i = 0; i < 2 * 480; i++)
    peak = fmaxf (peak, fabsf (samples[i]));
  printf ("%d, %g\n", ret, peak);
  tfx_filter_lock (filter);
  tfx_plan_free (&plan);
  tfx_filter_unlock (filter);
  tfx_filter_unref (&filter);
  tfx_expr_free (&expr);
  return ret != 0 || fabs (peak - 0.25 * pow (10, 0.3)) > 1e-4;
}
END
    LD_LIBRARY_PATH=$libraries ./filter
}

# The backend looks for a driver, and reports the missing part.
check_cuda() {
  python3 - "$libraries/libtfx.so.0" << 'END'
import ctypes, sys
library = ctypes.CDLL (sys.argv[1])
why = ctypes.c_char_p ()
library.tfx_cuda_is_available.restype = ctypes.c_bool
available = library.tfx_cuda_is_available (ctypes.byref (why))
print (available, why.value)
assert available or why.value
END
}

tap_case "its ABI is that of the list" check_abi
tap_case "its headers alone, C11" check_headers "${CC:-cc}" -x c -std=c11
if command -v c++ > /dev/null; then
  tap_case "its headers alone, C++" check_headers c++ -x c++
else
  tap_skip "its headers alone, C++" "no C++ compiler"
fi
tap_case "a program with the shared library" check_shared
if [ -e "$libraries/libtfx.a" ]; then
  tap_case "a program with the static library" check_static
else
  tap_skip "a program with the static library" "it is not built"
fi
tap_case "a program reports where a text is wrong" check_errors
tap_case "docs/library.md" check_page
if [ -e "$headers/tfx-cuda.h" ]; then
  tap_case "it looks for a driver" check_cuda
else
  tap_skip "it looks for a driver" "it is built without the CUDA backend"
fi
tap_end
