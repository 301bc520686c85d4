# SPDX-License-Identifier: GPL-2.0-or-later
# vqsteer: `make help` lists the targets.

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
DESTDIR ?=

CC ?= gcc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
BUILD ?= build
# SANITIZE=1 builds everything under ASan and UBSan, in a folder of its own.
SANITIZE ?= 0
ifeq ($(SANITIZE),1)
BUILD := build/sanitize
endif

VERSION := 0.1.0

CFLAGS ?= -O2 -g
ALL_CFLAGS := -std=gnu17 -Wall -Wextra -Werror -Wno-unused-parameter $(CFLAGS) -D_GNU_SOURCE \
	-DVQS_VERSION='"$(VERSION)"' -Iinclude -Iuserspace -I$(BUILD)
LIBS := -lbpf -lelf -lz -ljson-c
TUI_LIBS := -lncursesw -ltinfo
ifeq ($(SANITIZE),1)
ALL_CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif

# --- BPF: one object for every kernel, one per architecture -------------------------------------
HOST_ARCH := $(shell uname -m | sed -e 's/x86_64/x86/' -e 's/aarch64/arm64/')
BPF_ARCHES := x86 arm64
BPF_CFLAGS := -O2 -g -std=gnu17 -target bpf -mcpu=v3 -Wall -Wextra -Werror -Wno-unused-parameter \
	-Ivmlinux -Iinclude -Ibpf
BPF_DEPS := $(wildcard bpf/*.bpf.h vmlinux/*.h include/vqsteer/*.h)
BPF_NAMES := $(patsubst bpf/%.bpf.c,%,$(wildcard bpf/*.bpf.c))
SKELS := $(BPF_NAMES:%=$(BUILD)/%.skel.h)

# --- user space ---------------------------------------------------------------------------------
LIB_SRCS := $(wildcard userspace/common/*.c userspace/observe/*.c userspace/export/*.c)
CLI_SRCS := $(wildcard userspace/cli/*.c)
LIB_OBJS := $(LIB_SRCS:%.c=$(BUILD)/%.o)
CLI_OBJS := $(CLI_SRCS:%.c=$(BUILD)/%.o)
COMMON_OBJS := $(filter $(BUILD)/userspace/common/%,$(LIB_OBJS))
# The ring of both sides, the front-end that drives a daemon, the daemon: parts of programs of
# their own.
VIRTQUEUE_OBJS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard userspace/virtqueue/*.c))
VQLOAD_OBJS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard userspace/vqload/*.c))
VQFSD_OBJS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard userspace/vqfsd/*.c))
UNIT_BINS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*/test_*.c))

.PHONY: all help static install uninstall deps demo check unit bench format lint clean bpf-all man

all: $(BUILD)/vqsteer $(BUILD)/vqload $(BUILD)/vqfsd bpf-all man ## build everything

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

bpf-all: $(foreach a,$(BPF_ARCHES),$(BPF_NAMES:%=$(BUILD)/bpf-$(a)/%.bpf.o)) ## BPF objects, every architecture

define bpf_arch
$(BUILD)/bpf-$(1)/%.bpf.o: bpf/%.bpf.c $(BPF_DEPS) Makefile
	@mkdir -p $$(@D)
	$(CLANG) $(BPF_CFLAGS) -D__TARGET_ARCH_$(1) -c $$< -o $$@
endef
$(foreach a,$(BPF_ARCHES),$(eval $(call bpf_arch,$(a))))

# Kept: a skeleton that make removes again would rebuild everything the next time.
.SECONDARY: $(SKELS)

$(BUILD)/%.skel.h: $(BUILD)/bpf-$(HOST_ARCH)/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $*_bpf > $@.tmp && mv $@.tmp $@

$(BUILD)/userspace/%.o: userspace/%.c $(SKELS) Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/vqsteer: $(CLI_OBJS) $(LIB_OBJS)
	$(CC) $(ALL_CFLAGS) $^ -o $@ $(LDFLAGS) $(LIBS) $(TUI_LIBS)

-include $(patsubst %.o,%.d,$(LIB_OBJS) $(CLI_OBJS) $(VIRTQUEUE_OBJS) $(VQLOAD_OBJS) \
	$(VQFSD_OBJS))

clean: ## remove what was built
	rm -rf build

include $(sort $(wildcard mk/*.mk))
