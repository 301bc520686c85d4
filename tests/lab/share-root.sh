#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# share-root.sh SKELETON COMMAND... - for run.sh, inside a private mount namespace: assemble at the
# directory SKELETON the root that a guest sees (this machine's, read-only, plus the mount points a
# guest needs), then become COMMAND. The mounts end with the process.
set -euo pipefail

skeleton=$1; shift

# show PATH: make one entry of / or /mnt appear in the skeleton.
show() {
	local path=$1
	if [ -L "$path" ]; then
		cp -P "$path" "$skeleton$path"
	elif [ -d "$path" ]; then
		mkdir "$skeleton$path"
		mount --rbind "$path" "$skeleton$path"
	fi
}

mount -t tmpfs -o mode=755 vqsteer-lab "$skeleton"
mkdir -p "$skeleton"/{proc,sys,dev,run,out,mnt/data}
shopt -s dotglob
for path in /*; do
	case $path in /proc|/sys|/dev|/run|/out|/mnt) ;; *) show "$path" ;; esac
done
for path in /mnt/*; do
	case $path in /mnt/data|'/mnt/*') ;; *) show "$path" ;; esac
done
findmnt -rno TARGET -R "$skeleton" | while read -r target; do
	target=$(printf '%b' "$target")
	case $target in "$skeleton"|"$skeleton"/*) mount -o remount,bind,ro "$target" ;; esac
done
exec "$@"
