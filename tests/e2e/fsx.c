// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fsx [OPTION...] FILE: random operations on FILE, and the same on a model of it in memory; what is
 * read must be what the model says. After the idea of fsx, the file system exerciser.
 *
 * At a difference: seed, operation and what was done last, on stderr, exit status 1. Otherwise one
 * line of JSON: how often each operation succeeded, and how often it was not supported.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/falloc.h>

#define PAGE       4096u
#define KEPT       50u /* operations that are told at a difference */
#define MAX_LENGTH 65536u
#define NR_OPS     16u
#define FLAGS      (O_RDWR | O_CREAT | O_CLOEXEC)

struct done {
	uint64_t number;
	const char *name;
	uint64_t at, to, len, size;
};

struct fsx {
	const char *path;
	uint64_t seed, random, ops, number, broken_at;
	uint32_t max, size, align;
	int fd, direct_fd; /* the second one with O_DIRECT, or -1 */
	uint8_t *model, *buf;
	struct done done[KEPT];
	uint64_t succeeded[NR_OPS], refused[NR_OPS];
};

/* --- telling --------------------------------------------------------------------------------- */

static void tell_done(const struct fsx *f)
{
	uint64_t first = f->number < KEPT ? 0 : f->number - KEPT + 1;

	for (uint64_t i = first; i <= f->number; i++) {
		const struct done *d = &f->done[i % KEPT];

		if (!d->name)
			continue;
		fprintf(stderr, "  %" PRIu64 " %s at %" PRIu64 " length %" PRIu64, d->number,
			d->name, d->at, d->len);
		if (d->to)
			fprintf(stderr, " to %" PRIu64, d->to);
		fprintf(stderr, ", size was %" PRIu64 "\n", d->size);
	}
}

static __attribute__((noreturn, format(printf, 2, 3))) void fail(const struct fsx *f,
								 const char *format, ...)
{
	va_list args;

	fprintf(stderr, "fsx: %s, seed %" PRIu64 ", operation %" PRIu64 ": ", f->path, f->seed,
		f->number);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nthe last operations:\n");
	tell_done(f);
	exit(1);
}

/* @got at offset @at must be what the model has there. */
static void compare(const struct fsx *f, const uint8_t *got, uint32_t at, uint32_t len)
{
	uint32_t first = 0, different = 0, last = 0;

	if (!memcmp(got, f->model + at, len))
		return;
	for (uint32_t i = 0; i < len; i++) {
		if (got[i] == f->model[at + i])
			continue;
		first = different++ ? first : i;
		last = i;
	}
	fail(f, "%u bytes differ from offset %u to %u; the first is 0x%02x and should be 0x%02x",
	     different, at + first, at + last, got[first], f->model[at + first]);
}

/* --- chance ---------------------------------------------------------------------------------- */

static uint32_t chance(struct fsx *f, uint32_t below) /* splitmix64 */
{
	uint64_t z = f->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ z >> 31) % below);
}

static struct done *range(struct fsx *f, uint32_t limit, uint32_t align)
{
	struct done *d = &f->done[f->number % KEPT];
	uint32_t at = chance(f, limit), len;

	/* Ends of pages are where mistakes live. */
	if (!chance(f, 4))
		at = at / PAGE * PAGE;
	at = at / align * align;
	len = 1 + chance(f, limit - at < MAX_LENGTH ? limit - at : MAX_LENGTH);
	len = chance(f, 3) ? len : 1 + len % 16;
	len = (len + align - 1) / align * align;
	d->at = at;
	d->len = at + len > limit ? limit - at : len;
	return d;
}

static void fill(struct fsx *f, uint8_t *to, uint32_t len)
{
	uint8_t start = (uint8_t)chance(f, 256), step = (uint8_t)(chance(f, 128) * 2 + 1);

	for (uint32_t i = 0; i < len; i++)
		to[i] = (uint8_t)(start + i * step + (i >> 8));
}

/* --- operations: 0 or -errno; the model follows what succeeded ---------------------------------
 */

static void grow(struct fsx *f, uint64_t size)
{
	f->size = size > f->size ? (uint32_t)size : f->size;
}

static int read_at(struct fsx *f, int fd, uint32_t at, uint32_t len)
{
	uint32_t want = at >= f->size ? 0 : f->size - at < len ? f->size - at : len;
	ssize_t n = pread(fd, f->buf, len, at);

	if (n < 0)
		return -errno;
	if ((uint32_t)n != want)
		fail(f, "%zd bytes were read, of a file of %u it should be %u", n, f->size, want);
	compare(f, f->buf, at, want);
	return 0;
}

static int write_at(struct fsx *f, int fd, const struct done *d)
{
	ssize_t n;

	fill(f, f->buf, (uint32_t)d->len);
	n = pwrite(fd, f->buf, d->len, (off_t)d->at);
	if (n < 0)
		return -errno;
	if ((uint64_t)n != d->len)
		fail(f, "%zd bytes were written, not %" PRIu64, n, d->len);
	memcpy(f->model + d->at, f->buf, d->len);
	grow(f, d->at + d->len);
	return 0;
}

static int op_read(struct fsx *f)
{
	struct done *d = range(f, f->max, 1);

	return read_at(f, f->fd, (uint32_t)d->at, (uint32_t)d->len);
}

static int op_write(struct fsx *f)
{
	return write_at(f, f->fd, range(f, f->max, 1));
}

static int op_direct_read(struct fsx *f)
{
	struct done *d = range(f, f->max, f->align);

	if (f->direct_fd < 0)
		return -EOPNOTSUPP;
	return read_at(f, f->direct_fd, (uint32_t)d->at, (uint32_t)d->len);
}

static int op_direct_write(struct fsx *f)
{
	struct done *d = range(f, f->max, f->align);

	return f->direct_fd < 0 ? -EOPNOTSUPP : write_at(f, f->direct_fd, d);
}

static int set_size(struct fsx *f, uint32_t size)
{
	if (ftruncate(f->fd, size))
		return -errno;
	if (size < f->size)
		memset(f->model + size, 0, f->size - size);
	f->size = size;
	return 0;
}

static int op_truncate(struct fsx *f)
{
	struct done *d = range(f, f->max, 1);

	d->len = 0;
	return set_size(f, (uint32_t)d->at);
}

/* Maps the pages of d's range; *in is where it begins. */
static uint8_t *map(const struct fsx *f, const struct done *d, int prot, uint8_t **in, size_t *len)
{
	uint64_t start = d->at / PAGE * PAGE;
	uint8_t *p;

	*len = d->at + d->len - start;
	p = mmap(NULL, *len, prot, MAP_SHARED, f->fd, (off_t)start);
	*in = p + (d->at - start);
	return p;
}

static int op_map_read(struct fsx *f)
{
	struct done *d = range(f, f->max, 1);
	size_t len;
	uint8_t *p, *in;

	if (d->at >= f->size)
		return 0;
	d->len = d->at + d->len > f->size ? f->size - d->at : d->len;
	p = map(f, d, PROT_READ, &in, &len);
	if (p == MAP_FAILED)
		return -errno;
	compare(f, in, (uint32_t)d->at, (uint32_t)d->len);
	/* From the end of the file to that of its last page are zeros. */
	for (uint64_t i = f->size; d->at + d->len == f->size && i % PAGE; i++)
		if (in[i - d->at])
			fail(f, "offset %" PRIu64 " is mapped, behind the end, and not 0", i);
	munmap(p, len);
	return 0;
}

static int op_map_write(struct fsx *f)
{
	struct done *d = range(f, f->max, 1);
	uint8_t *p, *in;
	size_t len;
	int err = 0;

	if (d->at + d->len > f->size)
		err = set_size(f, (uint32_t)(d->at + d->len));
	if (err)
		return err;
	p = map(f, d, PROT_READ | PROT_WRITE, &in, &len);
	if (p == MAP_FAILED)
		return -errno;
	fill(f, f->model + d->at, (uint32_t)d->len);
	memcpy(in, f->model + d->at, d->len);
	if (chance(f, 2) && msync(p, len, MS_SYNC))
		fail(f, "msync: %s", strerror(errno));
	munmap(p, len);
	return 0;
}

static int allocate(struct fsx *f, int mode, bool zeroes)
{
	struct done *d = range(f, f->max, 1);
	uint64_t end = d->at + d->len;

	if (fallocate(f->fd, mode, (off_t)d->at, (off_t)d->len))
		return -errno;
	if (!(mode & FALLOC_FL_KEEP_SIZE))
		grow(f, end);
	if (zeroes && d->at < f->size)
		memset(f->model + d->at, 0, (end < f->size ? end : f->size) - d->at);
	return 0;
}

static int op_allocate(struct fsx *f)
{
	return allocate(f, 0, false);
}

static int op_allocate_keep(struct fsx *f)
{
	return allocate(f, FALLOC_FL_KEEP_SIZE, false);
}

static int op_punch(struct fsx *f)
{
	return allocate(f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, true);
}

static int op_zero(struct fsx *f)
{
	return allocate(f, FALLOC_FL_ZERO_RANGE | (chance(f, 2) ? FALLOC_FL_KEEP_SIZE : 0), true);
}

static int op_copy(struct fsx *f)
{
	struct done *d = range(f, f->max, 1);
	off_t from, to;
	ssize_t n;

	if (d->at >= f->size)
		return 0;
	d->len = d->at + d->len > f->size ? f->size - d->at : d->len;
	d->to = chance(f, f->max - (uint32_t)d->len + 1);
	if (d->to < d->at + d->len && d->at < d->to + d->len) /* EINVAL by definition */
		return 0;
	from = (off_t)d->at;
	to = (off_t)d->to;
	n = copy_file_range(f->fd, &from, f->fd, &to, d->len, 0);
	if (n < 0)
		return -errno;
	if (!n || (uint64_t)n > d->len)
		fail(f, "%zd bytes were copied, not 1 to %" PRIu64, n, d->len);
	memcpy(f->model + d->to, f->model + d->at, (size_t)n);
	grow(f, d->to + (uint64_t)n);
	return 0;
}

static int op_sync(struct fsx *f)
{
	return (chance(f, 2) ? fsync : fdatasync)(f->fd) ? -errno : 0;
}

static int op_stat(struct fsx *f)
{
	struct stat st;

	if (fstat(f->fd, &st))
		return -errno;
	if (st.st_size != (off_t)f->size)
		fail(f, "fstat says %lld bytes, it should be %u", (long long)st.st_size, f->size);
	return 0;
}

/* A multiqueue device chooses the queue by the CPU. */
static int op_hop(struct fsx *f)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(chance(f, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)), &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

static int open_files(struct fsx *f, int flags)
{
	f->fd = open(f->path, FLAGS | flags, 0600);
	if (f->fd < 0)
		fail(f, "open: %s", strerror(errno));
	f->direct_fd = open(f->path, FLAGS | O_DIRECT, 0600);
	if (f->direct_fd < 0 && errno != EINVAL)
		fail(f, "open with O_DIRECT: %s", strerror(errno));
	return 0;
}

static int op_reopen(struct fsx *f)
{
	if (close(f->fd) || (f->direct_fd >= 0 && close(f->direct_fd)))
		fail(f, "close: %s", strerror(errno));
	open_files(f, 0);
	op_stat(f);
	return read_at(f, f->fd, 0, f->max + 1);
}

static const struct op {
	const char *name;
	int (*run)(struct fsx *f);
	uint32_t weight;
} ops[NR_OPS] = {
	{"read", op_read, 12},
	{"write", op_write, 12},
	{"direct_read", op_direct_read, 8},
	{"direct_write", op_direct_write, 8},
	{"map_read", op_map_read, 8},
	{"map_write", op_map_write, 8},
	{"truncate", op_truncate, 4},
	{"allocate", op_allocate, 3},
	{"allocate_keep", op_allocate_keep, 2},
	{"punch", op_punch, 4},
	{"zero", op_zero, 3},
	{"copy", op_copy, 6},
	{"sync", op_sync, 2},
	{"stat", op_stat, 4},
	{"reopen", op_reopen, 3},
	{"hop", op_hop, 6},
};

static uint32_t choose(struct fsx *f)
{
	uint32_t sum = 0, i = 0, at;

	for (i = 0; i < NR_OPS; i++)
		sum += ops[i].weight;
	at = chance(f, sum);
	for (i = 0; at >= ops[i].weight; i++)
		at -= ops[i].weight;
	return i;
}

static void run(struct fsx *f)
{
	for (f->number = 0; f->number < f->ops; f->number++) {
		uint32_t op = choose(f);
		int err;

		f->done[f->number % KEPT] =
			(struct done){.number = f->number, .name = ops[op].name, .size = f->size};
		if (f->number + 1 == f->broken_at && f->size)
			f->model[f->size / 2] ^= 1;
		err = ops[op].run(f);
		f->succeeded[op] += !err;
		f->refused[op] += err == -EOPNOTSUPP;
		if (err && err != -EOPNOTSUPP)
			fail(f, "%s: %s", ops[op].name, strerror(-err));
	}
	f->done[f->number % KEPT] =
		(struct done){.number = f->number, .name = "reopen at the end", .size = f->size};
	op_reopen(f);
}

static void report(const struct fsx *f)
{
	printf("{\"seed\":%" PRIu64 ",\"operations\":%" PRIu64 ",\"done\":{", f->seed, f->ops);
	for (uint32_t i = 0; i < NR_OPS; i++)
		printf("%s\"%s\":%" PRIu64, i ? "," : "", ops[i].name, f->succeeded[i]);
	printf("},\"refused\":{");
	for (uint32_t i = 0, n = 0; i < NR_OPS; i++)
		if (f->refused[i])
			printf("%s\"%s\":%" PRIu64, n++ ? "," : "", ops[i].name, f->refused[i]);
	printf("}}\n");
}

static __attribute__((noreturn)) void usage(void)
{
	fprintf(stderr,
		"usage: fsx [OPTION...] FILE\n"
		"  --seed N      of the chances (1); the same seed does the same\n"
		"  --ops N       operations (10000)\n"
		"  --size BYTES  the file has at most (262144)\n"
		"  --align N     of what is read and written with O_DIRECT (4096)\n"
		"  --break N     make the model wrong at the Nth operation, to see it found\n");
	exit(2);
}

static void parse(struct fsx *f, int argc, char **argv)
{
	static const struct option options[] = {
		{"seed", required_argument, NULL, 's'},  {"ops", required_argument, NULL, 'n'},
		{"size", required_argument, NULL, 'l'},  {"align", required_argument, NULL, 'a'},
		{"break", required_argument, NULL, 'b'}, {0}};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		uint64_t n = optarg ? strtoull(optarg, NULL, 10) : 0;

		if (c == 's')
			f->seed = n;
		else if (c == 'n')
			f->ops = n;
		else if (c == 'l')
			f->max = (uint32_t)n;
		else if (c == 'a')
			f->align = (uint32_t)n;
		else if (c == 'b')
			f->broken_at = n;
		else
			usage();
	}
	if (optind + 1 != argc || f->max < PAGE || f->max > 1u << 30 || !f->align)
		usage();
	f->path = argv[optind];
}

int main(int argc, char **argv)
{
	struct fsx f = {.seed = 1, .ops = 10000, .max = 262144, .align = PAGE};

	parse(&f, argc, argv);
	f.random = f.seed;
	f.max = f.max / PAGE * PAGE;
	f.model = calloc(1, f.max + MAX_LENGTH);
	f.buf = aligned_alloc(PAGE, f.max + PAGE);
	if (!f.model || !f.buf)
		fail(&f, "no memory");
	open_files(&f, O_TRUNC);
	run(&f);
	report(&f);
	return 0;
}
