#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# A host of tests/fleet/three_guests.py: a virtual machine with a network card and an agent. Run by tests/vm/boot in the
# guest, until its QEMU is told to quit. Name, address of the hub and all else are in the files beside it.
while read -r module; do
	insmod "./$module" || exit 1
done < order
host=$(cat host)
hostname "$host"
ip addr add 10.0.2.15/24 dev eth0 && ip link set eth0 up && ip route add default via 10.0.2.2 || exit 1
mkdir -p /run /lib/x86_64-linux-gnu /lib64 /etc /var/spool/agent /tmp/keys
cp ./*.so* /lib/x86_64-linux-gnu/
cp ld-linux-x86-64.so.2 /lib64/
echo 'root:x:0:0::/:/bin/sh
nobody:x:65534:65534::/:/bin/sh' > /etc/passwd
echo 'root:x:0:
nogroup:x:65534:' > /etc/group
chmod 755 / /run /var /var/spool /tmp
cp ca.pem hub me.key me.pem operator.pub /tmp/keys/
chmod 600 /tmp/keys/me.key
echo "GUEST $host $(date +%s) $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
exec ./monitor agent --keys /tmp/keys --host "$host" --user nobody --spool /var/spool/agent/spool
