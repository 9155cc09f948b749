#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The man pages are well-formed, name each other rightly and fit into 80 columns.
# Called by ctest: man.sh MAN_DIRECTORY. Uses mandoc, else man; 77 without both.
set -euo pipefail
cd "$1"
failed=0

complain() {
	printf '%s\n' "$*"
	failed=1
}

for page in *.[13]; do
	while read -r name; do
		[ -e "$name.1" ] || complain "$page: there is no page $name.1"
	done < <(sed -n 's/^\.Xr \(monitor[a-z-]*\) 1.*/\1/p' "$page")
done

# A paragraph is a line.
paragraphs() { # PAGE
	if command -v mandoc > /dev/null; then
		mandoc -T utf8 "$1"
	else
		LC_ALL=C.UTF-8 man -l -Tutf8 "./$1" 2> /dev/null
	fi | sed 's/.\x08//g' | awk 'BEGIN { RS = "" } { gsub(/\n[ \t]+/, " "); print }'
}

# A macro takes all that follows in its line into its quotes or braces, and Fl makes an option of each word. Compilers, too,
# have options with one dash, and `-machine` is the end of a name.
for page in *.[13]; do
	! command -v mandoc man > /dev/null && break
	remains=$(paragraphs "$page" | LC_ALL=C.UTF-8 grep -oP '“[^”]*(“|$)|‘[^’]*‘|\{[^}]*,[^}]*\{|(^|[\s(])-(?!f|gsplit|m|no-pie|pg)[a-z]{2}\S*' || true)
	[ -z "$remains" ] || complain "$page is not read as it is meant: $remains"
done

# As people read it: a macro that is taken for text stands there as its name. (It, No and At are words, too.)
macros='Ar|Bd|Bl|Cm|Dl|Dq|Ed|El|Em|Ev|Fl|Li|Nd|Nm|Ns|Oc|Oo|Op|Pa|Pp|Pq|Qc|Ql|Qo|Qq|Sh|Sq|Ss|Sy|Xr'
for page in *.[13]; do
	if command -v mandoc > /dev/null; then
		text=$(mandoc -T ascii "$page" | sed 's/.\x08//g')
	elif command -v man > /dev/null; then
		text=$(MANWIDTH=80 man -l "./$page" 2> /dev/null | sed 's/.\x08//g')
	else
		break
	fi
	raw=$(grep -nwE "$macros" <<< "$text" || true)
	[ -z "$raw" ] || complain "$page prints names of macros: $raw"
done

# What depends on the manuals that are installed here is no fault of a page.
if command -v mandoc > /dev/null; then
	faults=$(mandoc -T lint -W all ./*.[13] 2>&1 | grep -v -e 'referenced manual not found' -e 'outdated mandoc.db' || true)
	[ -z "$faults" ] || complain "$faults"
	for page in *.[13]; do
		wide=$(mandoc -T ascii -O width=78 "$page" | sed 's/.\x08//g' | awk 'length > 80' || true)
		[ -z "$wide" ] || complain "$page: wider than 80 columns: $wide"
	done
elif command -v man > /dev/null; then
	for page in *.[13]; do
		faults=$(MANWIDTH=80 man --warnings -l -Tutf8 "./$page" 2>&1 > /dev/null || true)
		[ -z "$faults" ] || complain "$page: $faults"
	done
else
	echo "neither mandoc nor man is installed"
	exit 77
fi
exit $failed
