// SPDX-License-Identifier: GPL-2.0-or-later
/* From the command line's options to a mounted device, and what errors on the way mean. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vqload/run.h"

/* Which exit code an error is, wherever it came up. */
static enum load_exit exit_of(const struct load_device *d, int err)
{
	switch (err) {
	case 0:
		return LOAD_EXIT_CLEAN;
	case -ETIMEDOUT:
		return LOAD_EXIT_TIMEOUT;
	case -ECONNRESET:
	case -EPIPE:
		return d->transport.nr_queues || d->connected ? LOAD_EXIT_CLOSED
							      : LOAD_EXIT_CONNECT;
	case -ENOSPC:
		return d->connected ? LOAD_EXIT_FAILED : LOAD_EXIT_LACKS;
	case -EREMOTEIO:
	case -EOPNOTSUPP:
		return LOAD_EXIT_LACKS;
	case -EPROTO:
	case -EBADMSG:
	case -EIO:
		return d->connected ? LOAD_EXIT_FAULTS : LOAD_EXIT_CONNECT;
	case -EINVAL:
		return d->connected ? LOAD_EXIT_FAILED : LOAD_EXIT_USAGE;
	default:
		return d->connected ? LOAD_EXIT_FAILED : LOAD_EXIT_CONNECT;
	}
}

/* What stock daemons are known to do when they are given several request queues. */
static const char *known(const struct load_device *d, enum load_exit code)
{
	if (d->transport.nr_queues <= 2 || d->session.started)
		return "";
	if (code == LOAD_EXIT_TIMEOUT)
		return " (the Rust virtiofsd is known to hang with more than one request queue; "
		       "try --request-queues 1)";
	if (code == LOAD_EXIT_CLOSED)
		return " (QEMU's virtiofsd is known to exit when it is given more than one request "
		       "queue; try --request-queues 1)";
	return "";
}

enum load_exit load_device_exit(struct load_device *d, int err, const char *text)
{
	enum load_exit code = exit_of(d, err);

	d->err = err;
	snprintf(d->error, sizeof(d->error), "%s%s", text, known(d, code));
	return code;
}

enum load_exit load_device_connect(struct load_device *d, const struct load_device_options *o)
{
	struct load_options t = LOAD_OPTIONS_DEFAULT;
	int err;

	*d = (struct load_device){.opts = *o};
	t.socket = o->socket;
	t.request_queues = o->request_queues;
	t.queue_size = o->queue_size;
	t.regions = o->regions;
	t.adjacent = o->adjacent;
	t.wait_for_socket = o->wait;
	t.timeout_ms = (uint32_t)(o->timeout_ns / 1000000);
	t.features_off = o->features_off;
	load_init(&d->transport, &t);
	err = load_connect(&d->transport);
	if (err)
		return load_device_exit(d, err, d->transport.error);
	d->connected = true;
	return LOAD_EXIT_CLEAN;
}

/* Guest memory is not taken before it is touched: what would not fit is to be refused before. */
static bool fits(uint64_t bytes)
{
	return bytes < (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
}

enum load_exit load_device_start(struct load_device *d, uint64_t region_bytes)
{
	uint64_t bytes = region_bytes * d->transport.opts.regions;
	char text[160];
	int err;

	if (region_bytes > UINT64_MAX / LOAD_REGIONS_MAX || !fits(bytes)) {
		snprintf(text, sizeof(text),
			 "guest memory of %llu MiB is more than half of this machine's; lower "
			 "iodepth, bs, --queue-size or --request-queues",
			 (unsigned long long)(bytes >> 20));
		return load_device_exit(d, -ENOMEM, text);
	}
	d->transport.opts.region_bytes = region_bytes;
	err = load_start(&d->transport);
	return err ? load_device_exit(d, err, d->transport.error) : LOAD_EXIT_CLEAN;
}

enum load_exit load_device_mount(struct load_device *d, struct load_engine *e)
{
	int err;

	d->engine = e;
	err = load_session_start(&d->session, e);
	return err ? load_device_exit(d, err, d->session.error) : LOAD_EXIT_CLEAN;
}

static enum load_exit make_engine(struct load_device *d, uint32_t in_bytes, uint32_t slots,
				  uint32_t data_bytes)
{
	struct load_engine_options o = LOAD_ENGINE_OPTIONS_DEFAULT;
	uint32_t size = d->transport.opts.queue_size;
	int err = 0;

	o.in_bytes = in_bytes;
	o.poll = d->opts.poll;
	o.guard_all = d->opts.guard_all;
	o.silence_ns = d->opts.timeout_ns;
	o.details = d->opts.details;
	o.pid = (uint32_t)getpid();
	d->engine = load_engine_new(&d->transport, &o);
	if (!d->engine)
		return load_device_exit(d, -ENOMEM, "no memory for the engine");
	for (uint32_t q = 0; !err && q < d->transport.nr_queues; q++)
		err = q ? load_engine_add_queue(d->engine, q, slots, data_bytes)
			: load_engine_add_queue(d->engine, 0, load_hiprio_slots(size), 0);
	return err ? load_device_exit(d, err, load_engine_error(d->engine)) : LOAD_EXIT_CLEAN;
}

enum load_exit load_device_open(struct load_device *d, const struct load_device_options *o,
				uint32_t in_bytes, uint32_t slots, uint32_t data_bytes)
{
	enum load_exit code = load_device_connect(d, o);

	if (!code)
		code = load_device_start(
			d,
			load_engine_region_bytes(
				&d->transport.opts, in_bytes, d->transport.nr_queues,
				slots > LOAD_HIPRIO_SLOTS ? slots : LOAD_HIPRIO_SLOTS, data_bytes));
	if (!code)
		code = make_engine(d, in_bytes, slots, data_bytes);
	return code ? code : load_device_mount(d, d->engine);
}

void load_device_close(struct load_device *d)
{
	bool alive = d->engine && !load_engine_status(d->engine);

	if (alive) {
		load_session_stop(&d->session);
		alive = !load_engine_status(d->engine);
	} else {
		load_session_free(&d->session);
	}
	if (alive && d->transport.queue)
		load_stop(&d->transport);
	load_engine_free(d->engine);
	d->engine = NULL;
	load_destroy(&d->transport);
}
