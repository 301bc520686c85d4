# SPDX-License-Identifier: GPL-2.0-or-later
# `make static`: all of vqsteer in one file, for a guest that has nothing but a kernel.

# Since elfutils 0.189 libelf.a may want zstd.
STATIC_LIBS := -lbpf -lelf -lz $(if $(wildcard $(shell $(CC) -print-file-name=libzstd.a)),-lzstd) \
	-ljson-c -lncursesw -ltinfo

# Warnings of the linker are errors: glibc warns of functions (getpwnam, getaddrinfo, dlopen) that
# need shared libraries at run time after all.
$(BUILD)/vqsteer-static: $(CLI_OBJS) $(LIB_OBJS)
	$(CC) $(ALL_CFLAGS) -static -Wl,--fatal-warnings $^ -o $@.tmp \
		$(LDFLAGS) $(STATIC_LIBS)
	strip $@.tmp && mv $@.tmp $@

static: $(BUILD)/vqsteer-static ## one file that needs nothing but a kernel
	@printf '%s: %s bytes, static\n' $< $$(stat -c %s $<)
