/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of the transport. */
#ifndef VQLOAD_TRANSPORT_INTERNAL_H
#define VQLOAD_TRANSPORT_INTERNAL_H

#include "vqload/transport.h"

/* transport_message.c */

/* Leaves the text in t->error and returns @err, which is negative. */
int load_fail(struct load_transport *t, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static inline bool load_has(const struct load_transport *t, enum vhu_protocol_feature bit)
{
	return t->protocol & VHU_BIT(bit);
}

/*
 * Sends a request of @m->size bytes and waits for the reply, or for REPLY_ACK where that is
 * negotiated. The reply, if the request has one, is in @m; its descriptor in *reply_fd, which may
 * be NULL where none can come.
 */
int load_ask(struct load_transport *t, struct vhu_msg *m, const int *fds, uint32_t nr_fds,
	     int *reply_fd);

/* Requests of common form. */
int load_set_u64(struct load_transport *t, uint32_t request, uint64_t v);
int load_get_u64(struct load_transport *t, uint32_t request, uint64_t *v);

/* SET_STATUS where it is negotiated, else nothing. */
int load_set_status(struct load_transport *t, uint8_t status);

/* transport_memory.c */
int load_make_memory(struct load_transport *t);
int load_share_memory(struct load_transport *t);
void load_free_memory(struct load_transport *t);

/* transport_queue.c */
int load_make_queues(struct load_transport *t);
int load_share_inflight(struct load_transport *t);
void load_free_queues(struct load_transport *t);

#endif
