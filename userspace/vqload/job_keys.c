// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of keys, and that of workloads. Times are limited in ns, sizes in bytes. */
#include "common/cleanup.h"
#include "common/fuse_abi.h"
#include "vqload/job_priv.h"

#define MS  1000000ULL
#define S   1000000000ULL
#define DAY (86400 * S)

static const char *const arrivals[] = {
	[LOAD_ARRIVAL_CLOSED] = "closed",
	[LOAD_ARRIVAL_UNIFORM] = "uniform",
	[LOAD_ARRIVAL_POISSON] = "poisson",
	NULL,
};
static const char *const picks[] = {
	[LOAD_PICK_AUTO] = "auto",
	[LOAD_PICK_SMOOTH] = "smooth",
	[LOAD_PICK_RANDOM] = "random",
	NULL,
};
static const char *const verifies[] = {
	[LOAD_VERIFY_NONE] = "none",
	[LOAD_VERIFY_CRC32C] = "crc32c",
	NULL,
};

#define JOB(field)                                               \
	.job = true, .offset = offsetof(struct load_job, field), \
	.width = sizeof(((struct load_job *)NULL)->field)
#define PHASE(field)                                                 \
	.phase = true, .offset = offsetof(struct load_phase, field), \
	.width = sizeof(((struct load_phase *)NULL)->field)

const struct load_key load_keys[] = {
	{
		.name = "rw",
		.arg = "WORKLOAD",
		.kind = LOAD_KEY_ENUM,
		JOB(rw),
		.fallback = "read",
		.help = "What the job does.",
		.man = "See WORKLOADS; rw may be called readwrite. Those that fio does not have "
		       "work "
		       "on names and attributes.",
	},
	{
		.name = "bs",
		.arg = "SIZE",
		.kind = LOAD_KEY_SIZE,
		JOB(bs),
		.min = 1,
		.max = 4 << 20,
		.fallback = "4k",
		.help = "Bytes of one read or write.",
		.man = "The daemon may allow less in one request: max_pages and max_write of INIT.",
	},
	{
		.name = "iodepth",
		.arg = "N",
		.kind = LOAD_KEY_NUMBER,
		JOB(iodepth),
		.min = 1,
		.max = 32768,
		.fallback = "1",
		.help = "Requests in flight.",
		.man = "With an open loop the most that may be in flight: what is due beyond that "
		       "waits, and its waiting counts as latency.",
	},
	{
		.name = "size",
		.arg = "SIZE",
		.kind = LOAD_KEY_SIZE,
		JOB(size),
		.min = 1,
		.max = 1ULL << 50,
		.fallback = "16m",
		.help = "Bytes of all files of one copy of the job.",
		.man = "The job ends after this many bytes, unless it is time_based.",
	},
	{
		.name = "nrfiles",
		.arg = "N",
		.kind = LOAD_KEY_NUMBER,
		JOB(nrfiles),
		.min = 1,
		.max = 1000000,
		.fallback = "1",
		.help = "Files of one copy of the job.",
		.man = "Workloads on names and attributes work on these files.",
	},
	{
		.name = "runtime",
		.arg = "TIME",
		.kind = LOAD_KEY_TIME,
		JOB(runtime_ns),
		.max = 30 * DAY,
		.fallback = "0",
		.help = "End the job after this time; 0 is no limit.",
	},
	{
		.name = "time_based",
		.kind = LOAD_KEY_FLAG,
		JOB(time_based),
		.help = "Go on until runtime, however often the files are done.",
	},
	{
		.name = "startdelay",
		.arg = "TIME",
		.kind = LOAD_KEY_TIME,
		JOB(startdelay_ns),
		.max = DAY,
		.fallback = "0",
		.help = "Start the job so much later.",
	},
	{
		.name = "ramp_time",
		.arg = "TIME",
		.kind = LOAD_KEY_TIME,
		JOB(ramp_time_ns),
		.max = DAY,
		.fallback = "0",
		.help = "Run so long before anything is counted.",
		.man = "The time comes on top of runtime. Findings count from the start.",
	},
	{
		.name = "rate_iops",
		.arg = "N",
		.kind = LOAD_KEY_NUMBER,
		JOB(rate_iops),
		.max = 1000000000,
		.fallback = "0",
		.help = "Requests a second of one copy of the job; 0 is no limit.",
		.man = "With arrival=closed a limit, as in fio; with an open loop the rate.",
	},
	{
		.name = "rwmixread",
		.arg = "PERCENT",
		.kind = LOAD_KEY_NUMBER,
		JOB(rwmixread),
		.max = 100,
		.fallback = "50",
		.help = "Share of reads in rw and randrw.",
	},
	{
		.name = "numjobs",
		.arg = "N",
		.kind = LOAD_KEY_NUMBER,
		JOB(numjobs),
		.min = 1,
		.max = 1024,
		.fallback = "1",
		.help = "Copies of the job, each with files of its own.",
	},
	{
		.name = "fsync",
		.arg = "N",
		.kind = LOAD_KEY_NUMBER,
		JOB(fsync),
		.max = 1000000000,
		.fallback = "0",
		.help = "Send an FSYNC after every N writes; 0 is never.",
	},
	{
		.name = "verify",
		.arg = "METHOD",
		.kind = LOAD_KEY_ENUM,
		JOB(verify),
		.names = verifies,
		.fallback = "none",
		.help = "Mark what is written and check what is read.",
		.man = "One of none and crc32c. A block says which file, offset and write it "
		       "belongs to, so that stale, misplaced, torn and corrupt ones are told "
		       "apart.",
	},
	{
		.name = "verify_fatal",
		.kind = LOAD_KEY_FLAG,
		JOB(verify_fatal),
		.help = "Stop at the first wrong block.",
	},
	{
		.name = "randseed",
		.arg = "N",
		.kind = LOAD_KEY_NUMBER,
		JOB(randseed),
		.max = UINT64_MAX,
		.fallback = "1",
		.help = "Seed of offsets, arrivals and queues.",
		.man = "The same seed gives the same requests.",
	},
	{
		.name = "directory",
		.arg = "PATH",
		.kind = LOAD_KEY_PATH,
		JOB(directory),
		.help = "Where the files are, below the root of the share.",
	},
	{
		.name = "filename",
		.arg = "PATH",
		.kind = LOAD_KEY_PATH,
		JOB(filename),
		.help = "The only file, instead of one made from the job's name.",
	},
	{
		.name = "arrival",
		.arg = "KIND",
		.kind = LOAD_KEY_ENUM,
		JOB(arrival),
		.names = arrivals,
		.fallback = "closed",
		.ours = true,
		.help = "When requests come.",
		.man = "With closed the next one comes when one returns. With uniform and poisson "
		       "they come at rate_iops, whatever the daemon does, and latency counts from "
		       "the time they were due.",
	},
	{
		.name = "queues",
		.arg = "LIST",
		.kind = LOAD_KEY_QUEUES,
		JOB(weight),
		.min = 1,
		.max = LOAD_QUEUES - 1,
		.ours = true,
		.help = "Queues that the job uses, such as 1-4,6.",
		.man = "All request queues of the device if nothing is said. Each gets weight 1.",
	},
	{
		.name = "queue_weights",
		.arg = "Q:W,...",
		.kind = LOAD_KEY_WEIGHTS,
		JOB(weight),
		.max = 1000000,
		.ours = true,
		.help = "Shares of queues, such as 1:5,2:1.",
		.man = "Adds to queues, if that came before; else the job uses these queues only. "
		       "Weight 0 takes a queue out.",
	},
	{
		.name = "queue_rate_iops",
		.arg = "N|Q:N,...",
		.kind = LOAD_KEY_RATES,
		JOB(queue_rate),
		.min = 1,
		.max = 1000000000,
		.ours = true,
		.help = "Requests a second of each queue, such as 1000 or 1:5000,2:200.",
		.man = "Instead of rate_iops, which it sets to the sum. In the second form the job "
		       "uses these queues only.",
	},
	{
		.name = "queue_pick",
		.arg = "KIND",
		.kind = LOAD_KEY_ENUM,
		JOB(queue_pick),
		.names = picks,
		.fallback = "auto",
		.ours = true,
		.help = "How a request gets its queue by the weights.",
		.man = "One of smooth (exact shares, evenly spread), random (each on its own) and "
		       "auto, which is random for arrival=poisson, where each queue is then "
		       "Poisson too, and else smooth.",
	},
	{
		.name = "age_limit",
		.arg = "TIME",
		.kind = LOAD_KEY_TIME,
		JOB(age_limit_ns),
		.max = DAY,
		.fallback = "30s",
		.ours = true,
		.help = "Report requests that are in flight for longer; 0 is never.",
	},
	{
		.name = "duration",
		.arg = "TIME",
		.kind = LOAD_KEY_TIME,
		PHASE(duration_ns),
		.min = MS,
		.max = 30 * DAY,
		.ours = true,
		.help = "How long the phase lasts.",
	},
	{
		.name = "queue_weights",
		.arg = "Q:W,...",
		.kind = LOAD_KEY_WEIGHTS,
		PHASE(weight),
		.max = 1000000,
		.ours = true,
		.help = "Shares of queues while it lasts.",
		.man = "They count for the queues that a job has; when they leave it none, its own "
		       "stay.",
	},
};
const size_t load_nr_keys = ARRAY_SIZE(load_keys);

const char *const load_foreign_keys[] = {
	"ioengine",   "direct",      "buffered", "thread",         "group_reporting",
	"invalidate", "fallocate",   "name",     "cpus_allowed",   "sync",
	"end_fsync",  "norandommap", "bsrange",  "create_on_open", NULL,
};

#define DATA(n, a, rd, wr, rnd, what)                                                      \
	{                                                                                  \
		.name = (n), .alias = (a), .reads = (rd), .writes = (wr), .random = (rnd), \
		.help = (what)                                                             \
	}
#define META(n, what, ...)                                          \
	{                                                           \
		.name = (n), .steps = {__VA_ARGS__}, .help = (what) \
	}

const struct load_rw_spec load_rws[LOAD_RWS] = {
	[LOAD_RW_READ] = DATA("read", NULL, true, false, false, "Reads in order."),
	[LOAD_RW_WRITE] = DATA("write", NULL, false, true, false, "Writes in order."),
	[LOAD_RW_RW] = DATA("rw", "readwrite", true, true, false, "Reads and writes in order."),
	[LOAD_RW_RANDREAD] = DATA("randread", NULL, true, false, true, "Reads anywhere."),
	[LOAD_RW_RANDWRITE] = DATA("randwrite", NULL, false, true, true, "Writes anywhere."),
	[LOAD_RW_RANDRW] = DATA("randrw", NULL, true, true, true, "Reads and writes anywhere."),
	[LOAD_RW_GETATTR] = META("getattr", "Attributes of a file.", FUSE_GETATTR),
	[LOAD_RW_STATX] = META("statx", "The same by STATX, since protocol 7.39.", FUSE_STATX),
	[LOAD_RW_LOOKUP] = META("lookup", "Names of files.", FUSE_LOOKUP),
	[LOAD_RW_FORGET] =
		META("forget", "Looks a name up and forgets the node.", FUSE_LOOKUP, FUSE_FORGET),
	[LOAD_RW_ACCESS] = META("access", "Asks for permission.", FUSE_ACCESS),
	[LOAD_RW_OPEN] =
		META("open", "Opens a file and closes it.", FUSE_OPEN, FUSE_FLUSH, FUSE_RELEASE),
	[LOAD_RW_READDIR] = META("readdir", "Reads the directory.", FUSE_OPENDIR, FUSE_READDIR,
				 FUSE_RELEASEDIR),
	[LOAD_RW_READDIRPLUS] = META("readdirplus", "The same with attributes.", FUSE_OPENDIR,
				     FUSE_READDIRPLUS, FUSE_RELEASEDIR),
	[LOAD_RW_CREATE] =
		META("create", "Makes a file, writes bs bytes, closes and removes it.", FUSE_CREATE,
		     FUSE_WRITE, FUSE_FLUSH, FUSE_RELEASE, FUSE_UNLINK, FUSE_FORGET),
	[LOAD_RW_MKNOD] =
		META("mknod", "Makes a node and removes it.", FUSE_MKNOD, FUSE_UNLINK, FUSE_FORGET),
	[LOAD_RW_MKDIR] = META("mkdir", "Makes a directory and removes it.", FUSE_MKDIR, FUSE_RMDIR,
			       FUSE_FORGET),
	[LOAD_RW_RENAME] = META("rename", "Renames a file and back.", FUSE_RENAME, FUSE_RENAME),
	[LOAD_RW_LINK] = META("link", "Links a file and removes the link.", FUSE_LINK, FUSE_UNLINK,
			      FUSE_FORGET),
	[LOAD_RW_SYMLINK] = META("symlink", "Makes a symbolic link, reads and removes it.",
				 FUSE_SYMLINK, FUSE_READLINK, FUSE_UNLINK, FUSE_FORGET),
	[LOAD_RW_SETATTR] = META("setattr", "Changes mode and times of a file.", FUSE_SETATTR),
	[LOAD_RW_XATTR] = META("xattr", "Sets, gets, lists and removes an extended attribute.",
			       FUSE_SETXATTR, FUSE_GETXATTR, FUSE_LISTXATTR, FUSE_REMOVEXATTR),
	[LOAD_RW_STATFS] = META("statfs", "Asks for free space.", FUSE_STATFS),
	[LOAD_RW_LSEEK] = META("lseek", "Looks for the next hole.", FUSE_LSEEK),
	[LOAD_RW_FALLOCATE] = META("fallocate", "Allocates bs bytes of a file.", FUSE_FALLOCATE),
	[LOAD_RW_COPY] = META("copy", "Copies bs bytes within a file.", FUSE_COPY_FILE_RANGE),
	[LOAD_RW_LOCK] = META("lock", "Looks for a lock, takes it and gives it back.", FUSE_GETLK,
			      FUSE_SETLK, FUSE_SETLK),
	[LOAD_RW_FLUSH] = META("flush", "Flushes an open file.", FUSE_FLUSH),
};
