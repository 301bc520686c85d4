#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# guest-tools.sh - in a guest over a stock daemon: vqsteer attached at bad moments, `vqsteer trace`,
# bad input and every way to end. One virtual CPU: attaching so often beside traffic, the emulator
# with more of them panics in one boot of two ("int3", see tests/lab/README.md).
# checks/tools.py judges what this records.
set -uo pipefail
# shellcheck source=tests/e2e/guest-lib.sh
. "$(dirname "$0")/guest-lib.sh"

stat "$data/file" "$data/dir" > "$logs/warm"
"$here/sequence.py" "$data"
: > "$data/written"
for part in attach trace input; do
	say "part $part"
	# shellcheck source=/dev/null
	. "$here/part-$part.sh"
	"$part"
done
say end
