# SPDX-License-Identifier: GPL-2.0-or-later
# vqfsd, the daemon: its own folder, the rings, what is common. Nothing of BPF is in it.

VQFSD_COMMON := $(patsubst %.c,$(BUILD)/%.o,$(wildcard userspace/common/*.c))
VQFSD_LIBS := -ljson-c

$(BUILD)/vqfsd: $(VQFSD_OBJS) $(VIRTQUEUE_OBJS) $(VQFSD_COMMON)
	$(CC) $(ALL_CFLAGS) $^ -o $@ $(LDFLAGS) $(VQFSD_LIBS)
