# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# part-trace.sh - a part of guest-tools.sh: `vqsteer trace`, its filters, and records that get lost,
# beside a `vqsteer stat` that counts the same requests.
# shellcheck disable=SC2154 # of guest-lib.sh

# writes FILE COUNT [BYTES]: so many WRITE requests, one after the other.
writes() {
	exec "$logs/busybox" dd if=/dev/zero of="$data/$1" bs="${3:-512}" count="$2" conv=notrunc \
		2> "$logs/writes.$1"
}

# filters: five traces at once, each with another filter, of the same requests.
filters() {
	local pid name
	quick mkfifo "$logs/gate"
	(read -r < "$logs/gate"; writes written 50) &
	pid=$!
	echo "$pid" > "$out/trace.pid"
	launch traced "$vqsteer" stat --json -i 0.2
	launch trace/all "$vqsteer" trace --json --tag data
	launch trace/op "$vqsteer" trace --json --op write
	launch trace/pid "$vqsteer" trace --json --pid "$pid"
	launch trace/slower "$vqsteer" trace --json --slower 10ms --tag data
	launch trace/errors "$vqsteer" trace --json --errors --tag data
	for name in traced trace/{all,op,pid,slower,errors}; do
		wait_attached "${pid_of[$name]}"
	done
	snap traced traced.0
	echo go > "$logs/gate"
	wait "$pid"
	calls 2 300 0 > "$out/trace.calls"
	snap traced traced.1
	missing 20
	hold_on 20000
	calls 1 30 0 > "$out/trace.slow"
	hold_off "$out/trace.held"
	snap traced traced.2
	for name in all op pid slower errors; do
		finish "trace/$name"
		bring "trace/$name"
	done
	finish traced
}

# lost: the reader of the records is stopped while more are written than its buffers hold.
lost() {
	local job pids=()
	start trace/lost "$vqsteer" trace --json --op write
	kill -STOP "${pid_of[trace/lost]}"
	for job in 1 2 3; do
		(writes "lost$job" 1000) &
		pids+=($!)
	done
	wait "${pids[@]}"
	kill -CONT "${pid_of[trace/lost]}"
	pause 2 # it says so while it runs, not only at its end
	quick cp "$out/trace/lost.err" "$out/trace/lost.said"
	finish trace/lost
	bring trace/lost
}

trace() {
	say filters; filters
	say lost; lost
	leftovers trace
}
