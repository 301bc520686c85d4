# SPDX-License-Identifier: GPL-2.0-or-later
# vqload: the synthetic guest. It needs nothing of BPF but what the shared objects bring.

# Of the shared code what vqload uses: JSON, histograms, texts, and the names in JSON.
VQLOAD_SHARED := userspace/common/hist userspace/common/prose userspace/common/words \
	userspace/common/command userspace/common/command_text userspace/export/build \
	userspace/observe/names

$(BUILD)/vqload: $(VQLOAD_OBJS) $(VIRTQUEUE_OBJS) $(VQLOAD_SHARED:%=$(BUILD)/%.o)
	$(CC) $(ALL_CFLAGS) $^ -o $@ $(LDFLAGS) -ljson-c -lm -lpthread
