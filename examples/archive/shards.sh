#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# shards.sh: the parts that parallel.sh and slurm.sh are made of.  An archive is
# cut into shards of about the same size in bytes; a shard is filtered by one
# gst-tfx, which goes on where another one was killed.
#
#   shards.sh make FOLDER|LIST N WORK     N lists of names in WORK/shards
#   shards.sh run SHARD BASE OUT CHAIN-FILE WORK
#   shards.sh summary WORK OUT            what is done, and what is not
#
# A list has a name in each line, or behind each a NUL.  WORK is for lists, journals
# and logs; on a cluster it, OUT and the archive are on a file system that all hosts
# see.
set -u -o pipefail
TRIES=${TFX_ARCHIVE_TRIES:-3}

# Sizes and names of what there is, largest first.
list_files() {
  if [ -d "$1" ]; then
    find -L "$1" -type f ! -name '.*' -printf '%s\t%p\0'
  else
    tr '\n' '\0' < "$1" | xargs -0 -r stat -L --printf '%s\t%n\0'
  fi | sort -z -n -r
}

# Each file goes to the shard that has least.
make_shards() {
  local input=$1 n=$2 work=$3 old
  [[ $n =~ ^[1-9][0-9]{0,4}$ ]] ||
    { echo "error: -n is '$n', but must be from 1 to 99999" >&2 && return 1; }
  mkdir -p "$work/shards" || return
  # Another cut would give a file to two journals.
  if [ -e "$work/list" ]; then
    old=$(cat "$work/input" 2> /dev/null) || old=$input
    if [ "$old" != "$input" ]; then
      echo "error: $work has the shards of $old, not of $input; name another WORK" >&2
      return 1
    fi
    echo "$work has its shards already: they are gone on with" >&2
    return 0
  fi
  list_files "$input" > "$work/list.new" || return
  [ -s "$work/list.new" ] || { echo "error: no files in $input" >&2 && return 1; }
  python3 - "$n" "$work" << 'PY' || return
import heapq, sys
n, work = int(sys.argv[1]), sys.argv[2]
files = open(work + '/list.new', 'rb').read().split(b'\0')[:-1]
n = min(n, len(files))
shards = [open('%s/shards/%05d' % (work, i + 1), 'wb') for i in range(n)]
sizes = [(0, i) for i in range(n)]
for line in files:
    size, name = line.split(b'\t', 1)
    total, i = heapq.heappop(sizes)
    shards[i].write(name + b'\0')
    heapq.heappush(sizes, (total + int(size) + 65536, i))
PY
  echo "$input" > "$work/input" && mv "$work/list.new" "$work/list"
}

# A shard to its end.  A file that fails is told of in the summary; a program that
# was killed is started again.
run_shard() {
  local shard=$1 base=$2 out=$3 chain=$4 work=$5 name status try size
  name=$(basename "$shard")
  rm -f "$work/$name.refused"
  size=$(stat --printf %s "$work/$name.log" 2> /dev/null) || size=0
  for ((try = 1; try <= TRIES; try++)); do
    gst-tfx process --json --jobs "${TFX_ARCHIVE_JOBS:-1}" --base "$base" \
      --out "$out" --journal "$work/$name.journal" --chain-file "$chain" \
      --null --files-from "$shard" >> "$work/$name.json" 2>> "$work/$name.log"
    status=$?
    # What is wrong with the chain is wrong with it for each file.
    [ $status -ne 2 ] || tail -c "+$((size + 1))" "$work/$name.log" > "$work/$name.refused"
    [ $status -gt 2 ] || return $((status == 1 ? 0 : status))
    echo "shard $name ended with status $status" >> "$work/$name.log"
  done
  return "$status"
}

# One line for each file that has no output, or why there is none at all, then the counts.
summarise() {
  local work=$1 out=$2 n n_done n_parts
  n=$(tr -c -d '\0' < "$work/list" | wc -c)
  n_done=$(cat "$work"/*.journal 2> /dev/null | grep -a '^done' | cut -f5 | sort -u | wc -l)
  # Unfinished files of programs that were killed.
  find "$out" -name '.*.part' -delete
  n_parts=$(find "$out" -type f ! -name '.*' | wc -l)
  cat "$work"/*.json 2> /dev/null | grep -a '"status": "failed"' | sort -u
  find "$work" -name '*.refused' -print0 | sort -z | head -z -n 1 | xargs -0 -r cat
  echo "$n files, $n_done done, $((n - n_done)) not, $n_parts outputs"
  [ "$n" -eq "$n_done" ]
}

case ${1-} in
  make) shift && make_shards "$@" ;;
  run) shift && run_shard "$@" ;;
  summary) shift && summarise "$@" ;;
  *) sed -n '3,14s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
