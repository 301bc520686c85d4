// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of extended attributes, locks, the file system, and forgetting. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "vqload/conform_priv.h"

#define XATTR "user.vqload"

static bool make(struct conform *k, uint64_t *node, uint64_t *fh)
{
	return conform_make(k, "f", "data", 4, node, fh);
}

/* --- extended attributes ----------------------------------------------------------------- */

static int set_xattr(struct conform *k, uint64_t node, const char *value, uint32_t flags)
{
	struct load_head h = conform_head(k, node);

	return conform_send(k,
			    load_build_setxattr(REQ(k), &h, XATTR, value, (uint32_t)strlen(value),
						flags, load_session_has(k->s, FUSE_SETXATTR_EXT)));
}

static int get_xattr(struct conform *k, uint64_t node, uint32_t size)
{
	struct load_head h = conform_head(k, node);

	return conform_send(k, load_build_getxattr(REQ(k), &h, XATTR, size));
}

static int remove_xattr(struct conform *k, uint64_t node)
{
	struct load_head h = conform_head(k, node);

	return conform_send(k, load_build_removexattr(REQ(k), &h, XATTR));
}

static void check_setxattr(struct conform *k)
{
	uint64_t node, fh;

	if (make(k, &node, &fh) || conform_close(k, node, fh) ||
	    conform_not(k, set_xattr(k, node, "x", XATTR_REPLACE), -ENODATA,
			"XATTR_REPLACE of one that is not there") ||
	    conform_not(k, set_xattr(k, node, "value", XATTR_CREATE), 0, "a new one"))
		return;
	conform_not(k, set_xattr(k, node, "x", XATTR_CREATE), -EEXIST,
		    "XATTR_CREATE of one that is there");
}

static void check_getxattr(struct conform *k)
{
	uint64_t node, fh;
	uint32_t size;

	if (make(k, &node, &fh) || conform_close(k, node, fh) ||
	    conform_not(k, get_xattr(k, node, 0), -ENODATA, "one that is not there") ||
	    conform_not(k, set_xattr(k, node, "value", 0), 0, "setting it") ||
	    conform_not(k, get_xattr(k, node, 0), 0, "its size") ||
	    conform_not(k, load_read_xattr_size(k->slot->out, conform_len(k), &size), 0,
			"its size") ||
	    conform_differs(k, size, 5, "its size") ||
	    conform_not(k, get_xattr(k, node, 4), -ERANGE, "it in too little room") ||
	    conform_not(k, get_xattr(k, node, 64), 0, "its value") ||
	    conform_differs(k, load_reply_data_len(REQ(k), k->slot->used), 5, "bytes of it"))
		return;
	if (memcmp(k->slot->data, "value", 5))
		conform_fail(k, "it has another value");
}

static void check_listxattr(struct conform *k)
{
	uint64_t node, fh;
	struct load_head h;
	uint32_t len;

	if (make(k, &node, &fh) || conform_close(k, node, fh) ||
	    conform_not(k, set_xattr(k, node, "value", 0), 0, "setting one"))
		return;
	h = conform_head(k, node);
	if (conform_not(k, conform_send(k, load_build_listxattr(REQ(k), &h, 4096)), 0, "a file"))
		return;
	len = load_reply_data_len(REQ(k), k->slot->used);
	if (!len || !memmem(k->slot->data, len, XATTR, sizeof(XATTR)))
		conform_fail(k, "the list lacks what was set");
}

static void check_removexattr(struct conform *k)
{
	uint64_t node, fh;

	if (make(k, &node, &fh) || conform_close(k, node, fh) ||
	    conform_not(k, set_xattr(k, node, "value", 0), 0, "setting one") ||
	    conform_not(k, remove_xattr(k, node), 0, "it") ||
	    conform_not(k, get_xattr(k, node, 0), -ENODATA, "getting it afterwards"))
		return;
	conform_not(k, remove_xattr(k, node), -ENODATA, "it again");
}

/* --- locks ------------------------------------------------------------------------------- */

static int lock(struct conform *k, uint64_t node, uint64_t fh, uint64_t owner, uint32_t type)
{
	struct load_head h = conform_head(k, node);
	struct fuse_file_lock lk = {.end = 9, .type = type, .pid = (uint32_t)getpid()};

	return conform_send(k, load_build_setlk(REQ(k), &h, fh, owner, &lk, false));
}

static int ask_lock(struct conform *k, uint64_t node, uint64_t fh, uint64_t owner,
		    struct fuse_file_lock *lk)
{
	struct load_head h = conform_head(k, node);
	int err;

	*lk = (struct fuse_file_lock){.end = 9, .type = F_WRLCK, .pid = (uint32_t)getpid()};
	err = conform_send(k, load_build_getlk(REQ(k), &h, fh, owner, lk));
	return err ? err : load_read_lock(k->slot->out, conform_len(k), lk);
}

static void check_getlk(struct conform *k)
{
	struct fuse_file_lock lk;
	uint64_t node, fh;

	if (make(k, &node, &fh) ||
	    conform_not(k, ask_lock(k, node, fh, 1, &lk), 0, "a file without locks") ||
	    conform_differs(k, lk.type, F_UNLCK, "its lock"))
		return;
	conform_close(k, node, fh);
}

static void check_setlk(struct conform *k)
{
	uint64_t node, fh;

	if (make(k, &node, &fh) ||
	    conform_not(k, lock(k, node, fh, 1, F_WRLCK), 0, "taking a lock") ||
	    conform_not(k, lock(k, node, fh, 2, F_WRLCK), -EAGAIN, "taking another's") ||
	    conform_not(k, lock(k, node, fh, 1, F_UNLCK), 0, "giving it back") ||
	    conform_not(k, lock(k, node, fh, 2, F_WRLCK), 0, "taking it then") ||
	    conform_not(k, lock(k, node, fh, 2, F_UNLCK), 0, "giving it back"))
		return;
	conform_close(k, node, fh);
}

/* --- the file system --------------------------------------------------------------------- */

static void check_statfs(struct conform *k)
{
	struct load_head h = conform_head(k, FUSE_ROOT_ID);
	struct fuse_kstatfs st;

	if (conform_not(k, conform_send(k, load_build_statfs(REQ(k), &h)), 0, "the share") ||
	    conform_not(k, load_read_statfs(k->slot->out, conform_len(k), &st), 0, "its reply"))
		return;
	if (!st.bsize || !st.namelen || st.bfree > st.blocks)
		conform_fail(k, "no block size, no length of names, or more free than there is");
}

static void check_syncfs(struct conform *k)
{
	struct load_head h = conform_head(k, FUSE_ROOT_ID);

	conform_not(k, conform_send(k, load_build_syncfs(REQ(k), &h)), 0, "the share");
}

static void check_access(struct conform *k)
{
	struct load_head h;
	uint64_t node, fh;

	if (make(k, &node, &fh) || conform_close(k, node, fh))
		return;
	h = conform_head(k, node);
	if (conform_not(k, conform_send(k, load_build_access(REQ(k), &h, R_OK | W_OK)), 0,
			"reading and writing"))
		return;
	h = conform_head(k, node);
	conform_not(k, conform_send(k, load_build_access(REQ(k), &h, X_OK)), -EACCES,
		    "executing what has no x");
}

/* --- forgetting -------------------------------------------------------------------------- */

/* One of two lookups forgotten: the node is still known. */
static void check_forget(struct conform *k)
{
	struct fuse_entry_out e;
	struct fuse_attr attr;
	uint64_t node, fh;

	if (make(k, &node, &fh) || conform_close(k, node, fh) ||
	    conform_not(k, load_do_lookup(k->s, k->dir, "f", &e), 0, "a second lookup") ||
	    conform_not(k, load_session_send_forget(k->s, node, 1), 0, "one of two lookups") ||
	    conform_not(k, load_engine_drain(k->d.engine), 0, "its return") ||
	    conform_not(k, load_do_getattr(k->s, node, &attr), 0, "GETATTR of what is left") ||
	    conform_differs(k, attr.size, 4, "its size") ||
	    conform_not(k, load_session_send_forget(k->s, node, load_session_known(k->s, node) - 1),
			0, "the rest") ||
	    conform_not(k, load_engine_drain(k->d.engine), 0, "its return"))
		return;
	k->now->requests += 2;
	/* The session did not see these. */
	load_session_know(k->s, node, 0 - load_session_known(k->s, node));
	if (conform_not(k, load_do_lookup(k->s, k->dir, "f", &e), 0, "a lookup after that"))
		return;
	conform_differs(k, e.attr.size, 4, "size after that");
}

static void check_batch_forget(struct conform *k)
{
	struct fuse_forget_one one[2];
	struct fuse_entry_out e;
	struct load_slot *s;
	struct load_head h = conform_head(k, 0);
	uint64_t node, fh, dir;
	int err;

	if (make(k, &node, &fh) || conform_close(k, node, fh) || conform_mkdir(k, "d", &dir))
		return;
	one[0] = (struct fuse_forget_one){node, load_session_known(k->s, node)};
	one[1] = (struct fuse_forget_one){dir, load_session_known(k->s, dir)};
	s = load_slot_get(k->d.engine, 0);
	if (!s)
		return;
	s->uncounted = true;
	err = load_build_batch_forget(&s->req, &h, one, 2);
	if (!err)
		err = load_engine_submit(k->d.engine, s, 0);
	k->now->requests++;
	if (conform_not(k, err, 0, "sending it") ||
	    conform_not(k, load_engine_drain(k->d.engine), 0, "its return"))
		return;
	load_session_know(k->s, node, 0 - one[0].nlookup);
	load_session_know(k->s, dir, 0 - one[1].nlookup);
	if (conform_not(k, load_do_lookup(k->s, k->dir, "f", &e), 0, "a lookup after that"))
		return;
	conform_differs(k, e.attr.size, 4, "size after that");
}

const struct conform_check conform_others[] = {
	{"setxattr", check_setxattr},
	{"getxattr", check_getxattr},
	{"listxattr", check_listxattr},
	{"removexattr", check_removexattr},
	{"getlk", check_getlk},
	{"setlk", check_setlk},
	{"access", check_access},
	{"statfs", check_statfs},
	{"syncfs", check_syncfs},
	{"forget", check_forget},
	{"batch_forget", check_batch_forget},
	{NULL, NULL},
};
