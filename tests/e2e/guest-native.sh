#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# guest-native.sh - in a guest whose spinlocks are the native ones, because its processor does not
# say that it is emulated. checks/native.py judges what this records.
set -uo pipefail
# shellcheck source=tests/e2e/guest-lib.sh
. "$(dirname "$0")/guest-lib.sh"

say doctor
record doctor "$vqsteer" doctor --json
stat "$data/file" > "$logs/warm"
watch main
calls 1 100 0 > "$logs/warm"
say sync; sync_jobs
finish main
leftovers end
say end
