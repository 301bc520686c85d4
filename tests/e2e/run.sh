#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh - the end-to-end tests: boots guests of each kernel over tests/lab/, runs suites in them
# (guest-SUITE.sh records, checks/SUITE.py judges), prints a line per assertion and, last, how many
# passed. Exit status 1 when one failed, 2 when called wrongly.
set -uo pipefail

usage() {
	cat <<'USAGE'
usage: run.sh [OPTION...]
  --kernels "6.1 6.12 7.3"  guest kernels (all three)
  --suite NAME              only this suite; may be repeated: stock native tools mq static,
                            or vqfsd, 3 minutes a kernel, which only this option runs
  --keep DIR                keep what the guests recorded, and their logs, in DIR
lines: ok NAME: figures / not ok NAME: figures / skip NAME: reason; NAME is KERNEL/MODEL/SUITE/...
USAGE
}

here=$(dirname "$(readlink -f "$0")")
lab=$here/../lab/run.sh
build=$(readlink -f "${BUILD:-$here/../../build}")
time_limit=${VQSTEER_E2E_TIMEOUT:-600} # seconds a guest's half may take; 60 on an idle machine
kernels="6.1 6.12 7.3" suites=() keep=''
together=tools # suites whose guests may run beside each other
passed=0 failed=0 skipped=0
for file in "$here"/suites*.sh; do
	# shellcheck source=/dev/null
	. "$file"
done

parse_options() {
	while [ $# -gt 0 ]; do
		case $1 in
		--kernels) kernels=${2:?}; shift ;;
		--suite) suites+=("${2:?}"); shift ;;
		--keep) keep=${2:?}; shift ;;
		-h|--help) usage; exit 0 ;;
		*) usage >&2; exit 2 ;;
		esac
		shift
	done
	[ ${#suites[@]} -gt 0 ] || suites=(stock native tools mq static)
	local suite
	for suite in "${suites[@]}"; do
		[ "$(type -t "suite_$suite")" = function ] || { usage >&2; exit 2; }
	done
}

# tally: passes lines on, and counts those that are verdicts.
tally() {
	local line
	while IFS= read -r line; do
		case $line in
		'ok '*) passed=$((passed + 1)) ;;
		'not ok '*) failed=$((failed + 1)) ;;
		'skip '*) skipped=$((skipped + 1)) ;;
		esac
		printf '%s\n' "$line"
	done
}

# guest SUITE KERNEL MODEL LAB-OPTION...: one boot, then the judgement of what it recorded.
guest() {
	local suite=$1 kernel=$2 model=$3 results code=0 cpu=max started=$SECONDS; shift 3
	[ "$model" = max ] || cpu=max,-hypervisor
	results=$work/$kernel-$model-$suite
	rm -rf -- "$results"
	mkdir -p "$results"
	"$lab" --kernel "$kernel" --cpu "$cpu" --out "$results" --timeout "$time_limit" \
		--env "E2E_BUILD=$build" --keep "$build" "$@" -- "$here/guest-$suite.sh" \
		> "$results/guest.log" 2>&1 || code=$?
	if [ $code -ne 0 ]; then
		echo "not ok $kernel/$model/$suite/guest: the guest's half ended with $code"
		tail -n 30 "$results/guest.log" | sed 's/^/# /'
	fi
	# What the script recorded is worth judging even when it failed at the end.
	if [ $code -ne 124 ] && [ $code -ne 125 ]; then
		(cd "$here" && python3 -B checks "$suite" "$kernel" "$model" "$results" 2>&1) ||
			echo "not ok $kernel/$model/$suite/checks: ended early"
	fi
	echo "# $kernel/$model/$suite took $((SECONDS - started)) s"
}

# merge FIRST AGAIN: the verdicts of two tries of a suite. What failed once and then did not is
# passed, and says so.
merge() {
	local line name second
	while IFS= read -r line; do
		if [[ $line == 'not ok '* ]]; then
			name=${line#not ok } name=${name%%: *}
			second=$(grep -F -m 1 -- "ok $name: " <<< "$2")
			[[ $second != "ok $name: "* ]] || line="$second (second try; first: ${line#*: })"
		fi
		printf '%s\n' "$line"
	done <<< "$1"
}

# try_suite NAME KERNEL: emulated processors lose their own for some milliseconds now and then, so a
# suite in which something failed runs once more, from the beginning; what fails twice has failed.
try_suite() {
	local first again
	first=$("suite_$1" "$2")
	if ! grep -q '^not ok ' <<< "$first"; then
		[ -z "$first" ] || printf '%s\n' "$first"
		return
	fi
	again=$("suite_$1" "$2")
	if grep -qE '^not ok [^ ]*/(guest|checks): ' <<< "$first"; then
		printf '%s\n' "$again"
	else
		merge "$first" "$again"
	fi
}

# one_by_one: those that measure waits; each has the machine for itself.
one_by_one() {
	local kernel suite
	for kernel in $kernels; do
		for suite in "${suites[@]}"; do
			[[ " $together " == *" $suite "* ]] || try_suite "$suite" "$kernel"
		done
	done
}

# at_once: those that take long and measure nothing.
at_once() {
	local kernel suite
	for suite in "${suites[@]}"; do
		[[ " $together " == *" $suite "* ]] || continue
		for kernel in $kernels; do
			try_suite "$suite" "$kernel" > "$work/$kernel-$suite.log" 2>&1 &
		done
		wait
		for kernel in $kernels; do cat "$work/$kernel-$suite.log"; done
	done
}

parse_options "$@"
work=$keep
if [ -n "$work" ]; then
	mkdir -p "$work" && work=$(readlink -e "$work") || exit 2
else
	work=$(mktemp -d "${TMPDIR:-/tmp}/vqsteer-e2e.XXXXXX")
	trap 'rm -rf -- "$work"' EXIT
fi
trap 'exit 130' INT
trap 'exit 143' TERM
tally < <(one_by_one; at_once)
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
