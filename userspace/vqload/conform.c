// SPDX-License-Identifier: GPL-2.0-or-later
/* `vqload check`: runs the checks, and tells of them. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "export/build.h"
#include "vqload/conform_priv.h"

#define IN_BYTES   8192u
#define DATA_BYTES (64u << 10)
#define SLOTS      8u

static const char *const outcomes[] = {"ok", "unsupported", "FAILED"};

/* --- for checks -------------------------------------------------------------------------- */

struct load_head conform_head(struct conform *k, uint64_t nodeid)
{
	return load_session_head(k->s, nodeid);
}

int conform_send(struct conform *k, int err)
{
	k->now->requests++;
	return err ? err : load_call_status(k->d.engine, k->slot);
}

static bool refused(int err)
{
	return err == -ENOSYS || err == -EOPNOTSUPP;
}

static const char *error_name(int err)
{
	const char *name = err ? strerrorname_np(-err) : "success";

	return name ? name : "an unknown error";
}

bool conform_not(struct conform *k, int err, int expected, const char *what)
{
	if (err == expected)
		return false;
	if (refused(err) && !load_engine_status(k->d.engine)) {
		k->now->outcome = LOAD_UNSUPPORTED;
		snprintf(k->now->reason, sizeof(k->now->reason), "%s: %s", what, error_name(err));
		return true;
	}
	k->now->outcome = LOAD_FAILED;
	snprintf(k->now->reason, sizeof(k->now->reason), "%s: expected %s, got %s%s", what,
		 error_name(expected), error_name(err),
		 expected == -ENOENT && err == -EIO ? " (as QEMU's virtiofsd is known to do)" : "");
	return true;
}

bool conform_differs(struct conform *k, uint64_t got, uint64_t expected, const char *what)
{
	if (got == expected)
		return false;
	k->now->outcome = LOAD_FAILED;
	snprintf(k->now->reason, sizeof(k->now->reason), "%s: expected %" PRIu64 ", got %" PRIu64,
		 what, expected, got);
	return true;
}

bool conform_fail(struct conform *k, const char *what)
{
	k->now->outcome = LOAD_FAILED;
	snprintf(k->now->reason, sizeof(k->now->reason), "%s", what);
	return true;
}

bool conform_make(struct conform *k, const char *name, const void *data, uint32_t len,
		  uint64_t *nodeid, uint64_t *fh)
{
	struct fuse_entry_out entry;
	uint32_t done = 0;
	int err = load_do_create(k->s, k->dir, name, O_EXCL, 0644, &entry, fh);

	if (!err && len)
		err = load_do_write(k->s, entry.nodeid, *fh, 0, data, len, &done);
	if (conform_not(k, err, 0, "making a file") ||
	    conform_differs(k, done, len, "bytes written to a new file"))
		return true;
	*nodeid = entry.nodeid;
	return false;
}

bool conform_close(struct conform *k, uint64_t nodeid, uint64_t fh)
{
	return conform_not(k, load_do_release(k->s, nodeid, fh, O_RDWR), 0, "closing a file");
}

bool conform_touch(struct conform *k, const char *name, uint64_t *nodeid)
{
	uint64_t fh;

	return conform_make(k, name, name, (uint32_t)strlen(name), nodeid, &fh) ||
	       conform_close(k, *nodeid, fh);
}

bool conform_mkdir(struct conform *k, const char *name, uint64_t *nodeid)
{
	struct fuse_entry_out entry;

	if (conform_not(k, load_do_mkdir(k->s, k->dir, name, 0755, &entry), 0,
			"making a directory"))
		return true;
	*nodeid = entry.nodeid;
	return false;
}

bool conform_size_is_not(struct conform *k, uint64_t nodeid, uint64_t size)
{
	struct fuse_attr attr;

	return conform_not(k, load_do_getattr(k->s, nodeid, &attr), 0, "GETATTR") ||
	       conform_differs(k, attr.size, size, "size by GETATTR");
}

/* --- directories of checks --------------------------------------------------------------- */

struct names {
	char (*name)[256];
	size_t nr;
};

/* More than the names of any check take; a daemon may go on for ever. */
#define LIST_ROUNDS 256

/* All names of @dir, but the dots. */
static int list(struct conform *k, uint64_t dir, uint64_t fh, struct names *all)
{
	uint64_t offset = 0;
	bool any = true;
	int err = 0;

	for (int i = 0; !err && any && i < LIST_ROUNDS; i++) {
		struct load_head h = conform_head(k, dir);
		struct load_dirents it;
		struct load_dirent d;

		any = false;
		err = load_build_readdir(REQ(k), &h, fh, offset, 4096);
		err = err ? err : load_call_status(k->d.engine, k->slot);
		load_dirents_start(&it, k->slot->data,
				   err ? 0 : load_reply_data_len(REQ(k), k->slot->used), false);
		while (load_dirents_next(&it, &d) > 0) {
			char(*more)[256];

			offset = d.off;
			any = true;
			if (!strcmp(d.name, ".") || !strcmp(d.name, "..") || d.namelen > 255)
				continue;
			more = reallocarray(all->name, all->nr + 1, sizeof(*all->name));
			if (!more)
				return -ENOMEM;
			all->name = more;
			snprintf(all->name[all->nr++], 256, "%.255s", d.name);
		}
	}
	return err;
}

/* Everything in @dir, at most @depth levels deep. Best effort: nothing is said of what stays. */
static void empty(struct conform *k, uint64_t dir, int depth)
{
	struct names all = {0};
	uint64_t fh;

	if (load_do_opendir(k->s, dir, &fh))
		return;
	list(k, dir, fh, &all);
	load_do_releasedir(k->s, dir, fh);
	for (size_t i = 0; all.name && i < all.nr; i++) {
		struct fuse_entry_out entry;

		if (!load_do_unlink(k->s, dir, all.name[i]) || !depth)
			continue;
		if (!load_do_lookup(k->s, dir, all.name[i], &entry))
			empty(k, entry.nodeid, depth - 1);
		load_do_rmdir(k->s, dir, all.name[i]);
	}
	free(all.name);
}

static void run_check(struct conform *k, const struct conform_check *c, size_t index)
{
	struct fuse_entry_out entry;
	char name[32];

	k->now->name = c->name;
	snprintf(name, sizeof(name), "%zu", index);
	if (conform_not(k, load_do_mkdir(k->s, k->root, name, 0755, &entry), 0,
			"making a directory for it"))
		return;
	k->dir = entry.nodeid;
	c->run(k);
	if (load_engine_status(k->d.engine))
		return;
	empty(k, k->dir, 2);
	load_do_rmdir(k->s, k->root, name);
}

/* --- all of them ------------------------------------------------------------------------- */

static size_t count(const struct conform_check *c)
{
	size_t n = 0;

	while (c[n].name)
		n++;
	return n;
}

static void run_group(struct conform *k, struct load_check *out, const struct conform_check *group)
{
	for (; group->name && !load_engine_status(k->d.engine); group++) {
		k->now = &out->result[out->nr++];
		run_check(k, group, out->nr);
		out->ok += k->now->outcome == LOAD_OK;
		out->unsupported += k->now->outcome == LOAD_UNSUPPORTED;
		out->failed += k->now->outcome == LOAD_FAILED;
	}
}

static enum load_exit run_all(struct conform *k, struct load_check *out)
{
	char name[64];
	struct fuse_entry_out entry;
	int err;

	snprintf(name, sizeof(name), ".vqload-check.%d", getpid());
	err = load_do_mkdir(k->s, FUSE_ROOT_ID, name, 0755, &entry);
	if (err) {
		snprintf(out->error, sizeof(out->error),
			 "cannot make directory %s on the share: %s; it must be writable", name,
			 strerror(-err));
		return load_engine_status(k->d.engine) ? LOAD_EXIT_FAILED : LOAD_EXIT_SHARE;
	}
	k->root = entry.nodeid;
	run_group(k, out, conform_names);
	run_group(k, out, conform_dirs);
	run_group(k, out, conform_data);
	run_group(k, out, conform_others);
	if (!load_engine_status(k->d.engine))
		load_do_rmdir(k->s, FUSE_ROOT_ID, name);
	return LOAD_EXIT_CLEAN;
}

static enum load_exit verdict(struct conform *k, struct load_check *out, enum load_exit code)
{
	int err = load_engine_status(k->d.engine);

	if (err) {
		code = load_device_exit(&k->d, err, load_engine_error(k->d.engine));
		snprintf(out->error, sizeof(out->error), "%s", k->d.error);
	}
	load_judge_merge(out->judge, load_engine_judge(k->d.engine));
	if (code)
		return code;
	return out->failed || !load_judge_clean(out->judge) ? LOAD_EXIT_FAULTS : LOAD_EXIT_CLEAN;
}

enum load_exit load_check_run(const struct load_device_options *o, struct load_check *c)
{
	struct load_device_options opts = *o;
	struct conform k = {0};
	enum load_exit code;

	*c = (struct load_check){0};
	snprintf(c->socket, sizeof(c->socket), "%s", o->socket);
	opts.guard_all = true;
	code = load_device_open(&k.d, &opts, IN_BYTES, SLOTS, DATA_BYTES);
	k.s = &k.d.session;
	c->judge = load_judge_new(256, o->details);
	c->result = calloc(count(conform_names) + count(conform_dirs) + count(conform_data) +
				   count(conform_others),
			   sizeof(*c->result));
	if (code) {
		snprintf(c->error, sizeof(c->error), "%s", k.d.error);
	} else if (!c->judge || !c->result || !(k.slot = load_session_slot(k.s))) {
		snprintf(c->error, sizeof(c->error), "out of memory");
		code = LOAD_EXIT_FAILED;
	} else {
		code = verdict(&k, c, run_all(&k, c));
		load_slot_put(k.d.engine, k.slot);
	}
	load_device_close(&k.d);
	return code;
}

void load_check_free(struct load_check *c)
{
	free(c->result);
	load_judge_free(c->judge);
	*c = (struct load_check){0};
}

/* --- telling ----------------------------------------------------------------------------- */

int load_check_text(const struct load_check *c, FILE *out)
{
	for (size_t i = 0; i < c->nr; i++) {
		const struct load_check_result *r = &c->result[i];

		fprintf(out, "%-16s %s%s%s\n", r->name, outcomes[r->outcome],
			*r->reason ? ": " : "", r->reason);
	}
	fprintf(out, "\n%u ok, %u unsupported, %u failed\n", c->ok, c->unsupported, c->failed);
	load_judge_text(c->judge, out);
	return ferror(out) ? -EIO : 0;
}

int load_check_json(const struct load_check *c, FILE *out)
{
	struct json_object *root = json_object_new_object(), *checks, *judge = NULL;
	struct exp_build b = {.err = root ? 0 : -ENOMEM};

	exp_put_text(&b, root, "schema", "vqload/1", SIZE_MAX);
	exp_put_text(&b, root, "command", "check", SIZE_MAX);
	exp_put_text(&b, root, "error", c->error, sizeof(c->error));
	exp_put_text(&b, root, "socket", c->socket, sizeof(c->socket));
	exp_put_u64(&b, root, "ok", c->ok);
	exp_put_u64(&b, root, "unsupported", c->unsupported);
	exp_put_u64(&b, root, "failed", c->failed);
	checks = exp_put_array(&b, root, "checks");
	for (size_t i = 0; i < c->nr; i++) {
		struct json_object *o = exp_add_object(&b, checks);

		exp_put_text(&b, o, "name", c->result[i].name, SIZE_MAX);
		exp_put_text(&b, o, "outcome",
			     c->result[i].outcome == LOAD_FAILED ? "failed"
								 : outcomes[c->result[i].outcome],
			     SIZE_MAX);
		exp_put_text(&b, o, "reason", c->result[i].reason, sizeof(c->result[i].reason));
	}
	if (c->judge && load_judge_json(c->judge, &judge) && !b.err)
		b.err = -ENOMEM;
	if (judge)
		exp_put(&b, root, "judge", judge);
	return exp_write_line(&b, root, out);
}
