#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh - boot a guest whose root is this machine's, read-only over virtio-fs, run a script in it,
# and come back with its output, its files and its exit status. README.md has examples.
# shellcheck disable=SC2034,SC2317 # settings are used in host-lib.sh; cleanup is called by a trap
set -euo pipefail

usage() {
	cat <<'USAGE'
usage: run.sh [OPTION...] -- SCRIPT [ARG...]       (SCRIPT begins with #!, or is a program)
  --kernel 6.1|6.12|7.3  guest kernel (6.12)
  --cpu MODEL            as QEMU names it (max); `max,-hypervisor` for native spinlocks
  --cpus N  --mem MIB    virtual CPUs (4) and memory (1024)
  --append ARGS          more kernel arguments
  --share DIR            the data share, at /mnt/data in the guest (an empty directory)
  --rw                   mount it writable
  --tag TAG              its tag (data)
  --daemon c|rust|CMD    who serves it (c); in CMD {socket} {share} {tag} stand for these, and
                         {c} {rust} for the programs of the stock daemons; if CMD is more than
                         one command, let it `exec` the daemon
  --root-daemon c|rust|CMD  who serves the guest's root (c), as for --daemon
  --queues N             its request queues (1)
  --queue-size N         entries of each (1024)
  --no-data  --no-mount  no data share at all / there, but not mounted
  --out DIR              receives what the script left in /out, and the lab's logs in DIR/lab
  --env NAME=VALUE       for the script; may be repeated
  --keep DIR             keep a directory below /tmp or /run visible; may be repeated (the lab's
                         checkout, the working directory and the script's directory are)
  --empty-root DIR       no root but an initramfs with busybox and DIR's contents; SCRIPT is copied
  --qmp PATH             QEMU's control socket
  --timeout S            for the script, from its first line on (120): exit status 124
  --retries N            after the emulator's known panic (3)
  -v                     say how long each step took
exit status: the script's; 124 timeout; 125 the lab failed, with the reason on stderr
USAGE
}

here=$(dirname "$(readlink -f "$0")")
cache=${VQSTEER_LAB_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/vqsteer-lab}
kernel=6.12 cpu=max cpus=4 mem=1024 append='' share='' rw=ro tag=data daemon=c
root_daemon=c queues=1 queue_size=1024 mount_data=yes out='' env=() keep=() empty_root='' qmp='' time_limit=120
retries=3 verbose='' work='' accel='' qemu='' reason='' rust_dir='' pumps=()
boot_limit=${VQSTEER_LAB_BOOT_LIMIT:-90} # seconds; a busy machine boots in 20
# shellcheck source=/dev/null
. "$here/host-lib.sh"

parse_options() {
	while [ $# -gt 0 ]; do
		case $1 in
		--rw) rw=rw; shift; continue ;;
		--no-data) tag=''; shift; continue ;;
		--no-mount) mount_data=no; shift; continue ;;
		-v) verbose=yes; shift; continue ;;
		-h|--help) usage; exit 0 ;;
		--) shift; break ;;
		esac
		[ $# -ge 2 ] || { usage >&2; exit 125; }
		case $1 in
		--kernel) kernel=$2 ;;
		--cpu) cpu=$2 ;;
		--cpus) cpus=$2 ;;
		--mem) mem=$2 ;;
		--append) append=$2 ;;
		--share) share=$(readlink -e "$2") || die "no such directory: $2" ;;
		--tag) tag=$2 ;;
		--daemon) daemon=$2 ;;
		--root-daemon) root_daemon=$2 ;;
		--queues) queues=$2 ;;
		--queue-size) queue_size=$2 ;;
		--out) mkdir -p "$2"; out=$(readlink -e "$2") ;;
		--env) env+=("$2") ;;
		--keep) keep+=("$(readlink -e "$2")") || die "no such directory: $2" ;;
		--empty-root) empty_root=$(readlink -e "$2") || die "no such directory: $2" ;;
		--qmp) qmp=$2 ;;
		--timeout) time_limit=$2 ;;
		--retries) retries=$2 ;;
		*) usage >&2; exit 125 ;;
		esac
		shift 2
	done
	[ $# -ge 1 ] || { usage >&2; exit 125; }
	script=$(readlink -e "$1") || die "no such script: $1"
	check_script
	shift
	arguments=("$@")
}

# Without #! the kernel refuses to run it, and the guest's shell would take it for its own language.
check_script() {
	local start=''
	[ -f "$script" ] || die "$script is not a file"
	IFS= read -rn 4 -d '' start < "$script" 2> /dev/null || :
	case $start in
	'#!'*|$'\x7fELF') ;;
	*) die "$script does not say what runs it; begin it with #!/bin/bash" ;;
	esac
}

check_machine() {
	local program
	[ "$(id -u)" = 0 ] || die "must be root: the guest's root is served with root's eyes"
	[ "$(uname -m)" = x86_64 ] || die "only x86-64 machines: guests share this machine's programs"
	for program in qemu-system-x86_64:qemu-system-x86 /usr/lib/qemu/virtiofsd:qemu-system-common \
			busybox:busybox-static cpio:cpio depmod:kmod setpriv:util-linux; do
		command -v "${program%:*}" > /dev/null ||
			die "${program%:*} is missing; install ${program#*:}"
	done
}

# The guest's config: read by guest-init and guest-run.
guest_config() {
	local command=("$script" "${arguments[@]}") setting
	if [ -n "$empty_root" ]; then command[0]=/lab/script; fi
	if [ ! -x "$script" ] && [ -z "$empty_root" ]; then command=(/bin/bash "${command[@]}"); fi
	if [ ! -x "$script" ] && [ -n "$empty_root" ]; then command=(/bin/sh "${command[@]}"); fi
	echo "tag=$(quote "$tag")"
	echo "data_mode=$rw mount_data=$mount_data"
	echo "want_out=$([ -n "$out" ] && echo yes)"
	echo "cwd=$(quote "$PWD")"
	echo "keep_paths=$(quote "$(covered_paths)")"
	echo "run_script() {"
	echo "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp"
	echo "export LANG=C.UTF-8 VQSTEER_LAB=$(quote "$kernel")"
	for setting in "${env[@]}"; do
		echo "export $(quote "${setting%%=*}=${setting#*=}")"
	done
	echo "exec $(quote "${command[@]}")"
	echo "}"
}

# What the guest's own /tmp, /run, ... would cover; the script itself for one directly in /tmp.
covered_paths() {
	local path
	for path in "$(readlink -f "$here/../..")" "$PWD" "$(dirname "$script")" "$script" "${keep[@]}"; do
		case $path in
		*[[:space:]]*) ;;
		/tmp/*|/run/*|/var/tmp/*|/var/log/*) echo "$path" ;;
		esac
	done | sort -u | tr '\n' ' '
}

stop_attempt() {
	stop ${qemu:+"$qemu"}
	stop "${daemons[@]}"
	qemu='' daemons=()
	# The output is ours to the last byte; without QEMU the pipes are at their end.
	[ ${#pumps[@]} -eq 0 ] || wait "${pumps[@]}" 2> /dev/null || :
	pumps=()
}

cleanup() {
	trap - EXIT
	trap '' INT TERM HUP
	[ ${#pumps[@]} -eq 0 ] || kill "${pumps[@]}" 2> /dev/null || :
	stop_attempt
	if [ -n "$work" ]; then
		rm -rf -- "$work"
		# The C virtiofsd locks a file named after the socket's path and leaves it.
		rm -f -- /run/virtiofsd/.*"${work##*/}".*
	fi
}

# What a killed lab could not remove.
sweep() {
	local dir pid
	for dir in "${TMPDIR:-/tmp}"/vqsteer-lab.*; do
		pid=${dir#*/vqsteer-lab.}; pid=${pid%%.*}
		case $pid in ''|*[!0-9]*) continue ;; esac
		if [ ! -d "/proc/$pid" ]; then rm -rf -- "$dir" /run/virtiofsd/.*"${dir##*/}".*; fi
	done
}

status_has() {
	local status
	read -rd '' status < "$work/status" || :
	[[ $'\n'$status == *$'\n'"$1 "* ]]
}
# Kernels patch their own text when probes come and go, and this emulator runs stale bytes of it now
# and then: an int3 of nobody's, or a call to nowhere.
panicked() {
	grep -aqE 'int3: 0000|RIP: 0010:0x0$' "$work/console.log" 2> /dev/null
}

# attempt: one boot. 0 the script ran and $code is its status; 1 $reason; 2 timeout; 3 never started.
attempt() {
	local deadline started=''
	reason=''
	rm -f "$work"/{status,console.log,results,out,err}
	: > "$work/status"; : > "$work/console.log"
	mkfifo "$work/out" "$work/err"
	(bound cat "$work/out") & pumps=($!)
	(bound cat "$work/err") >&2 & pumps+=($!)
	if ! start_daemons; then kill "${pumps[@]}"; return 1; fi
	start_qemu
	deadline=$((SECONDS + boot_limit))
	while kill -0 "$qemu" 2> /dev/null; do
		if [ -z "$started" ] && status_has start; then
			started=yes
			deadline=$((SECONDS + time_limit))
		fi
		if [ $SECONDS -ge $deadline ]; then
			[ -z "$started" ] || return 2
			reason="the guest did not start the script within $boot_limit s"
			return 3
		fi
		pause 0.05
	done
	code=$(sed -n 's/^exit //p' "$work/status")
	[ -z "$code" ] || return 0
	reason=$(sed -n 's/^fail //p' "$work/status")
	[ -n "$reason" ] || reason=$(grep -aom 1 'Kernel panic.*' "$work/console.log" | tr -d '\r')
	[ -n "$reason" ] || reason="the guest ended before the script did"
	return 1
}

run_guest() {
	local try hung=0 result
	for ((try = 0; ; try++)); do
		result=0
		attempt || result=$?
		stop_attempt
		case $result in
		0) return 0 ;;
		2)
			echo "run.sh: the script took more than $time_limit s (--timeout)" >&2
			show_logs
			exit 124
			;;
		esac
		if panicked && [ $try -lt "$retries" ]; then
			echo "run.sh: the emulator's panic in patched text; booting again" >&2
		elif [ $result -eq 3 ] && [ $hung -eq 0 ]; then
			hung=1
			echo "run.sh: $reason; booting again" >&2
		else
			show_logs
			die "$reason"
		fi
	done
}

# The guest's own words first; what daemons say last is often only that the guest was stopped.
show_logs() {
	show_log console "the guest's console"
	show_log qemu "QEMU"
	show_log data "the daemon of share '$tag', up to its end"
	show_log root "the daemon of share 'root', up to its end"
	save_logs
}
show_log() { # NAME WHOSE
	if [ -s "$work/$1.log" ]; then
		echo "--- $2 ($1.log), the last lines" >&2
		tail -n 25 "$work/$1.log" | tr -d '\r' >&2
	elif [ "$1" = console ]; then
		echo "--- $2 ($1.log) is empty" >&2
	fi
}
save_logs() {
	local log
	[ -n "$out" ] || return 0
	mkdir -p "$out/lab"
	for log in console.log qemu.log root.log data.log status; do
		[ ! -e "$work/$log" ] || cp "$work/$log" "$out/lab/"
	done
}

parse_options "$@"
check_machine
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
sweep
work=$(mktemp -d "${TMPDIR:-/tmp}/vqsteer-lab.$$.XXXXXX")
[ -z "$verbose" ] || echo "run.sh: start ${EPOCHREALTIME}" >&2
kernel_dir=$("$here/fetch.sh" "$kernel") || die "no kernel $kernel"
case " $daemon $root_daemon " in
*' rust '*|*'{rust}'*) rust_dir=$("$here/fetch.sh" rust-virtiofsd) || die "no Rust virtiofsd" ;;
esac
if [ -z "$share" ]; then share=$work/share; mkdir "$share"; fi
choose_accelerator
guest_config | make_initramfs "$([ -n "$empty_root" ] && echo empty || echo root)" "$work/initramfs.img"
[ -z "$verbose" ] || echo "run.sh: boot ${EPOCHREALTIME} $accel" >&2
run_guest
[ -z "$verbose" ] || { echo "run.sh: end ${EPOCHREALTIME}"; cat "$work/status"; } >&2
save_logs
if [ -n "$out" ]; then
	tar -C "$out" --no-same-owner -xf "$work/results" || die "what the script left in /out got lost"
fi
exit "$code"
