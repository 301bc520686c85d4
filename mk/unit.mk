# SPDX-License-Identifier: GPL-2.0-or-later
# Unit tests (cmocka) and fuzzing. Both run under ASan and UBSan, in build folders of their own.

.PHONY: unit unit-run fuzz-short fuzz-run

# An archive, so that a test takes from it what it uses, and may bring stand-ins for the rest.
TEST_LIB := $(BUILD)/libvqsteer.a
FIXTURES := $(wildcard tests/unit/*.c)
# test_%.c may have helpers beside it, called %_*.c of the same folder, and headers. What gcc says of
# headers is of the last source only, where one command compiles several.
TEST_HEADERS := $(wildcard tests/unit/*.h tests/unit/*/*.h)
UNIT_SRCS := $(wildcard tests/unit/*/test_*.c)

$(TEST_LIB): $(filter-out %/main.o,$(CLI_OBJS) $(VQLOAD_OBJS) $(VQFSD_OBJS)) $(LIB_OBJS) $(VIRTQUEUE_OBJS)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/unit/%: tests/unit/%.c $(FIXTURES) $(TEST_HEADERS) $(TEST_LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itests/unit -Itests -MMD -MP -MF $@.d -MT $@ $(filter %.c,$^) \
		$(TEST_LIB) -o $@ $(LDFLAGS) -lcmocka $(LIBS) $(TUI_LIBS) -lm

-include $(UNIT_BINS:%=%.d)

unit: ## unit tests under ASan and UBSan; VQS_SEED=N repeats a random one
	+@$(MAKE) --no-print-directory SANITIZE=1 unit-run

unit-run: $(UNIT_BINS)
	@for t in $(UNIT_BINS); do \
		echo "== $$t"; $$t || { echo "$$t failed" >&2; exit 1; }; \
	done

# --- fuzzing ------------------------------------------------------------------------------------
# libFuzzer comes with clang's runtime; without it fuzz-short says so and passes.
FUZZ_SECONDS ?= 10
FUZZ_SRCS := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_BINS := $(FUZZ_SRCS:tests/fuzz/%.c=$(BUILD)/fuzz/%)
# gcc is the compiler of record; what else clang warns of is not to stop fuzzing.
FUZZ_FLAGS := -O1 -g -Wno-error -fsanitize=address,undefined -fno-sanitize-recover=undefined

$(BUILD)/fuzz/%: tests/fuzz/%.c $(FIXTURES) $(TEST_LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -Itests/unit -MMD -MP -MF $@.d -MT $@ \
		$(filter %.c,$^) $(TEST_LIB) -o $@ $(LDFLAGS) $(LIBS) $(TUI_LIBS) -lm

-include $(FUZZ_BINS:%=%.d)

fuzz-short: ## each fuzzer for FUZZ_SECONDS
	@if ! echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
		$(CLANG) -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null; then \
		echo "skipped: clang has no libFuzzer here (make deps installs libclang-rt-dev)"; \
	else \
		$(MAKE) --no-print-directory BUILD=build/fuzz CC=$(CLANG) \
			CFLAGS="$(FUZZ_FLAGS) -fsanitize=fuzzer-no-link" fuzz-run; \
	fi

# What a fuzzer finds stays in build/fuzz/corpus and is tried first next time. libFuzzer talks much:
# its words are shown only when it found something.
fuzz-run: $(FUZZ_BINS)
	@for f in $(FUZZ_BINS); do \
		corpus=$(BUILD)/corpus/$$(basename $$f); seeds=tests/fuzz/$$(basename $$f).seeds; \
		mkdir -p $$corpus; [ -d $$seeds ] || seeds=; \
		$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -verbosity=0 -print_final_stats=1 \
			-artifact_prefix=$(BUILD)/ $$corpus $$seeds > $$f.log 2>&1 || { \
			cat $$f.log; echo "$$f failed; see $$f.log" >&2; exit 1; }; \
		echo "$$f: $$(sed -n 's/.*executed_units: *//p' $$f.log) inputs"; \
	done
