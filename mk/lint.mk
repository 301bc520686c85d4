# SPDX-License-Identifier: GPL-2.0-or-later
# Style rules that are executable.

.PHONY: format lint

CLANG_FORMAT ?= clang-format
C_FILES = $(shell git ls-files '*.c' '*.h')
SHELL_FILES = $(shell git ls-files | xargs grep -lE '^\#!.*\b(sh|bash|busybox sh)\b' 2>/dev/null)

format: ## format the code as .clang-format says
	$(CLANG_FORMAT) -i $(C_FILES)

# cppcheck does not know __attribute__((cleanup)): leaks are what ASan's leak check is for.
CPPCHECK_FLAGS := --quiet --std=c11 --language=c --error-exitcode=1 --inline-suppr \
	--enable=warning,portability --suppress=missingIncludeSystem --suppress=unknownMacro \
	--suppress=memleak --suppress=resourceLeak -D__GNUC__ -D_GNU_SOURCE \
	-DVQS_VERSION='"x"' -Iinclude -Iuserspace

lint: man ## clang-format, cppcheck, shellcheck, mandoc
	$(CLANG_FORMAT) --dry-run -Werror $(C_FILES)
	cppcheck $(CPPCHECK_FLAGS) userspace
	shellcheck -x $(SHELL_FILES) $(BUILD)/vqsteer.bash $(BUILD)/vqload.bash
	@# Pages that are not installed yet are no mistake of the text.
	@out=$$(mandoc -T lint -W style $(BUILD)/man/*.[15] 2>&1 | \
		grep -v -e 'referenced manual not found' -e 'outdated mandoc.db'); \
	if [ -n "$$out" ]; then echo "$$out"; exit 1; fi
