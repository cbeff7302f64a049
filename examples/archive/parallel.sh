#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# parallel.sh: an archive through a chain, on the hosts that GNU parallel is told
# of.
#
#   parallel.sh [-H HOSTS] [-n SHARDS] FOLDER OUT CHAIN-FILE [WORK]
#   parallel.sh [-H HOSTS] [-n SHARDS] -b BASE LIST OUT CHAIN-FILE [WORK]
#
# HOSTS is a file with a host in each line, as parallel's --sshloginfile has it
# ("8/studio" for eight shards at once); without it this machine's cores are used.
# All hosts see the same folders, and have gst-tfx.  The same command goes on where
# it was interrupted.
set -u
usage() {
  sed -n '3,13s/^# \{0,1\}//p' "$0" >&2
  exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
hosts=() n=256 base=''
while getopts H:n:b: option; do
  case $option in
    H) hosts=(--sshloginfile "$OPTARG") ;;
    n) n=$OPTARG ;;
    b) base=$OPTARG ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))
[ $# -ge 3 ] || usage
input=$(realpath "$1") chain=$(realpath "$3")
[ -r "$chain" ] || { echo "error: cannot read the chain's file $3" >&2 && exit 1; }
mkdir -p "$2" && out=$(realpath "$2") || exit 1
work=$(realpath -m "${4-$out.work}")
base=$(realpath "${base:-$input}")

"$here/shards.sh" make "$input" "$n" "$work" || exit 1
# A host that is lost gives its shards to others.  (-q: shells are given names with spaces.)
parallel -q --env GST_PLUGIN_PATH --env GST_REGISTRY --env PATH --retries 3 \
  --joblog "$work/joblog" "${hosts[@]}" \
  "$here/shards.sh" run {} "$base" "$out" "$chain" "$work" ::: "$work"/shards/*
"$here/shards.sh" summary "$work" "$out"
