# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# suites-vqfsd.sh - guests whose root and data are both served by vqfsd, the data over four request
# queues, which move between workers in the second half. Sourced by run.sh.
# shellcheck disable=SC2154 # $here, $work, $build are run.sh's

# vqfsd_tree DIR: sources to unpack, build and remove: a program of four units, and small files.
vqfsd_tree() {
	local i
	mkdir -p "$1"/docs/{0,1,2,3}
	for i in {1..4}; do
		echo "int unit_$i(int x) { return x * $i + $((i * i)); }" > "$1/unit_$i.c"
		echo "int unit_$i(int x);" >> "$1/units.h"
		echo "	sum += unit_$i($i);" >> "$1/sum"
	done
	{
		printf '#include <stdio.h>\n#include "units.h"\nint main(void)\n{\n\tint sum = 0;\n'
		cat "$1/sum"
		printf '\tprintf("%%d\\n", sum);\n\treturn 0;\n}\n'
	} > "$1/main.c"
	cat > "$1/Makefile" <<-'MAKEFILE'
		program: $(patsubst %.c,%.o,$(wildcard *.c)); gcc -o $@ $^
		%.o: %.c units.h; gcc -c $<
	MAKEFILE
	for i in {1..200}; do
		seq "$i" > "$1/docs/$((i % 4))/$i"
	done
}

# vqfsd_share DIR: what the guest works on, and in DIR.host what comes of it without a guest.
vqfsd_share() {
	local git=(git -C "$1.tree/src" -c user.name=e2e -c user.email=e2e@localhost)
	rm -rf -- "$1" "$1.tree" "$1.host"
	mkdir -p "$1" "$1.tree" "$1.host"
	echo data > "$1/file"
	vqfsd_tree "$1.tree/src"
	tar -C "$1.tree" -cf "$1/src.tar" src
	"${git[@]}" init -q
	"${git[@]}" add units.h Makefile main.c
	"${git[@]}" commit -qm first
	"${git[@]}" add .
	"${git[@]}" commit -qm second
	git clone -q --bare "$1.tree/src" "$1/repository"
	"${git[@]}" rev-parse HEAD > "$1.host/head"
	make -s -C "$1.tree/src" && "$1.tree/src/program" > "$1.host/sum"
	python3 -B "$here/names.py" "$1.host/names" > "$1.host/names.out"
}

suite_vqfsd() {
	local share=$work/vqfsd-$1 vqfsd moves
	vqfsd=$(printf %q "$build/vqfsd")
	moves="setpriv --pdeathsig TERM $(printf %q "$here/moves.py") \$socket.control {share}"
	moves+=" $(printf %q "$work/$1-max-vqfsd/moves.json")"
	vqfsd_share "$share" > "$work/vqfsd-$1.log" 2>&1 || cat "$work/vqfsd-$1.log"
	guest vqfsd "$1" max --share "$share" --rw --queues 4 \
		--root-daemon "exec $vqfsd --socket-path={socket} --shared-dir={share} --readonly" \
		--daemon "socket={socket}; $moves & exec $vqfsd --socket-path=\$socket \
--shared-dir={share} --request-queues=4 --workers=4 --thread-pool-size=4 --xattr \
--allow-direct-io --control=\$socket.control"
}
