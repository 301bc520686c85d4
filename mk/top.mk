# SPDX-License-Identifier: GPL-2.0-or-later
# top: the terminal descriptions it carries, for a root file system without a terminfo database,
# and the driver that shows it fixtures in the tests.

# What consoles and the emulators that people sit at call themselves, of those that every Debian
# has (ncurses-base). Others of their families are mapped to these in top_term.c.
TERMINALS := linux xterm xterm-256color screen screen-256color tmux tmux-256color vt100 vt102 \
	vt220 dumb

INFOCMP ?= infocmp

# infocmp -Q2 prints the compiled entry in base64, in the form that ncurses accepts in TERMINFO;
# -0 puts it on one line.
$(BUILD)/terminfo.h: mk/top.mk
	@mkdir -p $(@D)
	@{ printf '/* Made by mk/top.mk: compiled terminfo entries, see terminfo(5), TERMINFO. */\n'; \
	printf 'static const struct {\n\tconst char *name, *entry;\n} terminfo_builtin[] = {\n'; \
	for term in $(TERMINALS); do \
		entry=$$($(INFOCMP) -0 -Q2 $$term | grep -v '^#') && [ -n "$$entry" ] || { \
			echo "no terminfo entry for $$term here: install ncurses-base" >&2; exit 1; }; \
		printf '\t{ "%s", "%s" },\n' "$$term" "$$entry"; \
	done; printf '};\n'; } > $@.tmp && mv $@.tmp $@

$(BUILD)/userspace/cli/top_term.o: $(BUILD)/terminfo.h

# --- the driver of tests/e2e/top_tmux.sh --------------------------------------------------------
TOP_DRIVER_OBJS := $(patsubst %.c,$(BUILD)/%.o,$(filter-out userspace/cli/top.c, \
	$(wildcard userspace/cli/top_*.c)) userspace/cli/render.c userspace/cli/warnings.c \
	userspace/common/hist.c userspace/observe/snapshot.c userspace/observe/names.c)
TOP_FIXTURE := $(wildcard tests/unit/fixture*.[ch])

$(BUILD)/e2e/top_driver: tests/e2e/top_driver.c $(TOP_FIXTURE) $(TOP_DRIVER_OBJS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itests/unit $(filter %.c %.o,$^) -o $@ $(LDFLAGS) $(TUI_LIBS)

# The same in one file, for a root file system with nothing in it.
$(BUILD)/e2e/top_driver-static: tests/e2e/top_driver.c $(TOP_FIXTURE) $(TOP_DRIVER_OBJS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itests/unit -static -Wl,--fatal-warnings $(filter %.c %.o,$^) -o $@ \
		$(LDFLAGS) $(TUI_LIBS)

.PHONY: e2e-top
e2e-top: $(BUILD)/e2e/top_driver $(BUILD)/e2e/top_driver-static ## the live view in tmux
	@tests/e2e/top_tmux.sh $(BUILD)
