#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# overhead_guest.sh ROUNDS SECONDS - in the guest: runs three loads under each tracer in turn, the
# order rotating from round to round, and prints a line `round tracer load rate` for each. `none`
# runs twice a round: its two rates are the noise that every other difference is to be held against.
set -uo pipefail

top=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
rounds=$1 seconds=$2
tracers=(none vqsteer none2 bpftrace)

random_reads() {
	fio --name=r --directory=/mnt/data --filename=big --rw=randread --bs=4k --iodepth=32 \
		--ioengine=libaio --direct=1 --size=32M --numjobs=2 --group_reporting \
		--runtime="$seconds" --time_based --output-format=terse 2>/dev/null | cut -d';' -f8
}

metadata() {
	"$top/build/e2e/load" 4 0 "$seconds" /mnt/data/big |
		sed -n "s/.*\"calls\":\([0-9]*\).*/\1/p"
}

spinlocks() {
	"$top/build/bench/spin" 4 "$seconds"
}

programs() {
	bpftool prog 2>/dev/null | grep -c -E 'tracing|kprobe'
}

start() { # start TRACER: returns when it is attached
	tracer=
	# Programs go a moment after the process that loaded them.
	until [ "$(programs)" -eq 0 ]; do sleep 0.2; done
	case $1 in
	vqsteer) "$top/build/vqsteer" stat -i 3600 >/dev/null 2>&1 & tracer=$! ;;
	bpftrace) bpftrace "$top/tests/bench/overhead.bt" >/dev/null 2>&1 & tracer=$! ;;
	*) return ;;
	esac
	until [ "$(programs)" -ge 2 ]; do sleep 0.2; done
	sleep 0.5
}

finish() {
	[ -n "$tracer" ] || return
	kill -TERM "$tracer"
	wait "$tracer"
}

random_reads >/dev/null # warms the caches of host and guest
for round in $(seq "$rounds"); do
	for turn in 0 1 2 3; do
		name=${tracers[$(((round + turn) % 4))]}
		start "$name"
		for load in random_reads metadata spinlocks; do
			echo "$round $name $load $($load)"
		done
		finish
	done
done
