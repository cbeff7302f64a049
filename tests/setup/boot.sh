#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# boot.sh FOLDER COMMANDS: boots the Debian system in FOLDER, with systemd as its process 1
# and without a network, runs COMMANDS in it as root, shows what they print, and shuts it
# down.  The exit status is that of COMMANDS.  It takes root, and systemd in the system.
set -eu
system=$1
if [ -z "${BOOT_MOUNTS-}" ]; then
  status=0
  BOOT_MOUNTS=own unshare --mount --pid --fork --kill-child --uts --ipc --net --cgroup \
    bash "$0" "$@" || status=$?
  cat "$system/root/commands.log"
  exit $status
fi

# The commands are a service, which ends the system.
cat > "$system/etc/systemd/system/commands.service" << 'UNIT'
[Unit]
Wants=multi-user.target
After=multi-user.target

[Service]
Type=oneshot
ExecStart=/bin/bash -e -x /root/commands
StandardOutput=append:/root/commands.log
StandardError=append:/root/commands.log
ExecStopPost=/bin/sh -c 'systemctl exit "$EXIT_STATUS"'
TimeoutStartSec=300
UNIT
printf '%s\n' "$2" > "$system/root/commands"
: > "$system/root/commands.log"
mount --bind "$system" "$system"
mount -t proc proc "$system/proc"
mount -t sysfs -o ro sysfs "$system/sys"
mount -t cgroup2 cgroup2 "$system/sys/fs/cgroup"
mount -t tmpfs tmpfs "$system/run"
mount -t tmpfs tmpfs "$system/dev"
mkdir "$system/dev/shm"
ln -s /proc/self/fd "$system/dev/fd"
for device in null zero full random urandom; do
  touch "$system/dev/$device"
  mount --bind "/dev/$device" "$system/dev/$device"
done
ip link set lo up
exec env -i container=chroot PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  chroot "$system" /lib/systemd/systemd --unit=commands.service
