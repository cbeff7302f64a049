#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# archive.sh: 10,000 files by one process, 2000 by GNU parallel over two "hosts" and
# as an array job of Slurm, with workers killed in the middle, as TAP.  Needs a finished build in
# build/ (or the folder that is given), parallel, and for Slurm root.
# shellcheck disable=SC2317 # functions are called by name
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tests/tap.sh
. "$root/tests/tap.sh"
export LC_ALL=C.UTF-8
build=${1:-$root/build}
archive=$root/examples/archive
export GST_PLUGIN_PATH=$build/gst PATH=$build/gst/tools:$PATH

N=2000
top=$(mktemp -d)
export GST_REGISTRY=$top/registry.bin
daemons=()
# shellcheck disable=SC2317 # called by trap
finish() {
  if [ ${#daemons[@]} -gt 0 ]; then
    disown -a
    kill -KILL "${daemons[@]}"
  fi 2> /dev/null
  rm -rf "$top" "$tap_log"
}
trap finish EXIT
cd "$top" || exit 1

# ---- sounds ---------------------------------------------------------------------

# Of many lengths, in folders, each its own.
python3 - "$N" << 'PY'
import array, os, sys, wave
for i in range(int(sys.argv[1])):
    folder = 'sounds/%02d year' % (i % 20)
    os.makedirs(folder, exist_ok=True)
    with wave.open('%s/%04d.wav' % (folder, i // 20), 'wb') as w:
        w.setparams((1, 2, 8000, 0, 'NONE', ''))
        w.writeframes(array.array('h', [2 * (i + 1)] * (200 + i)).tobytes())
PY
echo 'Gain(0.5)' > chain.txt

# check_outputs OUT WORK: each whole, half of its input; each done once.
check_outputs() {
  python3 - "$1" << 'PY' || return
import array, sys, wave
for i in range(2000):
    name = '%02d year/%04d.wav' % (i % 20, i // 20)
    with wave.open('%s/%s' % (sys.argv[1], name)) as w:
        samples = array.array('h', w.readframes(10 ** 6))
    assert len(samples) == 200 + i, name
    assert all(abs(s - (i + 1)) <= 1 for s in samples), name
PY
  [ "$(find "$1" -type f | wc -l)" -eq $N ] &&
    [ "$(cat "$2"/*.journal | grep -c '^done')" -eq $N ] &&
    [ "$(cat "$2"/*.json | grep -c '"done"')" -ge $((N - 2)) ]
}

# kill_one OUT: a worker that is at it, as soon as something is done.
kill_one() {
  local i worker
  for i in $(seq 3000); do
    if [ "$(find "$1" -name '*.wav' 2> /dev/null | wc -l)" -gt 100 ]; then
      for worker in $(pgrep -f "^gst-tfx process .*--out $1 "); do
        kill -KILL "$worker" && echo "killed $worker" && return 0
      done
    fi
    sleep 0.1
  done
  return 1
}

# ---- one process -------------------------------------------------------------------

# 10,000 files, killed in the middle and started again.
check_one_process() {
  local first i
  mkdir one
  for i in $(seq 10000); do ln "sounds/00 year/0099.wav" "one/$i.wav" || return 1; done
  find one -name '*.wav' -print0 |
    gst-tfx process -q -0 -T - -o one-out -c 'Gain(0.5)' 2> /dev/null &
  first=$!
  for i in $(seq 3000); do
    [ "$(find one-out -name '*.wav' 2> /dev/null | wc -l)" -gt 1000 ] && break
    sleep 0.1
  done
  kill -KILL $first
  wait $first
  find one -name '*.wav' -print0 |
    gst-tfx process -q -0 -T - -o one-out -c 'Gain(0.5)' || return 1
  echo "$(find one-out -name '*.wav' | wc -l) outputs, of contents:"
  find one-out -name '*.wav' -exec md5sum {} + | cut -d' ' -f1 | sort | uniq -c
  [ "$(find one-out -type f -name '*.wav' | wc -l)" -eq 10000 ] &&
    [ "$(find one-out -name '*.wav' -exec md5sum {} + | cut -d' ' -f1 | sort -u | wc -l)" -eq 1 ] &&
    [ "$(grep -c '^done' one-out/.gst-tfx-journal)" -eq 10000 ] &&
    [ "$(grep '^done' one-out/.gst-tfx-journal | cut -f6 | sort -u | wc -l)" -eq 10000 ] &&
    ! find one-out -name '*.part' | grep .
}
tap_case "one process: 10,000 files, killed and started again" check_one_process

# ---- GNU parallel -----------------------------------------------------------------

# Another host is another shell; no SSH server is needed to see what it is given.
# As a server does, it says which shell that is.
cat > ssh << 'SSH'
#!/bin/bash
while [ "${1#-}" != "$1" ]; do shift; done
echo "$1" >> "$(dirname "$0")/hosts-used"
shift
[ "$1" != -- ] || shift
SHELL=/bin/sh exec sh -c "$*"
SSH
chmod +x ssh
printf '1/%s/ssh studio\n1/%s/ssh attic\n' "$top" "$top" > hosts

check_parallel() {
  "$archive/parallel.sh" -H hosts -n 8 sounds by-parallel chain.txt > parallel.txt 2>&1 &
  local job=$!
  kill_one "$top/by-parallel" || { cat parallel.txt && return 1; }
  wait $job || { cat parallel.txt && return 1; }
  cat parallel.txt
  sort -u hosts-used
  check_outputs by-parallel by-parallel.work &&
    [ "$(sort -u hosts-used | wc -l)" -eq 2 ] &&
    tail -n 1 parallel.txt | grep -q "^$N files, $N done, 0 not, $N outputs$"
}

# says WORDS ARGUMENT...: parallel.sh refuses, with these words.
says() {
  local words=$1
  shift
  ! "$archive/parallel.sh" "$@" > says.txt 2>&1 && cat says.txt && grep -q -F -- "$words" says.txt
}

check_refusals() {
  mkdir few other && cp "sounds/00 year/0000.wav" few/ && cp "sounds/00 year/0001.wav" other/ &&
    printf 'Gain(' > broken.txt &&
    says "cannot read the chain's file absent.txt" few refused absent.txt &&
    says "-n is 'x', but must be from 1 to 99999" -n x few refused chain.txt &&
    says "parallel.sh [-H HOSTS] [-n SHARDS] FOLDER" --help &&
    says "this '(' is not closed" -n 2 few refused broken.txt &&
    says "has the shards of $top/few, not of $top/other" -n 2 other refused chain.txt &&
    "$archive/parallel.sh" -n 2 few refused chain.txt > says.txt 2>&1 &&
    tail -n 1 says.txt | grep -q '^1 files, 1 done, 0 not, 1 outputs$' && ! grep 'not closed' says.txt
}
# Everything is done; a file that is no sound is told of.
check_again() {
  "$archive/parallel.sh" -n 8 sounds by-parallel chain.txt 2>&1 | tail -n 1 |
    grep "$N done, 0 not" || return 1
  mkdir more && cp "sounds/00 year/0000.wav" more/ && echo no > more/text.wav
  ! "$archive/parallel.sh" -n 8 more by-parallel-2 chain.txt > again.txt 2>&1
  cat again.txt
  tail -n 1 again.txt | grep -q '^2 files, 1 done, 1 not, 1 outputs$' &&
    grep -q 'text.wav.*"status": "failed"' again.txt
}

# Every folder, the chain and the scripts have names that a shell would take apart.
check_quoted() {
  local top_name="the \$1 archive's" hosts
  mkdir -p "$top_name/in it" && cp "sounds/00 year/0000.wav" "$top_name/in it/a  b.wav" &&
    cp "sounds/00 year/0001.wav" "$top_name/in it/c;d.wav" && cp chain.txt "$top_name/a chain" &&
    cp -r "$archive" "$top_name/the scripts" && rm -f hosts-used || return 1
  for hosts in "" hosts; do
    "$top_name/the scripts/parallel.sh" ${hosts:+-H "$hosts"} -n 2 "$top_name/in it" \
      "$top_name/out of it$hosts" "$top_name/a chain" 2>&1 | tee quoted.txt
    tail -n 1 quoted.txt | grep -q '^2 files, 2 done, 0 not, 2 outputs$' &&
      [ -e "$top_name/out of it$hosts/a  b.wav" ] || return 1
  done
  [ "$(sort -u hosts-used | wc -l)" -ge 1 ]
}

if command -v parallel > /dev/null; then
  tap_case "GNU parallel: what cannot be" check_refusals
  tap_case "parallel: $N files on two hosts, a worker killed" check_parallel
  tap_case "parallel: again, and a file that fails" check_again
  tap_case "parallel: names with spaces" check_quoted
else
  tap_skip "parallel: $N files" "GNU parallel is not installed"
fi

# ---- Slurm ---------------------------------------------------------------------------

# Two ports that are free, below those that connections are given.
free_ports() {
  python3 -c 'import random, socket
found = []
while len(found) < 2:
    s = socket.socket()
    try:
        s.bind(("", random.randrange(20000, 30000)))
        found.append(s)
    except OSError:
        pass
print(*(s.getsockname()[1] for s in found))'
}

# (Of its limits, ten seconds for a message and for a job to begin would be too short on
# a busy machine.)
start_slurm() {
  local host ports
  host=$(hostname -s)
  read -r -a ports <<< "$(free_ports)"
  mkdir -m 700 munge spool state
  head -c 1024 /dev/urandom > munge/key && chmod 600 munge/key
  cat > slurm.conf << CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmdPort=${ports[1]}
MessageTimeout=100
BatchStartTimeout=600
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$top/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=1
StateSaveLocation=$top/state
SlurmdSpoolDir=$top/spool
SlurmctldPidFile=$top/slurmctld.pid
SlurmdPidFile=$top/slurmd.pid
SlurmctldLogFile=$top/slurmctld.log
SlurmdLogFile=$top/slurmd.log
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
  export SLURM_CONF=$top/slurm.conf
  chmod 711 "$top"
  munged --foreground --force --key-file="$top/munge/key" --socket="$top/munge/socket" \
    --pid-file="$top/munge/pid" --log-file="$top/munge/log" --seed-file="$top/munge/seed" &
  daemons+=($!)
  wait_for test -S munge/socket || return 1
  slurmctld -D -f slurm.conf > ctld.txt 2>&1 &
  daemons+=($!)
  slurmd -D -f slurm.conf -N "$host" > slurmd.txt 2>&1 &
  daemons+=($!)
  wait_for idle
}

idle() {
  sinfo -h -o %T | grep -q -E 'idle|mixed'
}

wait_for() {
  tap_wait 300 "$@" && return 0
  cat ctld.txt slurmd.txt munge/log 2> /dev/null | tail -n 20
  return 1
}

is_summed_up() {
  grep -q outputs by-slurm.work/summary
}

check_slurm() {
  start_slurm || return 1
  "$archive/slurm.sh" -n 8 sounds by-slurm chain.txt || return 1
  kill_one "$top/by-slurm" || { squeue; cat by-slurm.work/*log; return 1; }
  wait_for is_summed_up || { squeue; return 1; }
  cat by-slurm.work/summary
  check_outputs by-slurm by-slurm.work &&
    tail -n 1 by-slurm.work/summary | grep -q "^$N files, $N done, 0 not, $N outputs$"
}

if [ "$(id -u)" -ne 0 ]; then
  tap_skip "Slurm: $N files" "its daemons want root"
elif command -v slurmctld slurmd sbatch munged > /dev/null; then
  tap_case "Slurm: an array job over $N files, a worker killed" check_slurm
else
  tap_skip "Slurm: $N files" "Slurm is not installed"
fi

tap_end
