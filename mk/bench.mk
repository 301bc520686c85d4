# SPDX-License-Identifier: GPL-2.0-or-later
# `make bench`: what tracing costs. Results go by hand into docs/performance.md, with their date.

BENCH_CFLAGS := -Wno-unused-variable -Wno-unused-but-set-variable -Wno-unused-function \
	-Wno-int-conversion

$(BUILD)/bench/bodies.bpf.o: tests/bench/bodies.bpf.c $(BPF_DEPS)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) $(BENCH_CFLAGS) -D__TARGET_ARCH_$(HOST_ARCH) -c $< -o $@

$(BUILD)/bench/bodies.skel.h: $(BUILD)/bench/bodies.bpf.o
	$(BPFTOOL) gen skeleton $< name bodies_bpf > $@.tmp && mv $@.tmp $@

$(BUILD)/bench/bodies: tests/bench/bodies.c $(BUILD)/bench/bodies.skel.h
	$(CC) $(ALL_CFLAGS) -I$(BUILD)/bench $< -o $@ -lbpf -lelf -lz

$(BUILD)/bench/spin: tests/bench/spin.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $< -o $@ -lpthread

.PHONY: bench bench-bodies bench-instructions bench-overhead
bench-bodies: $(BUILD)/bench/bodies ## native cost of each BPF program's body, in ns
	$<

bench-instructions: $(BUILD)/vqsteer $(BUILD)/e2e/load ## instructions that a request costs a guest
	tests/bench/instructions.py

BENCH_ROUNDS ?= 16
bench-overhead: $(BUILD)/vqsteer $(BUILD)/bench/spin $(BUILD)/e2e/load ## throughput lost in a guest
	tests/bench/overhead.py --rounds $(BENCH_ROUNDS)

.PHONY: bench-load bench-daemons
bench-load: $(BUILD)/vqload ## what vqload itself costs per request, by its null responder
	$(BUILD)/vqload null

DAEMON_ROUNDS ?= 5
bench-daemons: $(BUILD)/vqload $(BUILD)/vqfsd ## vqfsd and the stock daemons beside each other
	tests/bench/compare_daemons.py --rounds $(DAEMON_ROUNDS)

bench: bench-bodies bench-instructions bench-overhead bench-load bench-daemons ## what tracing costs: the figures of docs/performance.md
