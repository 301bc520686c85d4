# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# host-lib.sh - what run.sh is made of: the accelerator's probe, the initramfs, the daemons, QEMU.
# It works on run.sh's settings ($kernel_dir, $work, $cpus, ...) and owns nothing itself but
# $daemons, the process ids to end.
# shellcheck disable=SC2154,SC2034 # set and used in run.sh

daemons=()

die() { # a failure of the harness, not of the script: 125
	echo "run.sh: $*" >&2
	exit 125
}
# quote WORD...: for a shell to read again.
quote() {
	local word
	for word in "$@"; do printf "'%s' " "${word//\'/\'\\\'\'}"; done
}
# pause SECONDS, without a process: nothing ever comes through this pipe.
exec {silence}<> <(:)
pause() { read -rt "$1" -u "$silence" || :; }
# bound COMMAND...: ends when this shell does, even by SIGKILL.
bound() { exec setpriv --pdeathsig KILL "$@"; }

# make_initramfs MODE FILE: busybox, modules, the guest's half of the lab, and config from stdin.
make_initramfs() {
	local tree
	tree=$(mktemp -d "$work/initramfs.XXXXXX")
	[ -z "$empty_root" ] || [ "$1" != empty ] || cp -a "$empty_root/." "$tree/"
	mkdir -p "$tree/lab"
	cp "$(command -v busybox)" "$tree/lab/busybox"
	cp -r "$kernel_dir/modules" "$tree/lab/"
	cp "$here/guest-init" "$tree/init"
	cp "$here/guest-run" "$tree/lab/"
	[ "$1" != empty ] || cp "$script" "$tree/lab/script"
	{ echo "mode=$1"; cat; } > "$tree/lab/config"
	chmod 755 "$tree/init" "$tree/lab/busybox"
	(cd "$tree" && find . | cpio --quiet -o -H newc -R 0:0) > "$2"
	rm -rf "$tree"
}

# choose_accelerator: sets $accel, to kvm where a guest really boots with it, else tcg. Once per boot
# of this machine: that there is a device says little (nested machines have one that hangs).
choose_accelerator() {
	local verdict_file
	verdict_file=$cache/accel-$(cat /proc/sys/kernel/random/boot_id)
	accel=${VQSTEER_LAB_ACCEL:-$(cat "$verdict_file" 2> /dev/null || :)}
	[ -z "$accel" ] || return 0
	accel=tcg
	if [ -w /dev/kvm ]; then
		make_initramfs probe "$work/probe.img" < /dev/null
		(bound qemu-system-x86_64 -machine q35,accel=kvm -cpu host -m 256 \
			-nodefaults -no-user-config -display none -no-reboot \
			-kernel "$kernel_dir/vmlinuz" -initrd "$work/probe.img" \
			-append 'console=ttyS0 quiet panic=-1' -serial "file:$work/probe.log") \
			> /dev/null 2>&1 < /dev/null &
		qemu=$!
		wait_for 10 "$qemu" || :
		stop "$qemu"
		qemu=
		! grep -qs 'lab: it boots' "$work/probe.log" || accel=kvm
	fi
	rm -f "$cache"/accel-*
	echo "$accel" > "$verdict_file"
}

# start_daemon NAME COMMAND...: the socket is $work/NAME.sock. In its own session: Ctrl-C is for run.sh,
# which ends the guest first.
start_daemon() {
	local name=$1 pid i; shift
	rm -f "$work/$name.sock"
	(bound setsid "$@") > "$work/$name.log" 2>&1 < /dev/null &
	pid=$!
	daemons+=("$pid")
	for ((i = 0; i < 200; i++)); do
		[ ! -S "$work/$name.sock" ] || return 0
		if ! kill -0 "$pid" 2> /dev/null; then
			reason="the daemon of share '$name' ended: $(tail -n 3 "$work/$name.log")"
			return 1
		fi
		pause 0.05
	done
	reason="the daemon of share '$name' made no socket: $(tail -n 3 "$work/$name.log")"
	return 1
}

c_virtiofsd() { # SOCKET SHARE
	# This daemon's thread pool dies of SIGSYS on newer hosts, and namespaces may be missing.
	echo "exec /usr/lib/qemu/virtiofsd -f --thread-pool-size=0 -o sandbox=chroot" \
		"-o log_level=warn --socket-path=$(quote "$1") -o source=$(quote "$2")"
}
rust_virtiofsd() { # SOCKET SHARE
	echo "exec $(quote "$rust_dir/run") --sandbox none --log-level warn" \
		"--socket-path=$(quote "$1") --shared-dir=$(quote "$2")"
}

# daemon_command WHO SOCKET SHARE TAG: what --daemon and --root-daemon mean, for a shell to run.
daemon_command() {
	local command=$1
	case $command in
	c) c_virtiofsd "$2" "$3" ;;
	rust) rust_virtiofsd "$2" "$3" ;;
	*)
		command=${command//'{socket}'/$(quote "$2")}
		command=${command//'{share}'/$(quote "$3")}
		command=${command//'{tag}'/$(quote "$4")}
		command=${command//'{c}'//usr/lib/qemu/virtiofsd}
		command=${command//'{rust}'/$(quote "$rust_dir/run")}
		echo "$command"
		;;
	esac
}

# start_daemons: one for the guest's root, one for the data.
start_daemons() {
	local command
	if [ -z "$empty_root" ]; then
		mkdir -p "$work/root"
		command=$(daemon_command "$root_daemon" "$work/root.sock" "$work/root" root)
		start_daemon root unshare --mount --propagation private "$here/share-root.sh" \
			"$work/root" bash -c "$command" || return 1
	fi
	[ -n "$tag" ] || return 0
	command=$(daemon_command "$daemon" "$work/data.sock" "$share" "$tag")
	start_daemon data bash -c "$command"
}

# start_qemu: in the background, $qemu is its process id.
start_qemu() {
	local args port clock=""
	# All vCPUs of the emulator share one time stamp counter, but the kernel cannot know: without
	# being told, 6.1 falls back to the HPET, whose every read is an exit.
	[ "$accel" = kvm ] || clock=tsc=reliable
	args=(-machine "q35,memory-backend=mem" -cpu "$cpu" -smp "$cpus" -m "$mem"
		-object "memory-backend-memfd,id=mem,size=${mem}M,share=on"
		-nodefaults -no-user-config -display none -no-reboot
		-kernel "$kernel_dir/vmlinuz" -initrd "$work/initramfs.img"
		-append "console=ttyS0 quiet panic=-1 oops=panic $clock $append"
		-serial "file:$work/console.log" -device virtio-serial-pci)
	if [ -n "${VQSTEER_LAB_ICOUNT:-}" ]; then # one instruction is one nanosecond of guest time
		args+=(-accel "tcg,thread=single" -icount "shift=0,sleep=off")
	elif [ "$accel" = kvm ]; then
		args+=(-accel kvm)
	else
		args+=(-accel "tcg,thread=multi")
	fi
	for port in status results out err; do
		args+=(-chardev "file,id=$port,path=$work/$port"
			-device "virtserialport,chardev=$port,name=lab.$port")
	done
	[ -n "$empty_root" ] || args+=(-chardev "socket,id=root,path=$work/root.sock"
		-device "vhost-user-fs-pci,chardev=root,tag=root")
	[ -z "$tag" ] || args+=(-chardev "socket,id=data,path=$work/data.sock"
		-device "vhost-user-fs-pci,chardev=data,tag=$tag,num-request-queues=$queues,queue-size=$queue_size")
	[ -z "$qmp" ] || args+=(-qmp "unix:$qmp,server=on,wait=off")
	(bound setsid qemu-system-x86_64 "${args[@]}") > "$work/qemu.log" 2>&1 < /dev/null &
	qemu=$!
}

# wait_for SECONDS PID...: until they are gone; fails when they are not.
wait_for() {
	local deadline=$((SECONDS + $1)) pid; shift
	for pid in "$@"; do
		while kill -0 "$pid" 2> /dev/null; do
			[ $SECONDS -lt $deadline ] || return 1
			pause 0.02
		done
	done
}

# stop PID...: and what they started; politely, then not.
stop() {
	local groups=("${@/#/-}")
	[ $# -gt 0 ] || return 0
	kill -- "$@" "${groups[@]}" 2> /dev/null || :
	wait_for 2 "$@" || :
	kill -KILL -- "$@" "${groups[@]}" 2> /dev/null || :
	wait "$@" 2> /dev/null || :
}
