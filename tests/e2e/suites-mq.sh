# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# suites-mq.sh - guests over the multiqueue test device, whose own log is what vqsteer is held
# against, and a guest that has nothing but a kernel and the static vqsteer. Sourced by run.sh.
# shellcheck disable=SC2154 # $here, $work, $build are run.sh's

# mq_daemon DIR: mqfsd, which logs into DIR. One boot has every misbehaviour, each on operations of
# its own. GETATTRs take 3 ms, so that what the emulator adds is small beside it. FSYNCs are held
# until the guest's script says so in its output, and take some seconds from then on.
mq_daemon() {
	local dir mqfsd
	dir=$(printf %q "$1") mqfsd=$(printf %q "$(readlink -f "$here/../lab/mqfsd.py")")
	echo "tail -n 0 -F $dir/guest.log 2> /dev/null | while read -r line; do" \
		"[ \"\$line\" != 'mq: release' ] || kill -USR1 \$\$; done &" \
		"exec $mqfsd --socket {socket} --queues 4 --max-background 2 --log $dir/device.log" \
		"--delay-us 3000:GETATTR --delay-us 2000:READ --delay-us 5000:WRITE" \
		"--hold FSYNC --delay-us 6000000:FSYNC --error STATFS=EIO/7"
}

suite_mq() {
	guest mq "$1" max --no-mount --rw --queues 4 --queue-size 16 \
		--daemon "$(mq_daemon "$work/$1-max-mq")"
}

suite_static() {
	local root=$work/static-root
	[ "$1" = 6.12 ] || return 0 # it is the file that is tested, not the kernel
	mkdir -p "$root"
	cp "$build/vqsteer-static" "$root/"
	guest static "$1" max --empty-root "$root" --rw --queues 4 \
		--daemon "$(printf %q "$(readlink -f "$here/../lab/mqfsd.py")") --socket {socket} --queues 4"
}
