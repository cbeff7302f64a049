#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# sources.sh: checks how the sources look, as TAP.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=tests/tap.sh
. tests/tap.sh

# Prints the paths of the files with these names; spaces in none of them.
sources() {
  local name expression=()
  for name in "$@"; do expression+=(-o -name "$name"); done
  find dsp gst cuda tests examples docs \( -false "${expression[@]}" \) \
    -type f 2> /dev/null | sort
}

# Other versions of it format otherwise.
find_clang_format() {
  local program
  for program in clang-format-14 clang-format; do
    if "$program" --version 2> /dev/null | grep -q 'version 14\.'; then
      echo "$program"
      return 0
    fi
  done
  echo "no clang-format of version 14"
  return 1
}

check_format() {
  local program
  program=$(find_clang_format) || { echo "$program" && return 1; }
  # shellcheck disable=SC2046 # one word for each file
  "$program" --dry-run --Werror -ferror-limit=1 $(sources '*.c' '*.h')
}

# shellcheck disable=SC2046 # one word for each file
check_licence() {
  awk 'FNR == 1 { files[FILENAME] }
    FNR <= 3 && /SPDX-License-Identifier: LGPL-2.1-or-later/ { delete files[FILENAME] }
    END { for (file in files) {
        print file ": no SPDX-License-Identifier in its first lines"; bad = 1 }
      exit bad }' meson.build $(sources '*.[ch]' '*.sh' '*.py' '*.gp' meson.build)
}

# shellcheck disable=SC2046 # one word for each file
check_whitespace() {
  ! grep -n -E '[[:space:]]+$|'$'\t' /dev/null $(sources '*.[ch]' '*.sh' '*.py' \
    '*.gp' '*.md' meson.build) README.md NEWS CONTRIBUTING.md
}

# check_header HEADER COMPILER...: it compiles with nothing before it.
check_header() {
  local header=$1
  shift
  echo "#include \"$header\"" | "$@" -Wall -Wextra -Werror -fsyntax-only -
}

# Where changes are accepted it must be there.
if [ -n "${TFX_TEST_FORMAT-}" ] || find_clang_format > /dev/null; then
  tap_case "clang-format" check_format
else
  tap_skip "clang-format" "$(find_clang_format)"
fi
tap_case "SPDX headers" check_licence
tap_case "no tabs, no spaces at the end of a line" check_whitespace

tap_case "house.py finds circles" python3 tests/test_house.py
tap_case "no files need each other" python3 tests/house.py

# Blocks that are wrong, a line each: fence, then what is in it.
check_pages_finds() {
  local page bad=0
  page=$(mktemp)
  while IFS='|' read -r fence line; do
    printf '```%s\n%s\n```\n' "$fence" "$line" > "$page"
    ! python3 tests/pages.py --check "$page" ||
      { echo "not found: $fence, $line" && bad=1; }
  done << 'END'
|gst-tfx list
text|gst-launch-1.0 fakesrc ! fakesink
sh needs=|gst-tfx list
sh run-by=tests/run.sh|gst-tfx list
sh run-by=tests/none.sh|gst-tfx list
console|$ gst-tfx list
sh|$ gst-tfx list
END
  printf '```sh\ngst-tfx list\n```\n' > "$page"
  python3 tests/pages.py --check "$page" || bad=1
  rm "$page"
  return $bad
}
tap_case "pages.py finds blocks that no test runs" check_pages_finds

# The pages of a small tree: a link that is good, then those that lead nowhere.
check_links_finds() {
  local tree link bad=0
  tree=$(mktemp -d)
  mkdir -p "$tree/tests" "$tree/docs/dev" "$tree/examples" && cp tests/pages.py "$tree/tests/" &&
    touch "$tree/NEWS" "$tree/examples/one.c" "$tree/CONTRIBUTING.md" "$tree/examples/README.md" &&
    printf '# Two of `a_b`, and more\n\n## Same\n\n## Same\n' > "$tree/docs/other.md" &&
    cp "$tree/docs/other.md" "$tree/docs/dev/inner.md" || return
  for link in NEWS docs/other.md docs/other.md#two-of-a_b-and-more docs/other.md#same-1 \
    docs/dev/inner.md#same examples/one.c https://example.org/none; do
    echo "[a]($link)"
  done > "$tree/README.md"
  for link in ../NEWS other.md other.md#same '#here'; do echo "[a]($link)"; done > "$tree/links"
  { printf '# Here\n\n`[a](none.md)`\n' && cat "$tree/links"; } > "$tree/docs/page.md"
  (cd "$tree" && python3 tests/pages.py --check) && python3 tests/pages.py --links "$tree" || bad=1
  for link in none.md other.md#none other.md#same-2 '#there' dev/inner.md ../examples/one.c ../README.md; do
    echo "[a]($link)" > "$tree/docs/page.md"
    ! (cd "$tree" && python3 tests/pages.py --check) ||
      { echo "not found: $link" && bad=1; }
    ! python3 tests/pages.py --links "$tree" || { echo "not found where installed: $link" && bad=1; }
  done
  rm -r "$tree"
  return $bad
}
tap_case "pages.py finds links that lead nowhere" check_links_finds
tap_case "the pages' commands are run by a test, or say why not, and links resolve" \
  python3 tests/pages.py --check

for header in dsp/tfx.h dsp/lang/expr.h cuda/tfx-cuda.h; do
  tap_case "$header alone, C11" check_header "$header" cc -x c -std=c11 -pedantic -Idsp
  if command -v c++ > /dev/null; then
    tap_case "$header alone, C++" check_header "$header" c++ -x c++ -pedantic -Idsp
  else
    tap_skip "$header alone, C++" "no C++ compiler"
  fi
done
# Each by itself, as many at a time as there are processors.
logs=$(mktemp -d)
trap 'rm -rf "$logs" "$tap_log"' EXIT
mapfile -t headers < <(sources '*.h' | grep -E '^dsp/(design|core|kinds)/|^cuda/[^/]*$|^gst/' |
  grep -v -x -e dsp/tfx.h -e cuda/tfx-cuda.h)
n_jobs=$(nproc)
for i in "${!headers[@]}"; do
  # shellcheck disable=SC2046 # one word for each flag
  check_header "${headers[i]}" cc -x c -std=gnu11 \
    -D_GNU_SOURCE -I. -Idsp -Icuda $(printf -- '-I%s ' gst/*/) -Wno-unused-parameter \
    -Wno-missing-field-initializers \
    $(pkg-config --cflags gstreamer-audio-1.0) > "$logs/$i" 2>&1 &&
    : > "$logs/$i.good" &
  [ $(((i + 1) % n_jobs)) -ne 0 ] || wait
done
wait
has_compiled() {
  cat "$logs/$1"
  [ -e "$logs/$1.good" ]
}
for i in "${!headers[@]}"; do
  tap_case "${headers[i]} alone" has_compiled "$i"
done
tap_end
