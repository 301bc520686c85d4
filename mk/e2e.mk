# SPDX-License-Identifier: GPL-2.0-or-later
# Tools that only the end-to-end tests use.

$(BUILD)/e2e/%.bpf.o: tests/e2e/%.bpf.c $(BPF_DEPS)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -D__TARGET_ARCH_$(HOST_ARCH) -c $< -o $@

$(BUILD)/e2e/%.skel.h: $(BUILD)/e2e/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $*_bpf > $@.tmp && mv $@.tmp $@

# Static: in a guest its libraries would be read from the root share again at each start.
$(BUILD)/e2e/load $(BUILD)/e2e/fsx: $(BUILD)/e2e/%: tests/e2e/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -static $< -o $@

$(BUILD)/e2e/hold: tests/e2e/hold.c $(BUILD)/e2e/hold.skel.h
	$(CC) $(ALL_CFLAGS) -I$(BUILD)/e2e $< -o $@ -lbpf -lelf -lz

.PHONY: e2e
E2E ?= # options of tests/e2e/run.sh, such as E2E='--kernels 6.12 --suite stock'

e2e: $(BUILD)/vqsteer $(BUILD)/vqsteer-static $(BUILD)/vqfsd
e2e: $(BUILD)/e2e/hold $(BUILD)/e2e/load $(BUILD)/e2e/fsx
e2e: ## end-to-end tests in guests of three kernels, 12 minutes
	BUILD=$(BUILD) tests/e2e/run.sh $(E2E)

.PHONY: e2e-load
e2e-load: $(BUILD)/vqload $(BUILD)/vqfsd ## vqload against vqfsd and the stock daemons, a minute
	BUILD=$(abspath $(BUILD)) tests/e2e/load_daemons.py
