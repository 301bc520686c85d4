# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# part-attach.sh - a part of guest-tools.sh: vqsteer attached at a bad moment, and with too few slots.
# shellcheck disable=SC2154 # of guest-lib.sh

# midway: attached while requests are in flight.
midway() {
	local fio
	"${aio_jobs[@]}" --runtime=600 --numjobs=8 > "$out/midway.fio" &
	fio=$!
	pause 2 # it is well under way
	watch midway
	snap midway midway.busy
	kill -INT "$fio"
	wait "$fio"
	snap midway midway.quiet
	calls 1 100 0 > "$out/midway.calls"
	snap midway midway.after
	finish midway
}

# flood: more requests at once than there are slots to follow them.
flood() {
	watch flood --slots 8
	"${aio_jobs[@]}" --runtime=2 --numjobs=4 --bs=512k --iodepth_batch_submit=32 > "$out/flood.fio"
	snap flood flood.1
	finish flood
}

attach() {
	say midway; midway
	say flood; flood
	leftovers attach
}
