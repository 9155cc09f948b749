# SPDX-License-Identifier: MIT
# Sourced by tools/quickstart, tools/test and tools/bench: packages, configuring, building.

# What Debian calls the tools and libraries that a build needs, that building the tests needs besides, and that running
# them does.
build_packages="cmake ninja-build g++ clang bpftool libbpf-dev libelf-dev libdw-dev libcapstone-dev libbz2-dev libpfm4-dev zlib1g-dev linux-libc-dev libfmt-dev
	nlohmann-json3-dev libcli11-dev libboost-dev libsqlite3-dev libncurses-dev libprotozero-dev libnats-dev libssl-dev"
test_build_packages="catch2 python3 clang-format llvm"
test_packages="babeltrace2 linux-perf bpftrace sudo man-db
	qemu-system-x86 make busybox-static dwarves cpio musl-tools zstd lz4 xz-utils procps util-linux bash-completion
	python3-bt2 lttng-tools liblttng-ust-dev python3-barectf acct dkms file pkg-config
	chromium python3-websocket python3-pyte tmux python3-lttnganalyses
	prometheus python3-prometheus-client nats-server openssl"
all_test_packages="libclang-rt-14-dev qemu-system-arm g++-aarch64-linux-gnu tcpdump" # tools/test --all

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

# A library's files in one go (a unity build) cost the compiler less than half; a developer's own build need not. clang is
# needed for the probes, and takes half of g++'s time for code that is not optimized.
configure() { # DIRECTORY OPTION...
	local directory=$1
	shift
	cmake -S . -B "$directory" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMONITOR_QUICK=ON -DCMAKE_CXX_COMPILER=clang++ \
		-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=100 "$@" > "$directory.log" 2>&1 || {
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
	local line done total fifth=0
	while read -r line; do
		[[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
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
	say "testing $directory"
	ctest --test-dir "$directory" --parallel "$(nproc)" --output-on-failure "$@" | tee -a "$directory/ctest.log" || status=1
	cat "$directory/Testing/Temporary/LastTest.log" >> "$directory/ctest-output.log" # ctest keeps the last run's
	[ $status = 0 ] || run_again "$directory"
}

# Tests that record share the machine with all that runs on it. Up to four that failed, of about a hundred, and one of the
# guests run again, alone; the summary names those that pass only then. All other tests depend on nothing but the code: what
# fails has failed.
run_again() { # DIRECTORY
	local directory=$1 failed
	failed=$(cut -d: -f2 "$directory/Testing/Temporary/LastTestsFailed.log")
	! grep -qvE '^(e2e|docs|vm)_' <<< "$failed" && [ "$(wc -l <<< "$failed")" -le 4 ] &&
		[ "$(grep -c '^vm_' <<< "$failed")" -le 1 ] || return 1
	say "testing again, alone: ${failed//$'\n'/ }"
	ctest --test-dir "$directory" --rerun-failed --output-on-failure | tee -a "$directory/ctest-again.log" || return 1
}

# Counts of passed, failed and skipped tests; of each failed one the lines that say why, and of each skipped one the
# reason, which is the last line it printed.
summarise() { # DIRECTORY...
	local directory name
	for directory in "$@"; do
		[ -e "$directory/ctest.log" ] || continue
		echo "$directory: $(grep -c ' Passed ' "$directory/ctest.log" || true) passed," \
			"$(grep -cE "$failed_test" "$directory/ctest.log" || true) failed," \
			"$(grep -c '\*\*\*Skipped' "$directory/ctest.log" || true) skipped"
		for name in $(named "$failed_test" "$directory/ctest.log"); do
			echo "  failed $name$(passed_again "$directory" "$name"):"
			output_of "$directory" "$name" | reasons
		done | cut -c -500
		for name in $(named '\*\*\*Skipped' "$directory/ctest.log"); do
			echo "  skipped $name: $(output_of "$directory" "$name" | tail -n 1)"
		done
		for name in $(named ' Passed ' "$directory/ctest.log"); do
			output_of "$directory" "$name" | tail -n 1 | sed -n "s/^left out: /  in part $name: without /p"
		done
	done
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

passed_again() { # DIRECTORY TEST
	[ ! -e "$1/ctest-again.log" ] || ! grep -q "Test *#[0-9]*: $2 .* Passed " "$1/ctest-again.log" ||
		echo ", and passed when it ran again, alone"
}

output_of() { # DIRECTORY TEST
	awk -v name="$2" '$0 ~ "^[0-9]+/[0-9]+ Testing: " name "$" { on = 1 } on && /^Output:/ { out = 1; next }
		out && /^<end of output>/ { exit } out && NF' \
		"$1/ctest-output.log"
}
