// SPDX-License-Identifier: GPL-2.0-or-later
/* The connection: who is there, what both sides can do, in which order it is said. */
#include "vqload/transport_internal.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <linux/virtio_fs.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/cleanup.h"

/* What this front-end can do. */
#define PROTOCOL                                                                              \
	(VHU_BIT(VHU_PROTOCOL_F_MQ) | VHU_BIT(VHU_PROTOCOL_F_REPLY_ACK) |                     \
	 VHU_BIT(VHU_PROTOCOL_F_CONFIG) | VHU_BIT(VHU_PROTOCOL_F_INFLIGHT_SHMFD) |            \
	 VHU_BIT(VHU_PROTOCOL_F_CONFIGURE_MEM_SLOTS) | VHU_BIT(VHU_PROTOCOL_F_RESET_DEVICE) | \
	 VHU_BIT(VHU_PROTOCOL_F_STATUS))

/* Above what a guest has; far below where sums of addresses pass 2^64. */
#define REGION_BYTES_MAX (1ULL << 40)

#define STATUS_DRIVER (VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER)

void load_init(struct load_transport *t, const struct load_options *o)
{
	memset(t, 0, sizeof(*t));
	t->opts = *o;
	if (!t->opts.table_max)
		t->opts.table_max = o->queue_size < 1024 ? o->queue_size : 1024;
	t->sock = -1;
	t->inflight_fd = -1;
}

void load_disconnect(struct load_transport *t)
{
	vqs_closep(&t->sock);
	t->sock = -1;
	for (uint32_t i = 0; t->queue && i < t->nr_queues; i++)
		t->queue[i].started = false;
	for (uint32_t i = 0; i < t->nr_regions; i++)
		t->region[i].shared = false;
}

void load_destroy(struct load_transport *t)
{
	load_disconnect(t);
	load_free_queues(t);
	load_free_memory(t);
	vqs_closep(&t->inflight_fd);
	t->inflight_fd = -1;
}

/* --- connecting ------------------------------------------------------------------------------ */

int load_dial(const char *path)
{
	_cleanup_close_ int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	if (sock < 0)
		return -errno;
	if (strlen(path) >= sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	strcpy(sa.sun_path, path);
	if (connect(sock, (struct sockaddr *)&sa, sizeof(sa)))
		return -errno;
	return TAKE_FD(sock);
}

/* A full backlog is worth waiting for (connect() says EAGAIN at once); an absent daemon if asked.
 */
static bool may_come(int err, bool wait)
{
	return err == -EAGAIN || (wait && (err == -ENOENT || err == -ECONNREFUSED));
}

static int open_socket(struct load_transport *t, bool wait)
{
	int64_t deadline = vhu_deadline(t->opts.timeout_ms);
	struct ucred peer;
	socklen_t len = sizeof(peer);
	int sock;

	if (t->sock >= 0)
		return load_fail(t, -EISCONN, "daemon at %s: connected already", t->opts.socket);
	while (sock = load_dial(t->opts.socket), may_come(sock, wait) && vhu_deadline(0) < deadline)
		poll(NULL, 0, 2);
	if (sock == -ECONNREFUSED)
		return load_fail(t, sock,
				 "cannot connect to %s: nobody listens; is the daemon running, and "
				 "does it serve one connection only?",
				 t->opts.socket);
	if (sock < 0)
		return load_fail(t, sock,
				 "cannot connect to %s: %s; name the daemon's vhost-user "
				 "socket",
				 t->opts.socket, strerror(-sock));
	t->sock = sock;
	t->pid = getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len) ? 0 : peer.pid;
	return 0;
}

/* --- negotiating ----------------------------------------------------------------------------- */

static int negotiate_protocol(struct load_transport *t)
{
	uint64_t want = PROTOCOL & ~t->opts.protocol_off;
	int err;

	t->protocol = 0;
	if (!(t->offered & ~t->opts.features_off & VHU_BIT(VHU_F_PROTOCOL_FEATURES)))
		return 0;
	err = load_get_u64(t, VHU_GET_PROTOCOL_FEATURES, &t->protocol_offered);
	if (err)
		return err;
	err = load_set_u64(t, VHU_SET_PROTOCOL_FEATURES, t->protocol_offered & want);
	if (!err)
		t->protocol = t->protocol_offered & want;
	return err;
}

static int read_config(struct load_transport *t)
{
	struct vhu_msg m = {.request = VHU_GET_CONFIG};
	struct virtio_fs_config c;
	int err;

	t->has_config = false;
	if (!load_has(t, VHU_PROTOCOL_F_CONFIG))
		return 0;
	m.size = offsetof(struct vhu_config, data) + sizeof(c);
	m.payload.config.size = sizeof(c);
	err = load_ask(t, &m, NULL, 0, NULL);
	if (err)
		return err;
	/* The back-end answers an error by an empty payload, and must not answer less. */
	if (!m.size)
		return 0;
	if (m.payload.config.size < sizeof(c))
		return load_fail(t, -EPROTO, "daemon at %s: its config space has %u bytes, not %zu",
				 t->opts.socket, m.payload.config.size, sizeof(c));
	memcpy(&c, m.payload.config.data, sizeof(c));
	memcpy(t->tag, c.tag, LOAD_TAG_BYTES);
	t->config_queues = le32toh(c.num_request_queues);
	t->has_config = true;
	return 0;
}

/* How many request queues the daemon has; UINT32_MAX: it does not say. */
static uint32_t queues_there(const struct load_transport *t)
{
	uint32_t n = t->daemon_queues ? t->daemon_queues - 1 : UINT32_MAX;

	return t->has_config && t->config_queues && t->config_queues < n ? t->config_queues : n;
}

static int count_queues(struct load_transport *t)
{
	uint32_t there, want = t->opts.request_queues;
	uint64_t n = 0;
	int err = 0;

	if (load_has(t, VHU_PROTOCOL_F_MQ))
		err = load_get_u64(t, VHU_GET_QUEUE_NUM, &n);
	if (err)
		return err;
	t->daemon_queues = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
	there = queues_there(t);
	if (!there)
		return load_fail(t, -ENOSPC, "daemon at %s: it has no request queue",
				 t->opts.socket);
	if (!want)
		want = there == UINT32_MAX ? 1 : there;
	if (want > there)
		return load_fail(
			t, -ENOSPC,
			"daemon at %s: it has %u request queue%s, not %u; QEMU's virtiofsd and "
			"the Rust virtiofsd have one: ask for fewer, or start it with more",
			t->opts.socket, there, there == 1 ? "" : "s", want);
	if (want > VHU_MAX_VRINGS - 1)
		want = t->opts.request_queues ? want : VHU_MAX_VRINGS - 1;
	if (want > VHU_MAX_VRINGS - 1)
		return load_fail(t, -EINVAL, "%u request queues: vhost-user numbers %u at most",
				 want, VHU_MAX_VRINGS - 1);
	/* A reconnection finds its queues made. */
	if (t->queue && want < t->nr_queues - 1)
		return load_fail(t, -EPROTO, "daemon at %s: it has only %u request queues now",
				 t->opts.socket, want);
	t->nr_queues = t->queue ? t->nr_queues : want + 1;
	return 0;
}

static int negotiate(struct load_transport *t)
{
	struct vhu_msg owner = {.request = VHU_SET_OWNER};
	uint64_t slots = 0;
	int err = load_get_u64(t, VHU_GET_FEATURES, &t->offered);

	if (!err)
		err = negotiate_protocol(t);
	if (!err && load_has(t, VHU_PROTOCOL_F_CONFIGURE_MEM_SLOTS))
		err = load_get_u64(t, VHU_GET_MAX_MEM_SLOTS, &slots);
	if (!err)
		err = load_ask(t, &owner, NULL, 0, NULL);
	if (!err)
		err = read_config(t);
	if (err)
		return err;
	t->mem_slots = slots > UINT32_MAX ? UINT32_MAX : (uint32_t)slots;
	t->features = t->offered & VHU_DEVICE_FEATURES & ~t->opts.features_off;
	if (!(t->offered & VHU_BIT(VIRTIO_F_VERSION_1)))
		return load_fail(t, -EPROTO,
				 "daemon at %s: it does not offer VIRTIO_F_VERSION_1, which every "
				 "virtio-fs device has (features %#llx); is it one?",
				 t->opts.socket, (unsigned long long)t->offered);
	return count_queues(t);
}

static int check_options(struct load_transport *t)
{
	const struct load_options *o = &t->opts;
	struct vq_layout l;

	if (o->queue_size < 2 || vq_driver_layout(o->queue_size, o->table_max, &l))
		return load_fail(t, -EINVAL, "queue size %u: it is a power of two from 2 to %u",
				 o->queue_size, VQ_SIZE_MAX);
	if (!o->regions || o->regions > LOAD_REGIONS_MAX || !o->region_bytes ||
	    o->region_bytes > REGION_BYTES_MAX)
		return load_fail(t, -EINVAL,
				 "%u memory regions of %llu bytes: 1 to %u, of at most %llu",
				 o->regions, (unsigned long long)o->region_bytes, LOAD_REGIONS_MAX,
				 REGION_BYTES_MAX);
	return 0;
}

static int connect_as(struct load_transport *t, bool wait)
{
	int err = check_options(t);

	if (!err)
		err = open_socket(t, wait);
	if (err)
		return err;
	err = negotiate(t);
	if (err)
		load_disconnect(t);
	return err;
}

int load_connect(struct load_transport *t)
{
	return connect_as(t, t->opts.wait_for_socket);
}

/* --- starting -------------------------------------------------------------------------------- */

/* virtio 1.2, 3.1.1: the device may refuse the choice by not keeping FEATURES_OK. */
static int choose_features(struct load_transport *t)
{
	uint64_t status = VIRTIO_CONFIG_S_FEATURES_OK;
	int err = load_set_status(t, STATUS_DRIVER);

	if (!err)
		err = load_set_u64(t, VHU_SET_FEATURES, t->features);
	if (!err)
		err = load_set_status(t, STATUS_DRIVER | VIRTIO_CONFIG_S_FEATURES_OK);
	if (!err && load_has(t, VHU_PROTOCOL_F_STATUS))
		err = load_get_u64(t, VHU_GET_STATUS, &status);
	if (!err && !(status & VIRTIO_CONFIG_S_FEATURES_OK))
		err = load_fail(t, -EPROTO,
				"daemon at %s: it refuses features %#llx (status %#llx)",
				t->opts.socket, (unsigned long long)t->features,
				(unsigned long long)status);
	return err;
}

static int bring_up(struct load_transport *t)
{
	int err = choose_features(t);

	if (!err)
		err = load_share_memory(t);
	if (!err)
		err = load_share_inflight(t);
	for (uint32_t i = 0; !err && i < t->nr_queues; i++)
		err = load_queue_start(t, i);
	if (!err)
		err = load_set_status(t, STATUS_DRIVER | VIRTIO_CONFIG_S_FEATURES_OK |
						 VIRTIO_CONFIG_S_DRIVER_OK);
	return err;
}

int load_start(struct load_transport *t)
{
	int err = load_make_memory(t);

	if (!err)
		err = load_make_queues(t);
	return err ? err : bring_up(t);
}

int load_stop(struct load_transport *t)
{
	int err = 0;

	for (uint32_t i = 0; !err && t->queue && i < t->nr_queues; i++)
		if (t->queue[i].started)
			err = load_queue_stop(t, i);
	return err;
}

int load_reset(struct load_transport *t)
{
	int err;

	if (load_has(t, VHU_PROTOCOL_F_RESET_DEVICE)) {
		struct vhu_msg m = {.request = VHU_RESET_DEVICE};

		err = load_ask(t, &m, NULL, 0, NULL);
	} else if (load_has(t, VHU_PROTOCOL_F_STATUS)) {
		err = load_set_status(t, 0);
	} else {
		return load_fail(
			t, -EOPNOTSUPP,
			"daemon at %s: it offers neither RESET_DEVICE nor STATUS; disconnect "
			"instead",
			t->opts.socket);
	}
	for (uint32_t i = 0; !err && t->queue && i < t->nr_queues; i++) {
		t->queue[i].started = false;
		t->queue[i].base = t->opts.start;
		vq_driver_reset(&t->queue[i].driver, t->opts.start);
	}
	return err;
}

static int check_reconnect(struct load_transport *t)
{
	if (!t->queue)
		return load_fail(t, -EINVAL, "nothing to reconnect: it was not started before");
	for (uint32_t i = 0; i < t->nr_queues && t->inflight_fd < 0; i++) {
		const struct vq_driver *d = &t->queue[i].driver;
		uint16_t open = (uint16_t)(d->published - vq_load(&d->ring.used->idx));

		if (open)
			return load_fail(
				t, -EBUSY,
				"queue %u has %u requests that are not answered, and daemon at "
				"%s keeps no inflight region: reset the queue first",
				i, open, t->opts.socket);
	}
	return 0;
}

int load_reconnect(struct load_transport *t)
{
	uint64_t features = t->features, protocol = t->protocol;
	int err = check_reconnect(t);

	if (err)
		return err;
	load_disconnect(t);
	err = connect_as(t, true);
	if (!err && ((features & ~t->features) || (protocol & ~t->protocol))) {
		err = load_fail(t, -EPROTO,
				"daemon at %s: it no longer offers features in use (device %#llx, "
				"protocol %#llx)",
				t->opts.socket, (unsigned long long)(features & ~t->features),
				(unsigned long long)(protocol & ~t->protocol));
		load_disconnect(t);
	}
	if (err) {
		/* What was in use stays the measure for another attempt. */
		t->features = features;
		t->protocol = protocol;
		return err;
	}
	t->features = features;
	for (uint32_t i = 0; i < t->nr_queues; i++)
		t->queue[i].base = vq_load(&t->queue[i].driver.ring.used->idx);
	return bring_up(t);
}
