#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# guest-static.sh - in a guest that has a kernel, busybox and the static vqsteer: no libraries, no
# terminal descriptions, no bpftool. checks/static.py judges what this records.
# shellcheck shell=dash

vqsteer=/vqsteer-static
out=/out
data=/mnt/data

record() { # NAME COMMAND...
	local name=$1 code=0; shift
	"$@" > "$out/$name.out" 2> "$out/$name.err" || code=$?
	echo "$code" > "$out/$name.exit"
}

# traffic: until it is killed.
traffic() {
	local i=0
	while :; do
		stat "$data/f$((i % 64))" "$data/absent$i"
		cat "$data/f$((i % 64))"
		i=$((i + 1))
	done > /dev/null 2>&1
}

# programs: BPF objects that any process holds, and programs that the kernel has compiled. There is
# no bpftool here.
programs() {
	local fd held=0
	for fd in /proc/[0-9]*/fd/*; do
		case $(readlink "$fd" 2> /dev/null) in
		anon_inode:*bpf*) held=$((held + 1)) ;;
		esac
	done
	echo $held
	grep -c bpf_prog_ /proc/kallsyms
}

ls / > "$out/root"
record file ls /usr/share/terminfo /lib/terminfo /etc/terminfo
programs > "$out/programs.before"
traffic &
load=$!
record doctor "$vqsteer" doctor --json
record text "$vqsteer" stat -i 1 -n 2
"$vqsteer" stat --json -i 1 -n 30 > "$out/during.out" 2> "$out/during.err" &
during=$!
record json "$vqsteer" stat --json -i 1 -n 2
programs > "$out/programs.during"
kill -INT "$during"
code=0; wait "$during" || code=$?
echo "$code" > "$out/during.exit"
record top env TERM=xterm "$vqsteer" top
record trace "$vqsteer" trace --json -n 20
kill "$load"
wait "$load"
# They go a moment after their process does.
i=0
while [ "$(programs | tr '\n' ' ')" != "$(tr '\n' ' ' < "$out/programs.before")" ] && [ $i -lt 100 ]; do
	i=$((i + 1))
	usleep 100000
done
programs > "$out/programs.after"
