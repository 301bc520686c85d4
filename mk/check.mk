# SPDX-License-Identifier: GPL-2.0-or-later

.PHONY: check
check: ## every test; the last line counts them
	@tests/check.sh
