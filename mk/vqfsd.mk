# SPDX-License-Identifier: GPL-2.0-or-later
# vqfsd, the daemon: its own folder, the rings, what is common. Nothing of BPF is in it.

VQFSD_LIBS := -ljson-c

$(BUILD)/vqfsd: $(VQFSD_OBJS) $(VIRTQUEUE_OBJS) $(COMMON_OBJS)
	$(CC) $(ALL_CFLAGS) $^ -o $@ $(LDFLAGS) $(VQFSD_LIBS)
