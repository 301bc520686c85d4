# SPDX-License-Identifier: GPL-2.0-or-later

.PHONY: demo
demo: deps ## see it work: installs, builds, boots a guest, traces a mixed load
	$(MAKE) $(BUILD)/vqsteer
	tests/lab/demo.sh
