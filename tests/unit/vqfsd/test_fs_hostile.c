// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests that no guest of good will sends: cut, too long, with numbers of nothing, without room
 * for a reply, changed while they are read. Every reply is a reply all the same, and nothing
 * outside the given memory is touched (each piece is an allocation of its own, under ASan).
 */
#include <pthread.h>

#include "fs_rig.h"

#define HEAD  sizeof(struct fuse_in_header)
#define REPLY sizeof(struct fuse_out_header)

/* Executes @len bytes with @room for the reply, checks what Linux checks; the error. */
static int raw(struct guest *g, const void *bytes, size_t len, size_t room)
{
	uint8_t *in = malloc(len + 1), *out = malloc(room + 1);
	struct iovec iov[2] = {{in, len}, {out, room}};
	struct fsd_request r = {iov, len ? 1 : 0, len, iov + 1, room ? 1 : 0, room};
	struct fuse_out_header head = {0};
	uint32_t got;

	memcpy(in, bytes, len);
	in = realloc(in, len ? len : 1);
	iov[0].iov_base = in;
	got = fsd_fs_handle(g->fs, g->thread, &r, &g->outcome);
	must(got == 0 || (got >= REPLY && got <= room));
	if (got) {
		memcpy(&head, out, REPLY);
		must(head.len == got && head.error <= 0 && head.error > -512);
		must(!head.error || got == REPLY);
		must(head.error == g->outcome.error);
	}
	free(in);
	free(out);
	return g->outcome.error;
}

static size_t build(struct guest *g, uint32_t opcode, uint64_t nodeid, const void *body, size_t len)
{
	struct fuse_in_header h = {
		.len = (uint32_t)(HEAD + len), .opcode = opcode, .unique = 6, .nodeid = nodeid};

	memcpy(g->in, &h, HEAD);
	if (len)
		memcpy(g->in + HEAD, body, len);
	return HEAD + len;
}

static void short_ones_are_refused(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	static const uint8_t zeros[256];

	for (uint32_t op = 0; op < 70; op++) {
		for (size_t len = 0; len < HEAD; len += 13) {
			build(g, op, FUSE_ROOT_ID, NULL, 0);
			assert_int_equal(raw(g, g->in, len, 4096), -EINVAL);
		}
		/* The header says more than there is. */
		build(g, op, FUSE_ROOT_ID, zeros, 200);
		assert_true(raw(g, g->in, HEAD + 100, 4096) < 0);
		/* And less than a header. */
		build(g, op, FUSE_ROOT_ID, zeros, 100);
		((struct fuse_in_header *)g->in)->len = 7;
		assert_true(raw(g, g->in, HEAD + 100, 4096) < 0);
	}
	assert_int_equal(raw(g, g->in, build(g, 0, 1, NULL, 0), 4096), -ENOSYS);
	assert_int_equal(raw(g, g->in, build(g, FUSE_IOCTL, 1, zeros, 64), 4096), -ENOSYS);
	assert_int_equal(raw(g, g->in, build(g, UINT32_MAX, 1, zeros, 64), 4096), -ENOSYS);
}

static void replies_never_pass_the_room(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	uint8_t body[160];

	put_file(rig, "f", "0123456789");
	for (uint32_t op = 0; op < 70; op++) {
		if (op == FUSE_SYNCFS) /* of the whole machine's disk */
			continue;
		for (size_t room = 0; room < 200; room += 1 + fixture_below(&g->random, 9)) {
			for (size_t i = 0; i < sizeof(body); i++)
				body[i] = (uint8_t)fixture_below(&g->random, 3);
			raw(g, g->in, build(g, op, FUSE_ROOT_ID, body, sizeof(body)), room);
		}
	}
	/* Without room for what it would say, nothing is done. */
	raw(g, g->in, build(g, FUSE_MKDIR, FUSE_ROOT_ID, "\0\0\0\0\0\0\0\0dir", 12), REPLY + 8);
	assert_int_equal(g->outcome.error, -EINVAL);
	raw(g, g->in, build(g, FUSE_MKDIR, FUSE_ROOT_ID, "\0\0\0\0\0\0\0\0dir", 12), 0);
	assert_int_equal(faccessat(rig->fd, "dir", F_OK, 0), -1);
}

static void strings_end_within(void **state)
{
	static const struct {
		uint32_t op, args;
	} ops[] = {{FUSE_LOOKUP, 0},   {FUSE_UNLINK, 0}, {FUSE_RMDIR, 0},   {FUSE_SYMLINK, 0},
		   {FUSE_MKDIR, 8},    {FUSE_MKNOD, 16}, {FUSE_CREATE, 16}, {FUSE_RENAME, 8},
		   {FUSE_RENAME2, 16}, {FUSE_LINK, 8}};
	struct rig *rig = *state;
	struct guest *g = rig->g;
	uint8_t body[300];

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		memset(body, 'x', sizeof(body));
		memset(body, 0, ops[i].args);
		body[0] = ops[i].args ? FUSE_ROOT_ID : 'x';
		for (size_t len = ops[i].args; len <= sizeof(body); len += 20)
			assert_int_equal(
				raw(g, g->in, build(g, ops[i].op, FUSE_ROOT_ID, body, len), 4096),
				-EINVAL);
	}
	/* One name where two are wanted. */
	assert_int_equal(raw(g, g->in, build(g, FUSE_SYMLINK, FUSE_ROOT_ID, "name", 5), 4096),
			 -EINVAL);
	assert_int_equal(raw(g, g->in, build(g, FUSE_LOOKUP, FUSE_ROOT_ID, "", 1), 4096), -EINVAL);
	assert_int_equal(raw(g, g->in, build(g, FUSE_LOOKUP, FUSE_ROOT_ID, "", 0), 4096), -EINVAL);
}

static void sizes_are_not_believed(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	struct fuse_write_in w = {.size = 1000};
	struct fuse_read_in rd = {.size = UINT32_MAX};
	struct fuse_batch_forget_in b = {.count = UINT32_MAX};
	uint64_t id, fh;

	assert_int_equal(create(g, FUSE_ROOT_ID, "f", O_RDWR, &id, &fh), 0);
	w.fh = rd.fh = fh;
	assert_int_equal(raw(g, g->in, build(g, FUSE_WRITE, id, &w, sizeof(w)), 4096), -EINVAL);
	assert_int_equal(raw(g, g->in, build(g, FUSE_READ, id, &rd, sizeof(rd)), 4096), -EINVAL);
	assert_int_equal(raw(g, g->in, build(g, FUSE_BATCH_FORGET, 0, &b, sizeof(b)), 0), -EINVAL);
	/* Data behind what the header says is not part of it. */
	w.size = 8;
	build(g, FUSE_WRITE, id, &w, sizeof(w));
	assert_int_equal(raw(g, g->in, HEAD + sizeof(w) + 8, 4096), -EINVAL);
}

static void numbers_of_nothing_are_refused(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;

	for (int n = 0; n < 20000; n++) {
		uint64_t id = fixture_rand(&g->random) >> fixture_below(&g->random, 64);

		if (id == FUSE_ROOT_ID)
			continue;
		assert_int_equal(CALL(g, getattr, on(g, id), NULL), -ESTALE);
		assert_int_equal(read_at(g, id, 0, 16), -EBADF);
		forget(g, id, id);
	}
}

/* --- memory that changes -----------------------------------------------------------------------*/

static void *scribble(void *arg)
{
	struct guest *g = arg;
	uint64_t random = 99;

	while (g->head.unique)
		g->in[fixture_below(&random, 128)] = (uint8_t)fixture_rand(&random);
	return NULL;
}

static void changing_requests_do_no_harm(void **state)
{
	struct rig *rig = *state;
	struct guest *g = rig->g;
	struct iovec in = {g->in, 128}, out = {g->out, 200};
	struct fsd_request r = {&in, 1, 128, &out, 1, 200};
	pthread_t thread;

	pthread_create(&thread, NULL, scribble, g);
	for (uint32_t n = 0; n < 100000; n++) {
		uint32_t op = n % 54;

		if (op == FUSE_SYNCFS) /* of the whole machine's disk */
			continue;
		build(g, op, FUSE_ROOT_ID, "\0\0\0\0\0\0\0\0name\0name", 18);
		must(fsd_fs_handle(g->fs, g->thread, &r, &g->outcome) <= 200);
	}
	g->head.unique = 0;
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
		T(short_ones_are_refused),
		T(replies_never_pass_the_room),
		T(strings_end_within),
		T(sizes_are_not_believed),
		T(numbers_of_nothing_are_refused),
		T(changing_requests_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
