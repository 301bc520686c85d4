# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# suites.sh - how each suite's guest is made: its share, its daemon, its queues. suite_NAME KERNEL
# calls guest() of run.sh.
# shellcheck disable=SC2154 # $work is run.sh's

# new_share DIR: what the guests' loads work on.
new_share() {
	rm -rf -- "$1"
	mkdir -p "$1/dir"
	echo data > "$1/file"
	touch "$1"/dir/{a,bb,ccc}
	truncate -s 64M "$1/big"
}

# QEMU's C virtiofsd, letting the guest cache names and attributes for good: then the requests that
# a sequence of system calls makes do not depend on how long it takes.
c_cached="exec {c} -f --thread-pool-size=0 -o sandbox=chroot -o log_level=warn -o cache=always \
--socket-path={socket} -o source={share}"

suite_stock() {
	new_share "$work/share-$1"
	guest stock "$1" max --share "$work/share-$1" --rw --daemon "$c_cached"
}

suite_native() {
	new_share "$work/share-$1"
	guest native "$1" native --share "$work/share-$1" --rw --daemon "$c_cached"
}

suite_tools() {
	new_share "$work/share-$1"
	guest tools "$1" max --cpus 1 --share "$work/share-$1" --rw --daemon "$c_cached"
}
