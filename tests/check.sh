#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh - `make check`: builds everything, then runs every suite and adds up their counts.
# Its last line is `N passed, N failed, N skipped`. Logs of the suites stay in build/check/.
set -uo pipefail

cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
logs=build/check
mkdir -p "$logs"
passed=0 failed=0 skipped=0
jobs=$(nproc)

add() { # add NAME PASSED FAILED SKIPPED
	printf '%-12s %s passed, %s failed, %s skipped\n' "$1" "$2" "$3" "$4"
	passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
}

# A step that either works or does not: counts as one test.
step() { # step NAME COMMAND...
	local name=$1

	shift
	echo "== $name"
	if "$@" >"$logs/$name.log" 2>&1; then
		add "$name" 1 0 0
	else
		tail -n 40 "$logs/$name.log"
		add "$name" 0 1 0
	fi
}

# Sum of cmocka's closing lines of one kind, one per program.
cmocka_count() { # cmocka_count KIND LOG
	awk -v kind="$1" '$0 ~ "\\[ +" kind " +\\] [0-9]+ test\\(s\\)" {
		sub(/.*\] /, ""); n += $1 } END { print n + 0 }' "$2"
}

unit_tests() {
	local log=$logs/unit.log ok bad skip

	echo "== unit"
	make --no-print-directory -j"$jobs" unit >"$log" 2>&1
	local status=$?
	ok=$(cmocka_count PASSED "$log") bad=$(cmocka_count FAILED "$log")
	skip=$(cmocka_count SKIPPED "$log")
	[ "$status" -eq 0 ] || tail -n 40 "$log"
	# A program that died before its closing line failed nothing by its own count.
	[ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
	add unit "$ok" "$bad" "$skip"
}

# A suite that prints `N passed, N failed, N skipped` last.
counted() { # counted NAME COMMAND...
	local name=$1 last ok bad skip

	shift
	echo "== $name"
	"$@" 2>&1 | tee "$logs/$name.log"
	last=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$logs/$name.log" | tail -n 1)
	if [ -z "$last" ]; then
		add "$name" 0 1 0
		return
	fi
	read -r ok _ bad _ skip _ <<<"$last"
	add "$name" "$ok" "$bad" "$skip"
}

step build make --no-print-directory -j"$jobs" all static
step lint make --no-print-directory lint
unit_tests
step fuzz make --no-print-directory -j"$jobs" fuzz-short
counted top make --no-print-directory e2e-top
counted load make --no-print-directory e2e-load
counted e2e make --no-print-directory e2e

echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
