#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# [KERNELS='6.1 6.12'] packages.sh BUILD VERSION: makes the Debian packages, unpacks them, runs what is in them; and takes
# the module through `dkms add, build, install, remove` for Debian's kernel 6.12, or for KERNELS, in directories of its own.
# Called by ctest.
set -euo pipefail
build=$1 version=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "packages.sh: $*" >&2
	exit 1
}

for tool in cpack dpkg-deb dpkg-shlibdeps file dkms; do
	command -v $tool > /dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
(cd "$build" && cpack -B "$work/packages") > "$work/log" 2>&1 || fail "cpack: $(tail -n 5 "$work/log")"
[ "$(cd "$work/packages" && echo *.deb)" = "libpoet-dev_${version}_amd64.deb monitor-dkms_${version}_all.deb monitor_${version}_amd64.deb" ] ||
	fail "packages made: $(ls "$work/packages")"
for package in "$work"/packages/*.deb; do
	dpkg-deb --extract "$package" "$work/root"
	dpkg-deb --control "$package" "$work/control-$(basename "$package" | cut -d _ -f 1)"
done

# The program finds its tables beside itself; its man pages, headers and completion are there.
"$work/root/usr/bin/monitor" --version | grep -qF "$version" || fail "the packaged monitor's version"
"$work/root/usr/bin/monitor" events --groups | grep -q software || fail "the packaged monitor does not find its files"
for file in share/man/man1/monitor.1 include/monitor/edc.h share/bash-completion/completions/monitor share/monitor/dashboards/machine.json \
	lib/systemd/system/monitor-serve.service lib/systemd/system/monitor-agent.service lib/systemd/system/monitor-hub.service \
	share/man/man1/monitor-fleet.1 include/poet/poet.hpp; do
	[ -f "$work/root/usr/$file" ] || fail "no $file in the packages"
done
for script in postinst prerm; do
	sh -n "$work/control-monitor-dkms/$script" || fail "$script of monitor-dkms"
	grep -qF "$version" "$work/control-monitor-dkms/$script" || fail "$script of monitor-dkms is of another version"
done
sh -n "$work/control-monitor/postinst" && grep -q 'useradd .*monitor-agent' "$work/control-monitor/postinst" || fail "nobody makes the agent's user"

grep -q 'KERNEL=="monitor", GROUP="monitor", MODE="0660"' "$work/root/usr/lib/udev/rules.d/60-monitor.rules" || fail "no rule of udev"
grep -q 'groupadd .*monitor' "$work/control-monitor-dkms/postinst" || fail "nobody makes the group of the rule"

# dkms: its own trees, so that nothing of this machine is touched.
mkdir "$work/dkms" "$work/modules"
run_dkms() {
	dkms "$@" -m monitor -v "$version" --dkmstree "$work/dkms" --sourcetree "$work/root/usr/src" --installtree "$work/modules" \
		> "$work/dkms.log" 2>&1 || fail "dkms $1: $(cat "$work/dkms.log" "$work"/dkms/monitor/"$version"/build/make.log 2> /dev/null)"
}
run_dkms add
"$source/tests/vm/kernels" > /dev/null # headers of those that are there
built=0
for kernel in ${KERNELS-6.12}; do
	if ! headers=$("$source/tests/vm/headers" $kernel 2> "$work/why"); then
		echo "kernel $kernel: skipped, $(cat "$work/why")"
		continue
	fi
	release=${headers##*linux-headers-}
	mkdir "$work/modules/$release"
	run_dkms build -k "$release" --kernelsourcedir "$headers"
	run_dkms install -k "$release" --kernelsourcedir "$headers" --no-depmod
	module=$(find "$work/modules/$release" -name 'monitor_edc.ko*')
	[ -n "$module" ] || fail "dkms installed no module for $release"
	modinfo -F vermagic "$module" | grep -qF "$release " || fail "the module is for $(modinfo -F vermagic "$module")"
	echo "kernel $release: built and installed by dkms"
	built=$((built + 1))
done
run_dkms remove --all --no-depmod
[ -z "$(find "$work/modules" -name 'monitor_edc.ko*')" ] || fail "dkms left a module after"
[ $built -gt 0 ] || { echo "skipped: no kernel's headers to build the module with"; exit 77; }
