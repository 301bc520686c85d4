# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# part-input.sh - a part of guest-tools.sh: what is refused, what cannot be written, and every way
# to end a vqsteer; nothing may stay attached.
# shellcheck disable=SC2154 # of guest-lib.sh

# refused: before anything is attached.
refused() {
	local unprivileged=(setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all)
	record input/not-root "${unprivileged[@]}" "$vqsteer" stat -n 1
	record input/not-root-trace "${unprivileged[@]}" "$vqsteer" trace -n 1
	record input/tag "$vqsteer" stat --tag nowhere -n 1
	record input/queue "$vqsteer" stat --queue 200 -n 1
	record input/queue-value "$vqsteer" stat --queue x
	record input/interval "$vqsteer" stat -i 0
	record input/count "$vqsteer" stat -n -1
	record input/op "$vqsteer" trace --op NOSUCH
	record input/slower "$vqsteer" trace --slower 5parsec
	record input/slots "$vqsteer" stat --slots 100
	record input/rungs "$vqsteer" stat --rungs uprobe
	record input/option "$vqsteer" stat --frobnicate
	record input/command "$vqsteer" frobnicate
	record input/memory "$vqsteer" stat --max-memory 1M -n 1
	record input/btf-missing "$vqsteer" stat --btf "$logs/nowhere" -n 1
	head -c 100000 /dev/urandom > "$logs/garbage"
	record input/btf-garbage "$vqsteer" stat --btf "$logs/garbage" -n 1
	record input/tracepoint-only "$vqsteer" stat --rungs tracepoint -n 1
	leftovers input/refused
}

into() { local file=$1; shift; "$@" > "$file"; }
closed() { "$@" | head -n 1; return "${PIPESTATUS[0]}"; }

# unwritable: nowhere to print to; all at once, because attaching takes long.
unwritable() {
	record input/full into /dev/full "$vqsteer" stat -i 0.2 &
	record input/full-json into /dev/full "$vqsteer" stat --json -i 0.2 &
	record input/closed closed "$vqsteer" stat --json -i 0.2 &
	wait
	leftovers input/unwritable
}

# ended: by each signal, while requests come.
ended() {
	local name jobs
	"$load" 2 0 600 "$data/file" > "$logs/calls" &
	jobs=$!
	launch input/int "$vqsteer" stat -i 0.5
	launch input/term "$vqsteer" stat -i 0.5 --json
	launch input/hup "$vqsteer" trace --json
	launch input/kill "$vqsteer" stat -i 0.5
	for name in int term hup kill; do
		wait_attached "${pid_of[input/$name]}"
	done
	pause 1
	finish input/int INT
	finish input/term TERM
	finish input/hup HUP
	bpf_left > "$out/input/before-kill"
	finish input/kill KILL
	kill "$jobs"
	for name in int term; do bring "input/$name"; done
	leftovers input/ended
}

input() {
	say refused; refused
	say unwritable; unwritable
	say ended; ended
}
