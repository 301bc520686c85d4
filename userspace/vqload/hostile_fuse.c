// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * FUSE requests that no kernel sends. The chains are sound, so the daemon is to return each, and to
 * go on. See hostile.h for what keeps them from doing harm.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "vqload/fuse_reply.h"
#include "vqload/hostile_priv.h"

#define HEADER        sizeof(struct fuse_in_header)
#define REPLY         sizeof(struct fuse_out_header)
#define SAFE_SIZE     (1u << 20)
#define UNANSWERED_MS 200u

static struct fuse_in_header *header(struct host *h)
{
	return (void *)h->in.at;
}

static void *body(struct host *h)
{
	return h->in.at + HEADER;
}

/* A header of @opcode about @nodeid, for @len bytes in all. */
static void begin(struct host *h, uint32_t opcode, uint64_t nodeid, uint32_t len)
{
	struct load_head head = host_head(h, nodeid);

	*header(h) = (struct fuse_in_header){
		.len = len, .opcode = opcode, .unique = head.unique, .nodeid = nodeid, .pid = 1};
}

/* A number of a node that is ours, or none: never one that others may have. */
static uint64_t stranger(struct host *h)
{
	return load_rng(&h->rng) | 1ULL << 62;
}

/* Sends @n bytes; what the reply says, when there is one that is for this request. */
static int64_t send(struct host *h, uint32_t queue, uint32_t n, uint32_t room)
{
	struct fuse_in_header sent = *header(h), digested = sent;
	struct fuse_out_header got;
	int64_t used;

	/* unique goes on from case to case. */
	digested.unique = 0;
	host_digest(h, &digested, n < HEADER ? n : HEADER);
	used = host_exchange(h, queue, n, room, UNANSWERED_MS);
	if (used == -ETIMEDOUT) {
		h->r->unanswered++;
		h->must_reopen = true; /* its buffers are the daemon's, for good */
	}
	if (used >= 0 && !host_guards(h)) {
		h->found = LOAD_OVERWROTE;
		host_say(h, "bytes around the reply of opcode %u", sent.opcode);
	}
	if (used < (int64_t)REPLY || room < REPLY)
		return used < 0 ? used : -ENODATA;
	memcpy(&got, host_out(h), REPLY);
	return got.error;
}

/* --- headers --------------------------------------------------------------------------------- */

static void header_length(struct host *h)
{
	uint32_t n = HEADER + sizeof(struct fuse_getattr_in);
	uint32_t len = HOST_PICK(h, ((const uint32_t[]){0, 1, HEADER - 1, HEADER, n - 1, n + 1,
							4096, 1u << 20, 1u << 31, UINT32_MAX}));

	memset(body(h), 0, sizeof(struct fuse_getattr_in));
	begin(h, FUSE_GETATTR, FUSE_ROOT_ID, len);
	host_say(h, "len %u, of %u bytes", len, n);
	send(h, HOST_QUEUE, n, 120);
}

static void header_short(struct host *h)
{
	uint32_t n = (uint32_t)host_below(h, HEADER);

	begin(h, FUSE_GETATTR, FUSE_ROOT_ID, HOST_PICK(h, ((const uint32_t[]){n, HEADER, 56})));
	host_say(h, "%u bytes", n);
	send(h, HOST_QUEUE, n, 120);
}

static void reply_room(struct host *h)
{
	uint32_t room = HOST_PICK(h, ((const uint32_t[]){0, 1, 8, 15, 16, 17, 64, 119, 121}));

	memset(body(h), 0, sizeof(struct fuse_getattr_in));
	begin(h, FUSE_GETATTR, FUSE_ROOT_ID, 56);
	host_say(h, "room for %u bytes", room);
	send(h, HOST_QUEUE, 56, room);
}

/* --- every opcode ---------------------------------------------------------------------------- */

/* What must not be random: see hostile.h. */
static void tame(struct host *h, uint32_t opcode)
{
	uint64_t ours = host_below(h, 2) ? h->file : stranger(h);

	switch (opcode) {
	case FUSE_SETATTR: {
		struct fuse_setattr_in *in = body(h);

		/* A daemon that is not root could not come back. */
		in->valid &= ~(uint32_t)(FATTR_MODE | FATTR_UID | FATTR_GID);
		in->size %= SAFE_SIZE;
		break;
	}
	case FUSE_WRITE: {
		struct fuse_write_in *in = body(h);

		in->offset %= SAFE_SIZE;
		in->size %= SAFE_SIZE;
		break;
	}
	case FUSE_FALLOCATE: {
		struct fuse_fallocate_in *in = body(h);

		in->offset %= SAFE_SIZE;
		in->length %= SAFE_SIZE;
		break;
	}
	case FUSE_COPY_FILE_RANGE:
	case FUSE_COPY_FILE_RANGE_64: {
		struct fuse_copy_file_range_in *in = body(h);

		in->nodeid_out = ours;
		in->off_in %= SAFE_SIZE;
		in->off_out %= SAFE_SIZE;
		in->len %= SAFE_SIZE;
		break;
	}
	case FUSE_MKNOD: {
		struct fuse_mknod_in *in = body(h);

		in->mode = (in->mode & 0777) | (host_below(h, 2) ? S_IFREG : S_IFIFO);
		in->rdev = 0;
		break;
	}
	case FUSE_LINK:
		((struct fuse_link_in *)body(h))->oldnodeid = ours;
		break;
	case FUSE_RENAME:
	case FUSE_RENAME2:
		/* The new directory is the first field of both. */
		((struct fuse_rename_in *)body(h))->newdir = h->scratch;
		break;
	case FUSE_FORGET:
		((struct fuse_forget_in *)body(h))->nlookup |= 1ULL << 40;
		break;
	case FUSE_BATCH_FORGET:
		for (uint32_t i = 0; i < 24; i++)
			((uint64_t *)body(h))[1 + 2 * i] = stranger(h);
		break;
	}
}

/* Random bytes without a slash, so that no name in them is a path, nor ".." with something after.
 */
static void safe_bytes(struct host *h, uint8_t *p, size_t len)
{
	host_random(h, p, len);
	for (size_t i = 0; i < len; i++)
		if (p[i] == '/' || p[i] == '.')
			p[i] = 'x';
}

static uint64_t target(struct host *h, uint32_t opcode)
{
	switch (opcode) {
	case FUSE_LOOKUP:
	case FUSE_GETATTR:
	case FUSE_STATFS:
	case FUSE_ACCESS:
		return host_below(h, 2) ? FUSE_ROOT_ID : h->file;
	case FUSE_FORGET:
		return stranger(h);
	default:
		return host_below(h, 2) ? h->scratch : h->file;
	}
}

static void opcode_with_noise(struct host *h)
{
	uint32_t opcode =
		host_below(h, 16) ? (uint32_t)host_below(h, 64) : (uint32_t)load_rng(&h->rng);
	uint32_t n = HEADER + 8 * (uint32_t)host_below(h, 64);
	uint32_t room = HOST_PICK(h, ((const uint32_t[]){0, 16, 80, 120, 144, 304, 4096}));
	const struct load_op *op = load_op(opcode);

	if (op && host_below(h, 2))
		n = HEADER + op->in_args + 8 * (uint32_t)host_below(h, 4);
	safe_bytes(h, body(h), n - HEADER + 512);
	host_digest(h, body(h), n - HEADER);
	begin(h, opcode, target(h, opcode), n);
	tame(h, opcode);
	host_say(h, "%s (%u), %u bytes, room for %u", load_op_name(opcode), opcode, n, room);
	send(h, op && op->hiprio ? 0 : HOST_QUEUE, n, op && op->hiprio ? 0 : room);
	/* These end the session or the names of ours that are known. */
	if (opcode == FUSE_INIT || opcode == FUSE_DESTROY || opcode == 0x100000 /* CUSE_INIT */)
		h->must_reopen = true;
}

static void strange_handle(struct host *h)
{
	static const uint32_t opcodes[] = {FUSE_READ,     FUSE_WRITE,       FUSE_FLUSH,
					   FUSE_RELEASE,  FUSE_FSYNC,       FUSE_LSEEK,
					   FUSE_READDIR,  FUSE_READDIRPLUS, FUSE_RELEASEDIR,
					   FUSE_FSYNCDIR, FUSE_FALLOCATE};
	uint32_t opcode = HOST_PICK(h, opcodes);
	const struct load_op *op = load_op(opcode);

	memset(body(h), 0, 128);
	*(uint64_t *)body(h) =
		HOST_PICK(h, ((const uint64_t[]){h->fh + 1 + host_below(h, 1000), UINT64_MAX,
						 1ULL << 32, 1ULL << 63, stranger(h)}));
	host_say(h, "%s of handle %#llx", op->name, (unsigned long long)*(uint64_t *)body(h));
	begin(h, opcode, opcode == FUSE_READDIR ? h->scratch : h->file,
	      (uint32_t)HEADER + op->in_args);
	send(h, HOST_QUEUE, (uint32_t)HEADER + op->in_args, 4096);
}

static void strange_node(struct host *h)
{
	static const uint32_t opcodes[] = {FUSE_GETATTR, FUSE_LOOKUP, FUSE_OPEN,     FUSE_OPENDIR,
					   FUSE_STATFS,  FUSE_ACCESS, FUSE_READLINK, FUSE_GETXATTR};
	uint32_t opcode = HOST_PICK(h, opcodes);
	uint64_t nodeid = HOST_PICK(
		h, ((const uint64_t[]){0, UINT64_MAX, 1ULL << 63,
				       h->file + 1000 + host_below(h, 1000), stranger(h)}));
	uint32_t n = (uint32_t)HEADER + load_op(opcode)->in_args;

	memset(body(h), 0, 128);
	memcpy((uint8_t *)h->in.at + n, "name", 5);
	begin(h, opcode, nodeid, n + 5);
	host_say(h, "%s of node %#llx", load_op_name(opcode), (unsigned long long)nodeid);
	send(h, HOST_QUEUE, n + 5, 4096);
}

/* Sizes that are not those of the buffers. */
static void sizes(struct host *h)
{
	uint32_t size = HOST_PICK(h, ((const uint32_t[]){4097, 1u << 20, (1u << 20) + 1, 1u << 30,
							 1u << 31, UINT32_MAX}));
	uint32_t opcode = HOST_PICK(h, ((const uint32_t[]){FUSE_READ, FUSE_WRITE, FUSE_READDIR,
							   FUSE_GETXATTR, FUSE_LISTXATTR}));
	uint32_t n = (uint32_t)HEADER + load_op(opcode)->in_args;

	memset(body(h), 0, 128);
	if (opcode == FUSE_GETXATTR || opcode == FUSE_LISTXATTR) {
		((struct fuse_getxattr_in *)body(h))->size = size;
		memcpy((uint8_t *)h->in.at + n, "user.x", 7);
		n += 7;
	} else {
		/* READ, READDIR and WRITE begin alike: fh, offset, size. */
		((struct fuse_read_in *)body(h))->fh = h->fh;
		((struct fuse_read_in *)body(h))->size = size;
	}
	begin(h, opcode, h->file, n);
	host_say(h, "%s of %u with 4096 bytes", load_op_name(opcode), size);
	send(h, HOST_QUEUE, n, 4096);
}

static void queue_and_room(struct host *h)
{
	uint32_t kind = (uint32_t)host_below(h, 4), n = 56;

	memset(body(h), 0, 128);
	begin(h,
	      kind == 3 ? FUSE_INTERRUPT
	      : kind    ? FUSE_FORGET
			: FUSE_GETATTR,
	      kind ? h->file : FUSE_ROOT_ID, n);
	if (kind) {
		n = header(h)->len = HEADER + 8;
		*(uint64_t *)body(h) = kind == 1 ? 0 : 2;
	}
	host_say(h, "%s",
		 kind == 0   ? "GETATTR through hiprio"
		 : kind == 1 ? "FORGET of no lookup, with room for a reply"
		 : kind == 2 ? "FORGET through a request queue"
			     : "INTERRUPT of nothing, with room for a reply");
	send(h, kind == 0 || kind == 1 ? 0 : HOST_QUEUE, n, kind == 2 ? 0 : 120);
	if (kind == 2)
		h->must_reopen = true; /* the file's lookup is gone */
}

static void init_again(struct host *h)
{
	struct fuse_init_in in = {.max_readahead = (uint32_t)load_rng(&h->rng)};
	uint32_t n = (uint32_t)HEADER + HOST_PICK(h, ((const uint32_t[]){0, 4, 8, 15, 16, 64}));

	in.major = HOST_PICK(h, ((const uint32_t[]){0, 6, 7, 8, UINT32_MAX}));
	in.minor = HOST_PICK(h, ((const uint32_t[]){0, 5, 27, 46, UINT32_MAX}));
	in.flags = (uint32_t)load_rng(&h->rng);
	in.flags2 = (uint32_t)load_rng(&h->rng);
	memcpy(body(h), &in, sizeof(in));
	begin(h, FUSE_INIT, 0, n);
	host_say(h, "%u.%u, %u bytes", in.major, in.minor, n);
	send(h, HOST_QUEUE, n, 80);
	h->must_reopen = true;
}

/* --- names ----------------------------------------------------------------------------------- */

struct name {
	uint8_t bytes[8200];
	uint32_t len; /* as sent, with what NULs it has */
	const char *what;
	bool forbidden; /* an answer is an escape */
};

static void put_name(struct name *n, const char *what, const void *bytes, size_t len,
		     bool forbidden)
{
	memcpy(n->bytes, bytes, len);
	n->len = (uint32_t)len;
	n->what = what;
	n->forbidden = forbidden;
}

static void long_name(struct host *h, struct name *n, size_t len, const char *what, bool ends)
{
	memset(n->bytes, 'n', len);
	n->bytes[len] = 0;
	n->len = (uint32_t)len + ends;
	n->what = what;
	n->forbidden = false;
}

static void choose_name(struct host *h, struct name *n)
{
	switch (host_below(h, 14)) {
	case 0:
		return put_name(n, "\"sub/inner\"", "sub/inner", 10, true);
	case 1:
		return put_name(n, "\"sub/\"", "sub/", 5, true);
	case 2:
		return put_name(n, "\"./sub\"", "./sub", 6, true);
	case 3:
		return put_name(n, "\"sub/../sub\"", "sub/../sub", 11, true);
	case 4:
		return put_name(n, "\"sub//inner\"", "sub//inner", 11, true);
	case 5:
		return put_name(n, "empty", "", 1, false);
	case 6:
		return put_name(n, "of no byte", "", 0, false);
	case 7:
		return put_name(n, "with a NUL within", "sub\0/inner", 11, false);
	case 8:
		return put_name(n, "that does not end", "sub", 3, false);
	case 9:
		return long_name(h, n, 256, "of 256 bytes", true);
	case 10:
		return long_name(h, n, 4095, "of 4095 bytes", true);
	case 11:
		return long_name(h, n, 8000, "of 8000 bytes", true);
	case 12:
		return long_name(h, n, 4096, "of 4096 bytes that does not end", false);
	default:
		safe_bytes(h, n->bytes, 40);
		n->len = 40;
		n->what = "of random bytes";
		n->forbidden = false;
	}
}

static void names(struct host *h)
{
	static const uint32_t makers[] = {FUSE_LOOKUP,  FUSE_LOOKUP,      FUSE_MKDIR,   FUSE_CREATE,
					  FUSE_SYMLINK, FUSE_REMOVEXATTR, FUSE_GETXATTR};
	uint32_t opcode = HOST_PICK(h, makers), n;
	struct name name = {.len = 0};
	int64_t answer;

	choose_name(h, &name);
	/* Paths are for LOOKUP, which changes nothing. */
	if (name.forbidden)
		opcode = FUSE_LOOKUP;
	n = (uint32_t)HEADER + load_op(opcode)->in_args;
	memset(body(h), 0, 64 + 8200);
	if (opcode == FUSE_MKDIR || opcode == FUSE_CREATE)
		((uint32_t *)body(h))[opcode == FUSE_CREATE] = 0644; /* mode */
	memcpy(h->in.at + n, name.bytes, name.len);
	n += name.len;
	host_digest(h, name.bytes, name.len);
	begin(h, opcode, h->scratch, n);
	host_say(h, "%s of a name %s", load_op_name(opcode), name.what);
	answer = send(h, HOST_QUEUE, n, 4096);
	if (!answer && name.forbidden)
		h->found = LOAD_WALKED;
}

/*
 * ".." of the root must not leave the share; of a directory in it, it is what a kernel asks for
 * when the share is exported by NFS (FUSE_EXPORT_SUPPORT), and then is its parent; or itself, where
 * the daemon resolves each name with the directory as its root (RESOLVE_IN_ROOT).
 */
static void dot_dot(struct host *h)
{
	bool root = host_below(h, 2), dot = !host_below(h, 4);
	struct fuse_entry_out entry;
	const char *name = dot ? "." : "..";
	uint32_t n = (uint32_t)HEADER + (uint32_t)strlen(name) + 1;

	strcpy(body(h), name);
	begin(h, FUSE_LOOKUP, root ? FUSE_ROOT_ID : h->scratch, n);
	host_say(h, "LOOKUP of \"%s\" in %s", name, root ? "the root" : "a directory of it");
	if (send(h, HOST_QUEUE, n, 144) || dot)
		return;
	if (load_read_entry(host_out(h), 144, &entry) || !entry.nodeid ||
	    entry.attr.ino == h->root_ino || entry.attr.ino == h->scratch_ino)
		return;
	h->found = LOAD_ESCAPED;
	host_say(h, "\"..\" in %s: inode %llu, root %llu", root ? "the root" : "a directory",
		 (unsigned long long)entry.attr.ino, (unsigned long long)h->root_ino);
}

const struct host_kind host_fuse_kinds[] = {
	{"header_length", header_length},
	{"header_short", header_short},
	{"reply_room", reply_room},
	{"opcode", opcode_with_noise},
	{"handle", strange_handle},
	{"node", strange_node},
	{"sizes", sizes},
	{"queue", queue_and_room},
	{"init", init_again},
	{"name", names},
	{"dot_dot", dot_dot},
};
const uint32_t host_fuse_nr = ARRAY_SIZE(host_fuse_kinds);
