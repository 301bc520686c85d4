// SPDX-License-Identifier: GPL-2.0-or-later
#include "vqfsd/engine.h"

#include <errno.h>
#include <string.h>

#include <linux/fuse.h>

#include "common/clock.h"
#include "vqfsd/device.h"
#include "vqfsd/fs.h"
#include "vqfsd/probes.h"

/*
 * Replies are gathered while handlers are quick, so that a guest is called once for several. A
 * handler that took this long is likely to be followed by its like: then replies go at once.
 */
#define QUICK_NS 10000u

const struct fsd_engine fsd_engines[VQS_FSD_ENGINES] = {
	[VQS_FSD_INLINE] = {"inline", fsd_engine_inline},
	[VQS_FSD_POOL] = {"pool", fsd_engine_pool},
	[VQS_FSD_THRESHOLD] = {"threshold", fsd_engine_threshold},
	[VQS_FSD_URING] = {"uring", NULL},
	[VQS_FSD_AUTO] = {"auto", NULL},
};

int fsd_engine_named(const char *name)
{
	for (int i = 0; i < VQS_FSD_ENGINES; i++)
		if (!strcmp(name, fsd_engines[i].name))
			return fsd_engines[i].execute ? i : -EOPNOTSUPP;
	return -EINVAL;
}

/* What waits for a disk by its nature must not hold back replies that are done. */
static bool is_slow(uint32_t opcode)
{
	switch (opcode) {
	case FUSE_FSYNC:
	case FUSE_FSYNCDIR:
	case FUSE_FLUSH:
	case FUSE_SETLKW:
	case FUSE_FALLOCATE:
	case FUSE_COPY_FILE_RANGE:
	case 50: /* SYNCFS */
	case FUSE_DESTROY:
		return true;
	default:
		return false;
	}
}

static void begin(struct fsd_runner *x, const struct fsd_queue *q, uint32_t opcode, uint64_t now)
{
	struct vqs_fsd_thread *t = x->stats;

	fsd_set32(&t->current_queue, q->index);
	fsd_set32(&t->current_opcode, opcode);
	__atomic_store_n(&t->current_ns, now, __ATOMIC_RELEASE);
}

void fsd_run(struct fsd_runner *x, struct fsd_record *r)
{
	struct fsd_queue *q = r->queue;
	const struct vq_chain *c = &r->chain;
	struct fsd_request request = {
		.in = c->iov,
		.nr_in = c->nr_read,
		.in_bytes = c->read_bytes,
		.out = c->iov + c->nr_read,
		.nr_out = c->nr_write,
		.out_bytes = c->write_bytes,
	};
	struct fsd_outcome outcome = {0};
	uint64_t unique = 0, start, ns;
	uint32_t opcode = 0;
	struct fsd_done *d;

	fsd_request_peek(&request, &opcode, &unique);
	if (x->nr_done && (x->queue != q || is_slow(opcode)))
		fsd_run_flush(x);
	start = vqs_now_ns(CLOCK_MONOTONIC);
	begin(x, q, opcode, start);
	FSD_PROBE3(request_start, q->index, opcode, unique);
	d = &x->done[x->nr_done];
	d->used_len = fsd_fs_handle(x->dev->fs, x->thread, &request, &outcome);
	ns = vqs_now_ns(CLOCK_MONOTONIC) - start;
	FSD_PROBE5(request_done, q->index, outcome.opcode, outcome.unique, outcome.error, ns);
	__atomic_store_n(&x->stats->current_ns, 0, __ATOMIC_RELEASE);
	fsd_add(&x->stats->requests, 1);
	d->record = r;
	d->opcode = outcome.opcode;
	d->error = outcome.error;
	d->bytes_in = outcome.bytes_in;
	d->bytes_out = outcome.bytes_out;
	d->handler_ns = ns;
	x->queue = q;
	if (++x->nr_done == FSD_DONE_MAX || ns > QUICK_NS)
		fsd_run_flush(x);
}

void fsd_run_flush(struct fsd_runner *x)
{
	if (x->nr_done)
		fsd_queue_finish(x->queue, x->done, x->nr_done);
	x->nr_done = 0;
}

void fsd_engine_inline(struct fsd_worker *w, struct fsd_queue *q, uint32_t n)
{
	struct fsd_record *r;

	while ((r = fsd_queue_claim(q, w)))
		fsd_run(&w->runner, r);
	fsd_run_flush(&w->runner);
}

/* Claims what is ready for the pool; what it does not take runs here. */
void fsd_engine_pool(struct fsd_worker *w, struct fsd_queue *q, uint32_t n)
{
	struct fsd_record *r[FSD_POP_MAX];
	uint32_t nr = 0;

	while (nr < FSD_POP_MAX && (r[nr] = fsd_queue_claim(q, w)))
		nr++;
	if (fsd_pool_add(&w->dev->pool, r, nr))
		return;
	for (uint32_t i = 0; i < nr; i++)
		fsd_run(&w->runner, r[i]);
	fsd_run_flush(&w->runner);
}

void fsd_engine_threshold(struct fsd_worker *w, struct fsd_queue *q, uint32_t n)
{
	if (n > fsd_get32(&q->threshold))
		fsd_engine_pool(w, q, n);
	else
		fsd_engine_inline(w, q, n);
}
