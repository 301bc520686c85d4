#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# demo.sh - `make demo`: boots a stock 6.12 guest over Debian's C virtiofsd, runs a mixed load in
# it, and shows what `vqsteer doctor` and `vqsteer stat` see. Inside the guest it is its own script.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")

say() {
	if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
		printf '\n\033[1m%s\033[0m\n' "$*"
	else
		printf '\n%s\n' "$*"
	fi
}

# --- in the guest ---

random_reads() {
	fio --name=random-reads --directory=/mnt/data --filename=big --rw=randread --bs=4k \
		--direct=1 --ioengine=libaio --iodepth=32 --numjobs=2 --size=32M \
		--runtime=4 --time_based >/dev/null
}

metadata_walk() {
	local end=$((SECONDS + 3))

	while [ "$SECONDS" -lt "$end" ]; do
		echo 2 >/proc/sys/vm/drop_caches # names and inodes: each walk asks again
		find /mnt/data -type f -exec stat -t {} + >/dev/null
	done
}

parallel_readers() {
	fio --name=readers --directory=/mnt/data --filename=big --rw=randread --bs=4k \
		--ioengine=psync --direct=1 --numjobs=8 --size=32M --runtime=4 --time_based >/dev/null
}

in_guest() {
	local vqsteer=$top/build/vqsteer

	say "# vqsteer doctor"
	"$vqsteer" doctor
	say "# vqsteer stat --tag data    (random reads, a metadata walk, 8 readers)"
	"$vqsteer" stat --tag data -i 600 &
	stat=$!
	sleep 2
	random_reads
	metadata_walk
	parallel_readers
	kill -INT "$stat"
	wait "$stat"
}

# --- on the host ---

on_host() {
	share=$(mktemp -d)
	trap 'rm -rf "$share"' EXIT
	head -c 32M /dev/urandom >"$share/big"
	for dir in $(seq 20); do
		mkdir "$share/$dir"
		for file in $(seq 20); do
			echo "$file" >"$share/$dir/$file"
		done
	done
	say "Booting a 6.12 guest with four CPUs; its share is served by the C virtiofsd ..."
	"$here/run.sh" --kernel 6.12 --share "$share" --timeout 120 -- "$here/demo.sh" --in-guest
}

if [ "${1:-}" = --in-guest ]; then
	in_guest
else
	on_host
fi
