# SPDX-License-Identifier: MIT
# Sourced by tests/vm/kernels and tests/vm/sysroot: Debian packages of any architecture, for reading only.
#
# apt runs with a state of its own (lists, cache, no installed packages) on this machine's own mirror and checks
# signatures as this machine does. Nothing is installed: packages are downloaded and unpacked with dpkg-deb.
# Sets $cache, the directory outside of the source tree where everything is kept, and $log in it; holds a lock.

cache=${MONITOR_VM_CACHE:-${XDG_CACHE_HOME:-/var/tmp}/monitor-vm}
mkdir -p "$cache"
exec 9> "$cache/lock" && flock 9 # two runs at a time would unpack over each other
log=$cache/$(basename "$0").log
: > "$log"

# The Debian mirror of this machine: the source, other than the security archive, that offers the running release.
find_mirror() {
	local codename
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
	cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list /etc/apt/sources.list 2> /dev/null |
		awk -v want="$codename" '
			/^URIs:/ { uri = $2 }
			/^Suites:/ { for (i = 2; i <= NF; i++) if ($i == want && uri !~ /security/) { print uri; exit } }
			/^deb / { sub(/\[[^]]*\] */, ""); if ($3 == want && $2 !~ /security/) { print $2; exit } }' || true
}

# private_apt ARCHITECTURE SUITE apt-get|apt-cache ARGUMENTS...
private_apt() {
	local architecture=$1 state=$cache/apt/$1-$2 tool=$3
	shift 3
	timeout -k 5 300 "$tool" -q \
		-o APT::Architecture="$architecture" -o APT::Architectures::="$architecture" -o APT::Sandbox::User=root -o Acquire::Languages=none \
		-o Acquire::Retries=2 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 \
		-o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::Cache="$state/cache" \
		-o Dir::State::Lists="$state/lists" -o Dir::State::Status=/dev/null "$@" 2>> "$log"
}

# update_lists ARCHITECTURE SUITE: asks the mirror what there is.
update_lists() {
	local state=$cache/apt/$1-$2
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
	echo "deb $mirror $2 main" > "$state/sources.list"
	private_apt "$1" "$2" apt-get update -o APT::Update::Error-Mode=any >> "$log"
}

if ! command -v apt-get > /dev/null || ! command -v dpkg-deb > /dev/null; then
	mirror=
else
	mirror=$(find_mirror)
fi
