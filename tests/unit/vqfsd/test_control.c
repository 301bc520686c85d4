// SPDX-License-Identifier: GPL-2.0-or-later
/* The control socket: commands, the lease, and clients that behave badly. */
#include "guest_rig.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <json-c/json.h>

#include "common/cleanup.h"
#include "vqfsd/control.h"

struct desk {
	struct rig *rig;
	struct fsd_control *control;
	char path[64];
	int quit_fd;
};

/* A client with a line buffer. */
struct client {
	int fd;
	size_t len;
	char buf[1 << 18];
};

static int desk_setup(void **state)
{
	struct desk *d = calloc(1, sizeof(*d));
	void *rig;

	assert_non_null(d);
	rig_setup(&rig);
	d->rig = rig;
	d->rig->o.request_queues = 4;
	d->rig->o.workers = 2;
	d->rig->o.pool_size = 1;
	d->quit_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	snprintf(d->path, sizeof(d->path), "%s/ctl", d->rig->dir);
	*state = d;
	return 0;
}

static void desk_open(struct desk *d)
{
	int fd;

	rig_serve(d->rig);
	fd = fsd_listen(d->path, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fsd_control_start(&d->control, d->rig->dev, fd, d->quit_fd), 0);
}

static int desk_teardown(void **state)
{
	struct desk *d = *state;
	void *rig = d->rig;

	fsd_control_stop(d->control);
	unlink(d->path);
	close(d->quit_fd);
	free(d);
	return rig_teardown(&rig);
}

static struct client *dial(struct desk *d)
{
	struct client *c = calloc(1, sizeof(*c));
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	assert_non_null(c);
	strcpy(sa.sun_path, d->path);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(c->fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return c;
}

static void hang_up(struct client *c)
{
	close(c->fd);
	free(c);
}

static void say(struct client *c, const char *text)
{
	assert_int_equal(send(c->fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* The next line, or NULL: the daemon closed. @fd: a descriptor that comes with it. */
static struct json_object *hear(struct client *c, int *fd)
{
	char *end;

	while (!(end = memchr(c->buf, '\n', c->len))) {
		char control[CMSG_SPACE(sizeof(int))];
		struct iovec iov = {c->buf + c->len, sizeof(c->buf) - c->len};
		struct msghdr h = {.msg_iov = &iov,
				   .msg_iovlen = 1,
				   .msg_control = control,
				   .msg_controllen = sizeof(control)};
		struct pollfd p = {.fd = c->fd, .events = POLLIN};
		ssize_t n =
			poll(&p, 1, RIG_TIMEOUT_MS) > 0 ? recvmsg(c->fd, &h, MSG_CMSG_CLOEXEC) : -1;

		if (n <= 0)
			return NULL;
		c->len += (size_t)n;
		if (fd && CMSG_FIRSTHDR(&h))
			memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&h)), sizeof(*fd));
	}
	*end++ = '\0';
	struct json_object *o = json_tokener_parse(c->buf);

	c->len -= (size_t)(end - c->buf);
	memmove(c->buf, end, c->len);
	return o;
}

static uint64_t number(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_uint64(v) : UINT64_MAX;
}

/* Says @line; the answer's "ok" is @ok. Returns the number under @key, if there is a key. */
static uint64_t ask(struct client *c, const char *line, bool ok, const char *key)
{
	struct json_object *o, *v;
	uint64_t n;

	say(c, line);
	say(c, "\n");
	o = hear(c, NULL);
	assert_non_null(o);
	assert_true(json_object_object_get_ex(o, "ok", &v));
	if (json_object_get_boolean(v) != ok)
		fail_msg("%s: %s", line, json_object_to_json_string(o));
	n = key ? number(o, key) : 0;
	json_object_put(o);
	return n;
}

static void changes_need_the_lease(void **state)
{
	struct desk *d = *state;
	struct client *a, *b;

	desk_open(d);
	a = dial(d);
	b = dial(d);
	ask(a, "{\"command\":\"move-queue\",\"queue\":1,\"worker\":2}", false, NULL);
	assert_int_equal(ask(a, "{\"command\":\"lease\"}", true, "generation"), 1);
	ask(b, "{\"command\":\"lease\"}", false, NULL);
	ask(b, "{\"command\":\"quit\"}", false, NULL);
	assert_int_equal(ask(a, "{\"command\":\"move-queue\",\"queue\":1,\"worker\":2,\"id\":77}",
			     true, "id"),
			 77);
	ask(a, "{\"command\":\"move-queue\",\"queue\":1,\"worker\":1,\"generation\":2}", false,
	    NULL);
	ask(a, "{\"command\":\"set-engine\",\"queue\":2,\"engine\":\"threshold\"}", true, NULL);
	ask(a, "{\"command\":\"release\"}", true, NULL);
	assert_int_equal(fsd_queue_owner(&d->rig->dev->queue[1])->index, 2);
	assert_int_equal(ask(b, "{\"command\":\"lease\"}", true, "generation"), 2);
	ask(b, "{\"command\":\"quit\"}", true, NULL);
	struct pollfd p = {.fd = d->quit_fd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, 5000), 1);
	hang_up(a);
	hang_up(b);
}

/* Everything a lease changes goes back when its holder dies, under load. */
static void a_dead_holder_reverts(void **state)
{
	struct desk *d = *state;
	struct rig *g = d->rig;
	struct guest q[4];
	struct client *c;
	cpu_set_t before, after;
	uint64_t until;

	desk_open(d);
	rig_connect(g);
	for (uint32_t i = 0; i < 4; i++) {
		guest_open(&q[i], g, i + 1, 4);
		guest_begin(&q[i]);
	}
	sched_getaffinity(g->dev->stats.thread[1].tid, sizeof(before), &before);
	c = dial(d);
	ask(c, "{\"command\":\"lease\"}", true, NULL);
	ask(c, "{\"command\":\"set-workers\",\"workers\":4}", true, NULL);
	assert_true(ask(c, "{\"command\":\"move-queue\",\"queue\":1,\"worker\":4}", true,
			"pause_ns") < UINT64_MAX);
	ask(c, "{\"command\":\"move-queue\",\"queue\":2,\"worker\":3}", true, NULL);
	ask(c, "{\"command\":\"set-pool-size\",\"size\":3}", true, NULL);
	ask(c, "{\"command\":\"set-engine\",\"queue\":3,\"engine\":\"pool\"}", true, NULL);
	ask(c, "{\"command\":\"set-threshold\",\"queue\":3,\"threshold\":9}", true, NULL);
	ask(c, "{\"command\":\"pin\",\"worker\":1,\"cpus\":\"0\"}", true, NULL);
	ask(c, "{\"command\":\"drain\",\"queue\":4}", true, "took_ns");
	assert_true(fsd_queue_state(&g->dev->queue[4]) & VQS_FSD_DRAINED);
	hang_up(c);
	until = vqs_now_ns(CLOCK_MONOTONIC) + 5000000000;
	while (fsd_queue_state(&g->dev->queue[4]) & VQS_FSD_DRAINED &&
	       vqs_now_ns(CLOCK_MONOTONIC) < until)
		poll(NULL, 0, 1);
	for (uint32_t i = 0; i < 4; i++)
		guest_progress(&q[i], 20);
	assert_int_equal(fsd_queue_owner(&g->dev->queue[1])->index, 1);
	assert_int_equal(fsd_queue_owner(&g->dev->queue[2])->index, 2);
	assert_int_equal(fsd_get32(&g->dev->queue[3].engine), VQS_FSD_INLINE);
	assert_int_equal(fsd_get32(&g->dev->queue[3].threshold), 3);
	assert_int_equal(fsd_pool_size(&g->dev->pool), 1);
	assert_int_equal(g->dev->nr_workers, 2);
	sched_getaffinity(g->dev->stats.thread[1].tid, sizeof(after), &after);
	assert_true(CPU_EQUAL(&before, &after));
	for (uint32_t i = 0; i < 4; i++) {
		guest_end(&q[i]);
		guest_close(&q[i]);
	}
}

static const char *const nonsense[] = {
	"",
	"garbage",
	"{",
	"[]",
	"null",
	"7",
	"{}",
	"{\"command\":7}",
	"{\"command\":\"\"}",
	"{\"command\":\"sta\\u0000tus\"}",
	"{\"command\":\"statsu\"}",
	"{\"command\":\"status\",\"worker\":1}",
	"{\"command\":\"move-queue\"}",
	"{\"command\":\"move-queue\",\"queue\":0,\"worker\":1}",
	"{\"command\":\"move-queue\",\"queue\":-1,\"worker\":1}",
	"{\"command\":\"move-queue\",\"queue\":1e3,\"worker\":1}",
	"{\"command\":\"move-queue\",\"queue\":99999999999999999999,\"worker\":1}",
	"{\"command\":\"move-queue\",\"queue\":1,\"worker\":3}",
	"{\"command\":\"set-engine\",\"queue\":1,\"engine\":\"uring\"}",
	"{\"command\":\"set-engine\",\"queue\":1,\"engine\":[1]}",
	"{\"command\":\"set-workers\",\"workers\":0}",
	"{\"command\":\"set-workers\",\"workers\":256}",
	"{\"command\":\"set-pool-size\",\"size\":257}",
	"{\"command\":\"pin\",\"worker\":1,\"cpus\":\"\"}",
	"{\"command\":\"pin\",\"worker\":1,\"cpus\":\"3-1\"}",
	"{\"command\":\"pin\",\"worker\":1,\"cpus\":\"99999\"}",
	"{\"command\":\"drain\",\"queue\":5}",
	"{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":1}}}}}",
	"{\"command\":\"status\"} trailing",
	"\xff\xfe\x01",
};

static void nonsense_is_answered(void **state)
{
	struct desk *d = *state;
	struct client *c, *half;
	char *huge = malloc(100000);

	desk_open(d);
	c = dial(d);
	half = dial(d);
	say(half, "{\"command\":\"sta");
	ask(c, "{\"command\":\"lease\"}", true, NULL);
	for (size_t i = 1; i < ARRAY_SIZE(nonsense); i++)
		ask(c, nonsense[i], false, NULL);
	assert_non_null(huge);
	memset(huge, '{', 99999);
	huge[99999] = '\0';
	ask(c, huge, false, NULL);
	free(huge);
	/* Two at once, and empty lines between them. */
	say(c, "\n\r\n{\"command\":\"status\"}\n\n{\"command\":\"status\"}\n");
	for (int i = 0; i < 2; i++) {
		struct json_object *o = hear(c, NULL);

		assert_int_equal(number(o, "pool_size"), 1);
		json_object_put(o);
	}
	say(half, "tus\"}\n");
	json_object_put(hear(half, NULL));
	hang_up(half);
	hang_up(c);
}

static void many_and_silent_clients(void **state)
{
	struct desk *d = *state;
	struct client *c[FSD_CONTROL_CLIENTS + 1], *deaf;
	struct json_object *o;

	desk_open(d);
	deaf = dial(d);
	fcntl(deaf->fd, F_SETFL, O_NONBLOCK);
	/* Never reads: its answers fill the socket, then nothing more is read of it. */
	for (int i = 0; i < 20000; i++)
		if (send(deaf->fd, "{\"command\":\"status\"}\n", 21, MSG_NOSIGNAL) < 0)
			break;
	for (uint32_t i = 0; i < ARRAY_SIZE(c); i++)
		c[i] = dial(d);
	for (uint32_t i = 0; i + 2 < ARRAY_SIZE(c); i++)
		ask(c[i], "{\"command\":\"status\"}", true, NULL);
	/* One too many is told so. */
	o = hear(c[ARRAY_SIZE(c) - 1], NULL);
	assert_non_null(o);
	json_object_put(o);
	for (uint32_t i = 0; i < ARRAY_SIZE(c); i++)
		hang_up(c[i]);
	hang_up(deaf);
}

static void the_region_is_read_only(void **state)
{
	struct desk *d = *state;
	struct client *c;
	struct json_object *o;
	const struct vqs_fsd_header *h;
	struct stat st;
	int fd = -1;

	desk_open(d);
	c = dial(d);
	say(c, "{\"command\":\"stats\"}\n");
	o = hear(c, &fd);
	assert_non_null(o);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(number(o, "bytes"), st.st_size);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(write(fd, "x", 1), -1);
	assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	h = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(h, MAP_FAILED);
	assert_int_equal(h->magic, VQS_FSD_MAGIC);
	assert_int_equal(h->version, VQS_FSD_VERSION);
	assert_int_equal(h->nr_queues, 5);
	munmap((void *)h, (size_t)st.st_size);
	close(fd);
	json_object_put(o);
	hang_up(c);
}

#define DESK(f) cmocka_unit_test_setup_teardown(f, desk_setup, desk_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK(changes_need_the_lease),  DESK(a_dead_holder_reverts),
		DESK(nonsense_is_answered),    DESK(many_and_silent_clients),
		DESK(the_region_is_read_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
