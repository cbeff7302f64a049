#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# slurm.sh: an archive through a chain, as an array of jobs of Slurm.
#
#   slurm.sh [-n SHARDS] [-s OPTION]… FOLDER OUT CHAIN-FILE [WORK]
#   slurm.sh [-n SHARDS] [-s OPTION]… -b BASE LIST OUT CHAIN-FILE [WORK]
#
# OPTION goes to sbatch (-s --partition=audio).  The jobs take a core each; one more
# job writes WORK/summary when all of them have ended.  The same command goes on
# where it was interrupted.  It prints the number of that last job.
set -u
usage() {
  sed -n '3,11s/^# \{0,1\}//p' "$0" >&2
  exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
n=256 base='' options=()
while getopts n:s:b: option; do
  case $option in
    n) n=$OPTARG ;;
    s) options+=("$OPTARG") ;;
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
n=$(find "$work/shards" -type f | wc -l)
printf -v command '%q ' "$here/shards.sh" run
printf -v rest '%q ' "$base" "$out" "$chain" "$work"
printf -v shards '%q/shards/' "$work"
array=$(sbatch --parsable "${options[@]}" --array="1-$n" --job-name=gst-tfx \
  --cpus-per-task=1 --requeue --output="$work/slurm-%a.log" --wrap \
  "$command$shards\$(printf %05d \"\$SLURM_ARRAY_TASK_ID\") $rest") || exit 1
printf -v command '%q ' "$here/shards.sh" summary "$work" "$out"
sbatch --parsable "${options[@]}" --dependency="afterany:$array" \
  --job-name=gst-tfx-summary --output="$work/summary" --wrap "$command"
