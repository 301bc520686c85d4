#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# guest-stock.sh - in a guest over a stock daemon with one queue: one long `vqsteer stat` while the
# load changes, then two at once, one of them on the kprobe rung. checks/stock.py judges the records.
set -uo pipefail
# shellcheck source=tests/e2e/guest-lib.sh
. "$(dirname "$0")/guest-lib.sh"

# counts: exactly so many requests, of exactly these kinds.
counts() {
	snap main counts.0
	calls 1 500 0 > "$out/counts.calls"
	snap main counts.1
	"$here/sequence.py" "$data"
	snap main counts.2
}

background_jobs() {
	snap main aio.0
	aio 3 8 > "$out/aio.fio"
	snap main aio.1
}

# hold US: the lock is held for a known time.
hold() {
	hold_on "$1"
	snap main "hold.$1.0"
	calls 2 0 5 > "$out/hold.$1.calls"
	snap main "hold.$1.1"
	hold_off "$out/hold.$1.held"
}

# other_locks: memory is taken and freed, and spinlocks that are none of virtio-fs's are waited for.
other_locks() {
	local job pids=()
	for job in 1 2 3 4 5 6; do
		quick dd if=/dev/zero of="$logs/other.$job" bs=64k count=60 2> "$logs/other" &
		pids+=($!)
	done
	wait "${pids[@]}"
	quick rm "$logs"/other.*
}

# remount: three times; while it is not mounted, other spinlocks of the system are contended.
remount() {
	local round
	for round in 1 2 3; do
		umount "$data"
		snap main "remount.$round.gone"
		other_locks
		snap main "remount.$round.other"
		mount -t virtiofs -o rw data "$data"
		[ -e "$data/file" ] || say "no file"
		calls 4 200 0 > "$out/remount.$round.calls"
		snap main "remount.$round.back"
	done
}

# two: at once, one on each rung, each with an account of itself.
two() {
	launch kprobe "$vqsteer" stat --json -i 0.2 --rungs kprobe --self
	watch best --self
	wait_attached "${pid_of[kprobe]}"
	snap best two.warm
	snap kprobe two.kprobe.0
	snap best two.best.0
	calls 1 300 0 > "$out/two.calls"
	aio 1 4 > "$out/two.fio"
	calls 8 0 2 > "$out/two.calls.8"
	snap kprobe two.kprobe.1
	snap best two.best.1
	finish kprobe
	finish best
}

say doctor
record doctor "$vqsteer" doctor --json
stat "$data/file" "$data/dir" > "$logs/warm"
"$here/sequence.py" "$data"
say main
watch main
say counts; counts
say sync; sync_jobs
say aio; background_jobs
say hold; hold 10000; hold 40000
say remount; remount
finish main
say two; two
leftovers end
say end
