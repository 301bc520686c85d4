# SPDX-License-Identifier: GPL-2.0-or-later
# vqfsd, the daemon: its own program, from its folder, the rings and what is common.

VQFSD_LIBS := -ljson-c

$(BUILD)/vqfsd: $(VQFSD_OBJS) $(VIRTQUEUE_OBJS) $(LIB_OBJS)
	$(CC) $(ALL_CFLAGS) $^ -o $@ $(LDFLAGS) $(VQFSD_LIBS) $(LIBS)
