# SPDX-License-Identifier: GPL-2.0-or-later
# vqload: the synthetic guest. It needs nothing of BPF but what the shared objects bring.

# Beside what is common: JSON, and the names in it.
VQLOAD_SHARED := userspace/export/build userspace/observe/names

$(BUILD)/vqload: $(VQLOAD_OBJS) $(VIRTQUEUE_OBJS) $(COMMON_OBJS) \
		$(VQLOAD_SHARED:%=$(BUILD)/%.o)
	$(CC) $(ALL_CFLAGS) $^ -o $@ $(LDFLAGS) -ljson-c -lm -lpthread
