#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vqsteer top as its user sees it: a driver shows fixtures (top_driver.c) in a terminal that can be
# asked what is on it (tmux). Sizes, keys, screens, colours, signals, and how the terminal is left.
#
# Usage: tests/e2e/top_tmux.sh [BUILD_DIR]      Last line: N passed, N failed, N skipped
set -u

cd "$(dirname "$0")/../.." || exit 1
build=${1:-build}
driver=$build/e2e/top_driver
passed=0 failed=0 skipped=0
work=$(mktemp -d)
server=0
export TMUX_TMPDIR=$work
unset NO_COLOR TMUX

# A server of our own per terminal: one that is still ending would take the next one's session.
tm() { tmux -L "top$server" "$@"; }

finish() {
	tm kill-server 2>/dev/null
	rm -rf "$work"
}
trap finish EXIT

pass() { passed=$((passed + 1)); }

fail() {
	failed=$((failed + 1))
	echo "FAILED: $1"
	tm capture-pane -p -t t 2>/dev/null | sed 's/^/    |/'
}

skip() {
	skipped=$((skipped + 1))
	echo "skipped: $1"
}

# Keys that tmux knows by name (Enter, Escape, PageDown, C-c) or texts.
keys() { tm send-keys -t t "$@"; }
screen() { tm capture-pane -p -t t; }
ask() { tm display-message -p -t t "$1"; }

# until_true SECONDS command...: polls, because drawing takes as long as the machine is busy.
until_true() {
	local end=$((SECONDS + $1))
	shift
	while ! "$@"; do
		[ "$SECONDS" -ge "$end" ] && return 1
		sleep 0.1
	done
}

shows() { screen | grep -qE -e "$1"; }
hides() { ! shows "$1"; }

# see WHAT REGEX: it appears. gone WHAT REGEX: it disappears.
see() { if until_true 10 shows "$2"; then pass; else fail "$1: no /$2/"; fi; }
gone() { if until_true 10 hides "$2"; then pass; else fail "$1: still /$2/"; fi; }
# become WHAT command...: it succeeds after a while.
become() {
	local what=$1

	shift
	if until_true 10 "$@"; then pass; else fail "$what"; fi
}
check() {
	local what=$1

	shift
	if "$@"; then pass; else fail "$what"; fi
}

# A shell in a terminal of the given size; its prompt is '$ '.
start() {
	tm kill-server 2>/dev/null
	server=$((server + 1))
	tm -u -f /dev/null new-session -d -s t -x "$1" -y "$2" \
		"env PS1='\$ ' LANG=C.UTF-8 LC_ALL=C.UTF-8 PATH='$PATH' bash --norc --noprofile -i"
	tm set-option -t t status off >/dev/null
	until_true 10 shows '^\$' || fail "no shell"
}

# run ARGS: the driver, with what the terminal was before and after, and its exit code, in files.
run() {
	rm -f "$work/after"
	keys "clear; stty -g >$work/before; $*; echo \$? >$work/code; stty -g >$work/after" Enter
}

at_top() { see "$1" '^vqsteer top +[0-9]'; }

# The process is gone, with this exit code, and the terminal as it was.
left() {
	local what=$1 code=$2

	until_true 10 test -s "$work/after" || { fail "$what: did not end"; return; }
	check "$what: exit code $(cat "$work/code")" test "$(cat "$work/code")" = "$code"
	check "$what: terminal modes" cmp -s "$work/before" "$work/after"
	check "$what: alternate screen left" test "$(ask '#{alternate_on}')" = 0
	check "$what: cursor visible" test "$(ask '#{cursor_flag}')" = 1
	check "$what: keypad left" test "$(ask '#{keypad_flag}')" = 0
}

pid_of_driver() { pgrep -P "$(ask '#{pane_pid}')" -f top_driver; }
clock() { screen | head -1 | grep -oE '[0-9]{2}:[0-9]{2}:[0-9]{2}'; }
clock_is_not() { [ "$(clock)" != "$1" ]; }

test_list() {
	start 80 24
	run "$driver -i 0.3 guest"
	at_top "list"
	check "alternate screen" test "$(ask '#{alternate_on}')" = 1
	see "header: load" '^load [0-9.]+k? req/s, .* MB/s in, .* in flight, .* errors/s'
	see "header: time" '^time [0-9.]+us a request: device [0-9]+%, input'
	see "header: locks" '^lock waits/s: virtio_fs_vq.lock [0-9.]+k? \([0-9.]+ms\)'
	see "columns" 'TAG +Q +.REQ/S +MB/S +INFL +P50 +P99 +MAX MOST TIME IN +LOCKS$'
	see "hot queue first, selected" '^>data +1 +[0-9.]+k +[0-9.]+ +31 .*device [0-9]+%'
	see "hiprio is not timed" '^ data +0 +[0-9.]+ .* - +- +- -'
	see "second device" '^ home +1 '
	local before
	before=$(clock)
	become "the clock stands still" clock_is_not "$before"
	keys q
	left "q" 0
}

test_sort_and_filter() {
	start 80 24
	run "$driver -i 0.3 guest"
	at_top "sort"
	keys t
	see "sorted by tag" '.TAG +Q +REQ/S'
	check "sorted by tag: first row" test "$(screen | sed -n 7p | cut -c2-6)" = "data "
	keys r
	become "r reverses" eval 'screen | sed -n 7p | grep -q "^.home"'
	keys '>' '>'
	see "> moves right" 'Q +▼REQ/S'
	keys r
	see "reversed numbers rise" '▲REQ/S'
	keys Left
	see "arrow left sorts by the left neighbour" '▼Q'
	keys /
	see "filter prompt" '^/_'
	keys 'home/1'
	see "filter while typing" '^/home/1_'
	gone "filter hides the others" '^.data'
	see "filter keeps its match" '^>home +1'
	keys Enter
	see "filter in the status line" "^filter 'home/1'"
	keys /
	keys 'zzz'
	see "nothing matches" "no queue matches 'home/1zzz'"
	keys Escape
	see "Esc drops the filter" '^.data'
	keys Down Down
	become "selection moves down" eval 'screen | sed -n 9p | grep -q "^>"'
	keys q
	left "after filters" 0
}

test_drill_down() {
	start 80 24
	run "$driver -i 0.3 guest"
	at_top "drill-down"
	# By tag and queue: the order by requests changes from one interval to the next.
	keys t Down Enter
	see "queue named" '^data queue 1 \(requests.0\), 1024 descriptors, virtio3'
	see "in flight beside the kernel's" '31 in flight \(kernel: 32\)'
	see "hop with bar" '^device +[0-9.]+% +█+▌? +[0-9.]+k'
	see "opcodes" '^READ +[0-9.]+%'
	keys PageDown
	see "locks" '^virtio_fs_vq.lock +[0-9.]+%'
	see "connection's lock" '^fuse_conn.bg_lock '
	see "errors by name" '^ENOENT +[0-9.]+'
	see "CPUs" '^CPU 0 +50.0% +CPU 1 +50.0%'
	see "stack of waiters" '^STACK that waited for virtio_fs_vq.lock: [0-9]+ times'
	see "place in the page" '-44/44$'
	keys n
	see "next queue" '^CPU 2 +50.0%'
	keys Home
	see "its name" '^data queue 2 '
	keys Escape
	see "Esc goes back" '^>data +2 '
	see "own cost above the list" '^self [0-9.]+% of one CPU, [0-9]+ns a request, 5.00MiB of BPF'
	keys '*'
	see "own cost" '^virtqueue_add_sgs +fentry +[0-9.]+k +27ns +[0-9.]+% +0$'
	keys '*'
	see "and back" '^ .TAG'
	keys h
	see "help" '^KEYS'
	keys End
	see "help scrolls" '^NUMBERS'
	keys BSpace
	see "Backspace goes back" '^>data +2 '
	keys Home Enter
	see "drilled in again" '^data queue 0 \(hiprio\)'
	see "hiprio is not timed" '^FORGET has no reply'
	keys BSpace
	see "and back" '^>data +0 '
	keys q
	left "after screens" 0
}

test_pause_and_interval() {
	local before

	start 80 24
	run "$driver -i 0.5 guest"
	at_top "pause"
	see "interval" 'every 0.5s'
	keys Space
	see "paused" '\[paused\]$'
	before=$(clock)
	sleep 1.5
	check "nothing moves while paused" test "$(clock)" = "$before"
	keys t
	see "keys work while paused" '▲TAG'
	keys Space
	gone "resumed" 'paused'
	become "resumed, but the clock stands still" clock_is_not "$before"
	keys + +
	see "longer" 'every 2s'
	keys - - -
	see "shorter" 'every 0.2s'
	keys q
	left "after pause" 0
}

test_resize() {
	start 80 24
	run "$driver -i 0.3 guest"
	at_top "resize"
	tm resize-window -t t -x 60 -y 15
	see "60x15: fewer columns" '^ TAG +Q +.REQ/S +P50 +P99 MOST TIME IN +LOCKS$'
	see "60x15: still rows" '^>data +1 '
	keys Enter
	see "60x15: in depth" '^device +[0-9.]+% .*us'
	see "60x15: place" '1-13/44$'
	keys Escape
	tm resize-window -t t -x 120 -y 40
	see "120x40: more columns" 'P50 +P90 +P99 +P99.9 +MAX MOST TIME IN +LOCKS +LWAIT +ERR/S$'
	tm resize-window -t t -x 40 -y 8
	see "40x8: message" '^40x8 is too small,'
	gone "40x8: nothing else" 'data|req/s'
	tm resize-window -t t -x 10 -y 2
	see "10x2: message" '^10x2'
	tm resize-window -t t -x 80 -y 24
	see "80x24 again" '^ TAG .*MB/S'
	see "80x24: rows" '^>data +1 '
	keys q
	left "after resizes" 0
}

test_long_list() {
	start 80 12
	run "$driver -i 0.3 many"
	at_top "64 queues"
	see "64 queues: place" '1-6/64$'
	keys End
	see "64 queues: end" '59-64/64$'
	see "64 queues: last is queue 1" '^>a-tag-of-fu~ +1 '
	keys PageUp
	see "64 queues: page up" '58-63/64$|5[0-9]-[56][0-9]/64$'
	keys q
	left "64 queues" 0
}

test_warnings() {
	start 80 24
	run "$driver -i 0.3 warn"
	at_top "warnings"
	see "requests not followed" '^! not followed: [0-9]+ of [0-9]+ requests \(no slot'
	see "more than fit" '^! 7 more warnings: press !'
	see "a tag cannot steer the terminal" '^>\?\[31mevil\?t~'
	keys '!'
	see "lock rung" '^! lock waits are incomplete, tracepoint misses some'
	see "single queue" 'this kernel uses only the first of 4'
	keys '!'
	see "back" '^ TAG'
	keys q
	left "warnings" 0
	run "$driver idle"
	see "no queue yet" 'no queue has worked yet'
	keys Enter Down / x Enter Escape Enter q
	left "idle" 0
	run "$driver random"
	at_top "random"
	for k in Enter PageDown Escape t Enter End n n p Escape '>' r h End '!' Escape; do
		keys "$k"
		sleep 0.1
	done
	keys q
	left "random" 0
}

test_signals() {
	local sig

	start 80 24
	for sig in TERM INT HUP; do
		run "$driver -i 0.3 guest"
		at_top "SIG$sig"
		kill -$sig "$(pid_of_driver)"
		left "SIG$sig" 0
	done
	run "$driver -i 60 guest"
	see "^C" '^vqsteer top'
	keys C-c
	left "^C" 0
	run "$driver -i 0.3 guest"
	at_top "^S"
	keys C-s
	sleep 0.3
	keys "C-\\"
	see "neither ^S nor ^\\ do anything" '^vqsteer top'
	keys h
	see "neither ^S nor ^\\ do anything: keys work" '^KEYS'
	keys q
	left "^S" 0
	run "$driver -i 0.3 guest"
	at_top "^Z"
	keys C-z
	see "stopped" 'Stopped'
	check "stopped: alternate screen left" test "$(ask '#{alternate_on}')" = 0
	keys "fg" Enter
	see "continued" '^>data'
	keys q
	become "^Z: did not end" shows '^\$$'
	run "$driver -n 2 -i 0.2 guest"
	left "-n 2" 0
	run "$driver -i 0.2 fail"
	left "a snapshot fails" 1
	see "a snapshot fails: message" '^vqsteer: cannot take a snapshot: Input/output error'
}

# Colour says nothing that words and marks do not; without it there is none.
has_color() { tm capture-pane -e -p -t t | grep -qP '\e\[[0-9;]*3[0-7]m'; }
test_color() {
	start 80 24
	run "$driver -i 0.3 warn"
	at_top "colour"
	check "colour" has_color
	keys q
	left "colour" 0
	for how in "$driver -i 0.3 -m warn" "NO_COLOR=1 $driver -i 0.3 warn" \
		"TERM=vt220 $driver -i 0.3 warn"; do
		run "$how"
		at_top "$how"
		see "$how: warnings are marked" '^! not followed'
		see "$how: selection is marked" '^>'
		check "$how: no colour" eval '! has_color'
		keys Enter
		see "$how: bars" '█'
		check "$how: no colour in depth" eval '! has_color'
		keys q
		left "$how" 0
	done
	run "LC_ALL=C $driver -i 0.3 guest"
	at_top "ASCII"
	see "ASCII: mark" 'vREQ/S'
	keys Enter
	see "ASCII: bars" '^device +[0-9.]+% +##'
	keys q
	left "ASCII" 0
}

test_no_terminal() {
	start 80 24
	run "$driver guest | cat; (exit \${PIPESTATUS[0]})"
	left "piped" 2
	see "piped: message" '^vqsteer: cannot show a full screen: standard output is not a terminal'
	run "$driver guest </dev/null"
	left "no input" 2
	run "TERM= $driver guest"
	left "no TERM" 2
	run "TERM=nosuch $driver guest"
	left "unknown TERM" 2
	see "unknown TERM: message" "terminal type 'nosuch' has no terminfo entry"
	run "TERM=dumb $driver guest"
	left "dumb" 2
	see "dumb: message" "terminal type 'dumb' cannot move its cursor"
}

# The static file in a root directory that holds nothing else: no terminfo, no locale, no shell.
test_empty_root() {
	local term

	if [ "$(id -u)" != 0 ]; then
		skip "empty root: needs root"
		return
	fi
	mkdir "$work/root"
	cp "$driver-static" "$work/root/top_driver"
	start 80 24
	for term in tmux-256color screen linux xterm-256color xterm-kitty vt100 vt220; do
		run "env -u TERMINFO TERM=$term chroot $work/root /top_driver -i 0.3 guest"
		at_top "empty root, $term"
		see "empty root, $term" '^>data +1 .*device [0-9]+%'
		keys q
		left "empty root, $term" 0
	done
	run "env -u TERMINFO TERM=nosuch chroot $work/root /top_driver guest"
	left "empty root, unknown TERM" 2
}

if ! command -v tmux >/dev/null; then
	skip "no tmux: apt-get install tmux"
elif ! make -s "BUILD=$build" "$driver" "$driver-static"; then
	fail "cannot build $driver"
else
	test_list
	test_sort_and_filter
	test_drill_down
	test_pause_and_interval
	test_resize
	test_long_list
	test_warnings
	test_signals
	test_color
	test_no_terminal
	test_empty_root
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
