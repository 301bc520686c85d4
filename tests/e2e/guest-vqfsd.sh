#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# guest-vqfsd.sh - in a guest whose root and data are served by vqfsd: all kinds of work on the
# data, then all of it again while the host moves queues and switches engines (moves.py).
# checks/vqfsd.py judges what this records.
set -uo pipefail
# shellcheck disable=SC2154 # of guest-lib.sh
# shellcheck source=tests/e2e/guest-lib.sh
. "$(dirname "$0")/guest-lib.sh"
fsx=$logs/fsx
cp "$build/e2e/fsx" "$fsx"

# queues: requests from each CPU, as vqsteer sees them.
queues() {
	watch main
	snap main queues.0
	calls 4 300 0 > "$out/queues.calls"
	snap main queues.1
	finish main
}

tree() (
	cd "$dir" && quick tar -xf "$data/src.tar" && cd src &&
		find . | wc -l && make -s -j4 && ./program && cd .. && rm -r src && [ ! -e src ]
)

clone() (
	cd "$dir" && git clone -q --no-local "$data/repository" clone && cd clone &&
		git fsck --full --strict --no-progress && cat .git/refs/heads/* && cd .. && rm -r clone
)

# verified: by fio itself, 4 KiB deep and direct, mixed, and a MiB at once.
verified() (
	cd "$dir" && fio --directory=. --verify=crc32c --verify_fatal=1 --thread --output-format=json \
		--name=direct --rw=randwrite --bs=4k --size=2M --numjobs=2 --direct=1 \
		--ioengine=libaio --iodepth=16 \
		--name=mixed --rw=randrw --bs=4k --size=2M --ioengine=psync \
		--name=large --rw=write --bs=1M --size=8M --direct=1 --ioengine=psync &&
		quick rm direct.* mixed.* large.*
)

# model FIRST-SEED: four checkers at once.
model() {
	local seed pids=() code=0
	for seed in 0 1 2 3; do
		"$fsx" --seed $(($1 + seed)) --ops 1000 "$dir/fsx.$seed" &
		pids+=($!)
	done
	for seed in "${pids[@]}"; do wait "$seed" || code=1; done
	quick rm "$dir"/fsx.?
	return $code
}

names() { python3 -B "$here/names.py" "$dir/names"; }
free() { df -k "$dir" | tail -n 1; }

# work PHASE SEED: everything at once, in one directory.
work() {
	local part pids=()
	dir=$data/$1
	say "$1"
	quick mkdir "$dir" "$out/$1"
	for part in tree clone verified names free "model $2"; do
		# shellcheck disable=SC2086 # a function and its argument
		{ record "$1/${part% *}" $part; say "$1 $part done"; } &
		pids+=($!)
	done
	wait "${pids[@]}"
	rm -rf "$dir"
}

say doctor
record doctor "$vqsteer" doctor --json
say queues; queues
work still 1
touch "$data/steer"
work moving 101
quick mv "$data/steer" "$data/stop"
ended() { [ ! -e "$data/stop" ]; }
until_true 30 ended || say "moves.py did not end"
record unmount umount "$data"
quick dmesg > "$out/dmesg"
say end
