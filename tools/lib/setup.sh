# SPDX-License-Identifier: MIT
# Sourced by tools/quickstart, tools/test and tools/bench: packages, configuring, building.

# What Debian calls the tools and libraries that a build needs, first those of what records and reports; that building the
# tests needs besides; and that running them does.
core_packages="cmake ninja-build clang bpftool libbpf-dev libelf-dev libdw-dev libcapstone-dev libiberty-dev libbz2-dev libpfm4-dev zlib1g-dev
	linux-libc-dev libfmt-dev nlohmann-json3-dev libcli11-dev libboost-dev"
build_packages="$core_packages libsqlite3-dev libncurses-dev libprotozero-dev libnats-dev libssl-dev"
test_build_packages="g++ catch2 python3 clang-format llvm"
test_packages="babeltrace2 strace linux-perf bpftrace sudo man-db
	qemu-system-x86 make busybox-static dwarves cpio musl-tools zstd lz4 xz-utils procps util-linux bash-completion
	python3-bt2 lttng-tools liblttng-ust-dev python3-barectf acct dkms file pkg-config
	chromium python3-websocket python3-pyte tmux python3-lttnganalyses
	prometheus python3-prometheus-client nats-server openssl"
all_test_packages="lld libclang-rt-14-dev qemu-system-arm g++-aarch64-linux-gnu tcpdump golang-go dwz gdb gdbserver stress-ng" # tools/test --all

# A script of several steps sets `steps` to their number.
steps=0 step=0
step() { # WHAT
	step=$((step + 1))
	printf '\n== %d of %d, after %d s: %s\n' $step $steps $SECONDS "$*"
}

# Where what tools print goes, whole: the file is named before the first of it.
log_to() { # FILE
	mkdir -p "$(dirname "$1")"
	log=$(realpath "$1")
	: > "$log"
	echo "The whole log: $log"
}

# Installs the packages that are missing; does nothing, and needs no network, if all are there.
install_packages() {
	local missing=() package
	for package in "$@"; do
		dpkg-query -W -f='${Status}' "$package" 2> /dev/null | grep -q 'ok installed' || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	echo "installing ${missing[*]}" | fold -s -w 120
	local root=
	[ "$(id -u)" = 0 ] || root=sudo
	{
		$root apt-get update -qq
		DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends "${missing[@]}"
	} >> "$log" 2>&1 || {
		tail -n 5 "$log"
		echo "the packages could not be installed: see $log"
		return 1
	}
}

# With a library's files in one go (a unity build), which takes less than half as long; a developer's own build need not.
configure() { # DIRECTORY OPTION...
	local directory=$1
	shift
	cmake -S . -B "$directory" -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON \
		-DCMAKE_UNITY_BUILD_BATCH_SIZE=0 "$@" > "$directory.log" 2>&1 || {
		cat "$directory.log"
		return 1
	}
	cat "$directory.log" >> "$log"
	rm -f "$directory.log"
}

# What reads traces, with address and undefined-behaviour sanitizers.
configure_sanitized() {
	configure build-sanitized -DMONITOR_RECORD=OFF -DMONITOR_QUERY=OFF -DMONITOR_SANITIZE=ON -DMONITOR_FUZZ=ON \
		-DMONITOR_UNIT_TESTS=OFF -DCMAKE_C_COMPILER=clang
}

build() { # DIRECTORY TARGET...
	local directory=$1 first
	shift
	first=$(wc -l < "$log")
	NINJA_STATUS='[%f/%t] ' cmake --build "$directory" ${1:+--target "$@"} -- -j "$(nproc)" 2>&1 | tee -a "$log" | show_progress && return
	tail -n +$((first + 1)) "$log" | grep -A 20 -m 1 -E '^FAILED|^ninja: error' || tail -n 5 "$log"
	echo "the build failed: see $log"
	return 1
}

# Of ninja's lines how far it has come: in place on a terminal, else each fifth of the way.
show_progress() {
	local line done total fifth=0 built='^\[([0-9]+)/([0-9]+)\]'
	while read -r line; do
		[[ $line =~ $built ]] || continue
		done=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
		if [ -t 1 ]; then
			printf '\r  built %d of %d, after %d s ' "$done" "$total" $SECONDS
		elif [ $((done * 5 / total)) -gt $fifth ]; then
			fifth=$((done * 5 / total))
			printf '  built %d of %d, after %d s\n' "$done" "$total" $SECONDS
		fi
	done
	[ ! -t 1 ] || echo
}

run_tests() { # DIRECTORY CTEST-OPTION...
	local directory=$1 status=0
	shift
	ctest --test-dir "$directory" --parallel "$(($(nproc) + 1))" --output-on-failure "$@" 2>&1 | tee -a "$directory/ctest.log" "$log" | show_tests || status=1
	cat "$directory/Testing/Temporary/LastTest.log" >> "$directory/ctest-output.log" # ctest keeps the last run's
	return $status
}

# Of ctest's lines those of tests that ended: in place on a terminal, else a line for each tenth test and each that did not pass.
show_tests() {
	local line number=0 ended='^([0-9]+)/([0-9]+) Test +#[0-9]+: ([^ ]+) [. ]*(.*)$'
	while read -r line; do
		[[ $line =~ $ended ]] || continue
		number=$((number + 1))
		case ${BASH_REMATCH[4]} in
		*Passed*)
			if [ -t 1 ]; then
				printf '\r  %d of %d, after %d s: %-40s' $number "${BASH_REMATCH[2]}" $SECONDS "${BASH_REMATCH[3]}"
			elif [ $((number % 10)) = 0 ]; then
				printf '  %d of %d tests, after %d s\n' $number "${BASH_REMATCH[2]}" $SECONDS
			fi ;;
		*) printf '%s  %s: %s\n' "$([ ! -t 1 ] || printf '\r')" "${BASH_REMATCH[3]}" "${BASH_REMATCH[4]}" ;;
		esac
	done
	[ ! -t 1 ] || echo
}

# What the guests test: the contents of all that runs in the kernel, or loads it there.
guest_sources() {
	find bpf kmod include/monitor userspace/recording/{card,calibration,recorder} -type f | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c -16
}

run_guests() {
	local status=0
	tests/vm/run --build build --all 2>&1 | tee -a "$log" build/guests-all.log || status=1
	return $status
}

# Notes in a file of the tree that every guest passed, with these sources.
guests_ran() {
	{
		echo "sources $(guest_sources)"
		echo "date $(date +%Y-%m-%d)"
		tests/vm/kernels | awk -F '\t' '$2 != "-" { print "kernel " $1 " " $2 }'
	} > tests/vm/passed
}

# Of each failed test the lines that say why, of each skipped one the reason, which is the last line it printed, and what was
# left out of others; then their numbers.
summarise() { # DIRECTORY...
	local directory name passed=0 failed=0 skipped=0
	echo
	for directory in "$@"; do
		[ -e "$directory/ctest.log" ] || continue
		passed=$((passed + $(grep -c ' Passed ' "$directory/ctest.log" || true)))
		failed=$((failed + $(grep -cE "$failed_test" "$directory/ctest.log" || true)))
		skipped=$((skipped + $(grep -c '\*\*\*Skipped' "$directory/ctest.log" || true)))
		for name in $(named ' Passed ' "$directory/ctest.log"); do
			output_of "$directory" "$name" | tail -n 1 | sed -n "s/^left out: /  in part $name: without /p"
			output_of "$directory" "$name" | sed -n "s/^  tried again/  $name: tried again/p"
		done
		for name in $(named '\*\*\*Skipped' "$directory/ctest.log"); do
			echo "  skipped $name: $(output_of "$directory" "$name" | tail -n 1)"
		done
		for name in $(named "$failed_test" "$directory/ctest.log"); do
			echo "  failed $name:"
			failure_of "$directory" "$name" | reasons
		done | cut -c -500
	done
	if [ ! -e tests/vm/passed ]; then
		echo "it is not noted that the guests of tools/test --all ever passed"
	elif ! grep -qx "sources $(guest_sources)" tests/vm/passed; then
		echo "the guests of tools/test --all last passed with other sources, on $(sed -n 's/^date //p' tests/vm/passed)"
	fi
	echo "$passed passed, $failed failed, $skipped skipped, $(((SECONDS + 30) / 60)) min"
}

failed_test='\*\*\*(Failed|Timeout|Exception|Not Run)'

# The first lines that say that something failed, with what follows them, and the last lines.
reasons() {
	awk '/(^|[^A-Z])FAIL(ED|S)?([^A-Z]|$)|^[A-Za-z.]*Error: / { shown = NR + 3 }
		NR <= shown && lines < 20 { print "    " $0; ++lines; last = NR }
		{ line[NR] = $0 } END { for (n = NR - 2; n <= NR; ++n) if (n > last) print "    " line[n] }'
}

named() { # WHAT-BECAME-OF-IT FILE
	sed -nE "s/.*Test *#[0-9]*: ([^ ]*) .*$1.*/\1/p" "$2"
}

# As ctest printed it at once, below the line of the test.
failure_of() { # DIRECTORY TEST
	awk -v name="$2" '$0 ~ "Test +#[0-9]+: " name " .*[*][*][*]" { on = 1; next }
		/^ *(Start +[0-9]+:|[0-9]+\/[0-9]+ Test +#)/ { on = 0 } on && NF' "$1/ctest.log"
}

output_of() { # DIRECTORY TEST
	awk -v name="$2" '$0 ~ "^[0-9]+/[0-9]+ Testing: " name "$" { on = 1 } on && /^Output:/ { out = 1; next }
		out && /^<end of output>/ { exit } out && NF' \
		"$1/ctest-output.log"
}
