#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# guest-mq.sh - in a guest over the multiqueue test device: one long `vqsteer stat` that sees the
# device from its mount to its removal, while requests are delayed, refused, held, and lost to it.
# checks/mq.py judges what this records, beside the device's own log.
set -uo pipefail
# shellcheck disable=SC2154 # of guest-lib.sh
# shellcheck source=tests/e2e/guest-lib.sh
. "$(dirname "$0")/guest-lib.sh"

calls() { "$load" "$1" "$2" "$3" "$data/f0"; } # this device has f0 to f63

# snap NAME FILE: as guest-lib.sh's, but without reading all that `vqsteer stat` has said so far,
# which after some minutes is much: only what is behind the present end of it.
since() { quick dd if="$logs/main.out" bs=64k iflag=skip_bytes skip="$1" 2> "$logs/dd"; }
two_lines_since() { [ "$(since "$1" | quick wc -l)" -ge 2 ]; }
snap() {
	local size
	size=$(quick stat -c %s "$logs/$1.out")
	until_true 120 two_lines_since "$size" || return 1
	since "$size" | quick sed -n '2{p;q}' > "$out/$2.json"
}

# in_flight COUNT: so many requests are on the data device's rings.
in_flight() {
	local level sum=0
	snap main in_flight
	while IFS=: read -r _ level; do
		sum=$((sum + level))
	done < <(quick sed 's/.*"tag":"data"//' "$out/in_flight.json" |
		quick grep -o '"in_flight":[0-9]*')
	[ $sum = "$1" ]
}

# queue_map: which CPUs use which queue, as the kernel says.
queue_map() {
	local tag queue
	for tag in /sys/fs/virtiofs/*/tag; do
		[ "$(cat "$tag" 2> /dev/null)" = data ] || continue
		for queue in "${tag%/tag}"/mqs/*; do
			echo "${queue##*/} $(< "$queue/name") $(< "$queue/cpu_list")"
		done
	done > "$out/mqs"
}

# delayed: 500 requests from each CPU.
delayed() {
	snap main delayed.0
	calls 4 500 0 > "$out/delayed.calls"
	snap main delayed.1
}

# compared: the same again, while bpftrace times each request of the program `load` on its own. It
# knows no types of modules: where fuse is one (6.1), kprobes and the offset of in.h.opcode there.
independent='
kretfunc:fuse_request_alloc /comm == "load"/ { @start[retval] = nsecs; }
kfunc:fuse_request_end /@start[args->req]/ {
	printf("%d %d\n", args->req->in.h.opcode, nsecs - @start[args->req]);
	delete(@start[args->req]);
}'
independent_of_types='
kretprobe:fuse_request_alloc /comm == "load"/ { @start[retval] = nsecs; }
kprobe:fuse_request_end /@start[arg0]/ {
	printf("%d %d\n", *(uint32 *)(arg0 + 60), nsecs - @start[arg0]);
	delete(@start[arg0]);
}'
[ ! -e /sys/module/fuse/coresize ] || independent=$independent_of_types
one_measured() {
	calls 1 1 0 > "$logs/calls"
	quick grep -q '^3 ' "$out/compared.bpftrace" || [ ! -d "/proc/$tracer" ]
}
compared() {
	local tracer
	bpftrace -B line -e "$independent" > "$out/compared.bpftrace" 2> "$out/compared.err" &
	tracer=$!
	until_true 200 one_measured # or bpftrace has failed: compared.err says why
	pause 0.5
	snap main compared.0
	calls 4 500 0 > "$out/compared.calls"
	snap main compared.1
	kill -INT "$tracer"
	wait "$tracer"
}

errors() {
	snap main errors.0
	python3 -c 'import os, sys
for _ in range(70):
    try:
        os.statvfs(sys.argv[1])
    except OSError:
        pass' "$data/f0"
	missing 20
	snap main errors.1
}

# background: only two at a time may be on their way. Reads wait before they are allocated; pages
# written through a mapping (by the FLUSH at its end) do not, they queue up.
background() {
	snap main background.0
	fio --name=bg --filename="$data/f1" --size=1M --direct=1 --rw=randread --bs=4k --ioengine=libaio \
		--iodepth=16 --thread --time_based --runtime=2 --output-format=json > "$out/background.fio"
	snap main background.1
	python3 -c 'import mmap, os, sys
with mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 1 << 20) as m:
    for page in range(0, 1 << 20, 4096):
        m[page:page + 1] = b"x"' "$data/f2"
	snap main background.2
}

# full: 32 tasks for each ring of 16, for long enough that the last have begun before the first end.
full() {
	local second
	snap main full.0
	calls 64 100 0 > "$out/full.calls.1" &
	second=$!
	calls 64 100 0 > "$out/full.calls.2"
	wait "$second"
	snap main full.1
}

# syncs COUNT: so many tasks, on each CPU in turn, that wait for an FSYNC; their ids are in $waiters.
syncs() {
	local i
	waiters=()
	for ((i = 0; i < $1; i++)); do
		"$logs/busybox" taskset "$(printf %x $((1 << i % 4)))" "$logs/busybox" dd if=/dev/null \
			of="$data/f$i" conv=notrunc,fsync 2> "$logs/dd$i" &
		waiters+=($!)
	done
	until_true 60 in_flight "$1" || say "not $1 in flight"
}

held() {
	snap main held.0
	syncs 5
	snap main held.1
	kill -KILL "${waiters[0]}"
	pause 1
	snap main held.2
	echo 'mq: release'
	wait "${waiters[@]}"
	snap main held.3
}

# unmounted: while requests are in flight; and mounted again.
unmounted() {
	snap main unmounted.0
	syncs 3
	quick umount -l "$data"
	snap main unmounted.1
	wait "${waiters[@]}"
	pause 1
	snap main unmounted.2
	mount -t virtiofs -o rw data "$data"
	calls 1 5 0 > "$out/unmounted.calls"
	snap main unmounted.3
}

# removed: the device goes, its mount stays; requests in flight are waited for.
removed() {
	local device i
	snap main removed.0
	device=$(quick grep -l virtiofs /sys/bus/virtio/devices/*/uevent | quick tail -n 1)
	device=${device%/uevent}
	syncs 2
	snap main removed.1
	echo "${device##*/}" > /sys/bus/virtio/drivers/virtiofs/unbind
	wait "${waiters[@]}"
	for i in 1 2 3 4 5; do quick stat "$data/gone$i"; done > "$out/removed.stat" 2>&1
	snap main removed.2
	quick umount -l "$data"
	pause 0.5
	snap main removed.3
}

watch main
mount -t virtiofs -o rw data "$data"
queue_map
record doctor "$vqsteer" doctor --json
for part in ${E2E_PARTS:-delayed errors background full held unmounted compared removed}; do
	say "part $part"
	"$part"
done
finish main
leftovers main
say end
