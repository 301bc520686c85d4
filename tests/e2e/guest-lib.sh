# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# guest-lib.sh - what the suites inside a guest are made of: run vqsteer in the background, take a
# snapshot at a moment that is known to be quiet, run a command and keep all it said. Everything is
# recorded below /out; nothing is judged here: checks/ does that on the host, from the records.
# shellcheck disable=SC2034 # some are for the suites

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
build=${E2E_BUILD:?}
vqsteer=$build/vqsteer
data=/mnt/data
out=/out
logs=/tmp/e2e # what a suite need not bring home
mkdir -p "$logs"

# pause SECONDS, without a process: nothing ever comes through this pipe.
exec {silence}<> <(:)
pause() { read -rt "$1" -u "$silence" || :; }

# quick COMMAND...: busybox's, from memory: a program on the root share is read from the host again
# each time it runs, which takes long and is traffic.
cp "$(command -v busybox)" "$logs/busybox"
quick() { "$logs/busybox" "$@"; }
load=$logs/load
cp "$build/e2e/load" "$load"

say() { echo "# [$(quick cut -d' ' -f1 /proc/uptime)] $*"; }

# until LIMIT COMMAND...: again and again until it succeeds; fails after LIMIT seconds.
until_true() {
	local deadline=$((SECONDS + $1)); shift
	until "$@"; do
		[ $SECONDS -lt $deadline ] || return 1
		pause 0.1
	done
}

# attached PID: vqsteer gives its capabilities up when, and only when, everything is attached.
attached() {
	local key value
	while read -r key value; do
		[ "$key $value" != 'CapEff: 0000000000000000' ] || return 0
	done 2> /dev/null < "/proc/$1/status"
	[ ! -d "/proc/$1" ] # it ended: no reason to wait
}
wait_attached() { until_true 300 attached "$1"; }

# room NAME: the folder of a record.
room() {
	[[ $1 != */* ]] || [ -d "$out/${1%/*}" ] || quick mkdir -p "$out/${1%/*}"
}

# record NAME COMMAND...: runs it; its output, its messages and its exit status become records.
record() {
	local name=$1 code=0; shift
	room "$name"
	"$@" > "$out/$name.out" 2> "$out/$name.err" || code=$?
	echo "$code" > "$out/$name.exit"
}

# --- vqsteer in the background ---

declare -A pid_of

# launch NAME COMMAND...: record it in the background.
launch() {
	local name=$1; shift
	room "$name"
	"$@" > "$logs/${name//\//.}.out" 2> "$out/$name.err" &
	pid_of[$name]=$!
}

# start NAME COMMAND...: and wait until it is attached or ended.
start() {
	launch "$@"
	wait_attached "${pid_of[$1]}"
}

# finish NAME [SIGNAL]: end it and record its exit status. Its output stays out of /out: `bring` it.
finish() {
	local name=$1 code=0
	kill "-${2:-INT}" "${pid_of[$name]}" 2> /dev/null || :
	wait "${pid_of[$name]}" || code=$?
	echo "$code" > "$out/$name.exit"
	unset "pid_of[$name]"
}
bring() { quick cp "$logs/${1//\//.}.out" "$out/$1.out"; }

# --- snapshots ---

# watch NAME [OPTION...]: `vqsteer stat --json` in the background, for snap.
watch() {
	local name=$1; shift
	start "$name" "$vqsteer" stat --json -i 0.2 "$@"
}

lines_of() { quick wc -l < "$1"; }
has_lines() { [ "$(lines_of "$1")" -ge "$2" ]; }

# snap NAME FILE: what watch NAME counted, read entirely after this moment: the line that is being
# written now may have been read before, the one after it cannot.
snap() {
	local file=$logs/${1//\//.}.out want
	want=$(($(lines_of "$file") + 2))
	until_true 120 has_lines "$file" "$want" || return 1
	room "$2"
	quick sed -n "${want}p" "$file" > "$out/$2.json"
}

# --- loads ---

# calls JOBS COUNT SECONDS: GETATTRs on the data device; what was called goes to standard output.
calls() { "$load" "$1" "$2" "$3" "$data/file"; }

# aio SECONDS JOBS: asynchronous random reads, 4 KiB, 32 deep; fio's figures as JSON.
aio_jobs=(fio --name=aio --filename="$data/big" --size=64M --direct=1 --rw=randread --bs=4k
	--ioengine=libaio --iodepth=32 --thread --group_reporting --time_based
	--output-format=json)
aio() { "${aio_jobs[@]}" --runtime="$1" --numjobs="$2"; }

# sync_jobs: eight jobs on four CPUs; again, at most twice, until the rarest of the locks was seen.
sync_jobs() {
	local round
	snap main sync.0
	for round in 1 2 3; do
		calls 8 0 4 > "$out/sync.calls.$round"
		snap main sync.1
		! python3 -B "$here/checks/waited.py" "$out"/sync.[01].json || break
	done
}

# missing COUNT: so many LOOKUPs on the data device that fail with ENOENT; names are new each time.
missed=0
missing() {
	local i
	for ((i = 0; i < $1; i++)); do
		missed=$((missed + 1))
		[ ! -e "$data/missing$missed" ] || say "missing$missed is there"
	done
}

# hold_on US: from now on virtio_fs_vq.lock is held so long at each submit to the data device.
hold_on() {
	local device
	device=$(quick grep -l virtiofs /sys/bus/virtio/devices/*/uevent | quick tail -n 1)
	device=${device%/uevent} device=${device##*/virtio}
	: > "$logs/hold"
	exec {holding}> >("$build/e2e/hold" "$device" "$1" > "$logs/hold")
	until_true 60 has_lines "$logs/hold" 1 # "ready"
}
# hold_off FILE: which receives how often and how long it really was held.
hold_off() {
	exec {holding}>&-
	until_true 60 has_lines "$logs/hold" 2
	quick tail -n 1 "$logs/hold" > "$1"
}

# --- leaving nothing behind ---

# bpf_left: BPF programs and links of anybody. They go a moment after their process does.
bpf_left() {
	bpftool -j prog list
	bpftool -j link list
}
nothing_left() { [ "$(bpf_left)" = $'[]\n[]' ]; }
# leftovers NAME: records what is still there after at most 10 s.
leftovers() {
	room "$1"
	until_true 10 nothing_left || :
	bpf_left > "$out/$1.left"
}

# --- about this guest ---

describe() {
	uname -r > "$out/release"
	nproc > "$out/cpus"
	cat /sys/devices/system/clocksource/clocksource0/available_clocksource > "$out/clock"
	grep virtiofs /proc/mounts > "$out/mounts" || :
}
describe
