// SPDX-License-Identifier: GPL-2.0-or-later
/* vqsteer trace: a line per finished request. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/render.h"
#include "cli/signals.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "export/json.h"

#define WAIT_MS 250           /* how late a closed pipe is noticed when nothing happens */
#define LOST_NS VQS_SECOND_NS /* between two notes about lost records */
#define COLUMNS 120

struct trace_run {
	const struct cli_opts *o;
	struct obs_guest *guest;
	struct rend out;
	int64_t real_minus_mono_ns;
	uint64_t printed;
	uint64_t lost; /* as last said */
	uint64_t lost_said_ns;
	int err; /* of writing, 0 or -errno */
};

static void run_release(struct trace_run *run)
{
	obs_guest_close(run->guest);
}

/* When the request ended, by the wall clock: "15:20:01.123". */
static void wall_clock(char out[32], const struct trace_run *run, uint64_t mono_ns)
{
	int64_t real = (int64_t)mono_ns + run->real_minus_mono_ns;
	time_t seconds = (time_t)(real / (int64_t)VQS_SECOND_NS);
	struct tm tm;

	if (!localtime_r(&seconds, &tm))
		memset(&tm, 0, sizeof(tm));
	snprintf(out, 32, "%02d:%02d:%02d.%03ld", tm.tm_hour, tm.tm_min, tm.tm_sec,
		 (long)(real % (int64_t)VQS_SECOND_NS / 1000000));
}

static const enum vqs_hop shown[] = {VQS_HOP_BACKGROUND, VQS_HOP_INPUT, VQS_HOP_DEVICE,
				     VQS_HOP_COMPLETE,   VQS_HOP_WAKE,  VQS_HOP_TOTAL};
static const char *const heads[] = {"BG", "INPUT", "DEVICE", "COMPL", "WAKE", "TOTAL"};

static void print_head(struct rend *r)
{
	rend_left(r, REND_BOLD, 13, "TIME");
	rend_left(r, REND_BOLD, 10, "TAG");
	rend_right(r, REND_BOLD, 3, "Q");
	rend_right(r, REND_BOLD, 5, "CPU");
	rend_right(r, REND_BOLD, 8, "PID");
	rend_text(r, REND_PLAIN, "  ");
	rend_left(r, REND_BOLD, 12, "OP");
	rend_right(r, REND_BOLD, 8, "BYTES");
	rend_text(r, REND_PLAIN, "  ");
	rend_left(r, REND_BOLD, 9, "ERR");
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		rend_right(r, REND_BOLD, 8, heads[i]);
	rend_end(r);
}

static void number(struct rend *r, int width, uint64_t n)
{
	rend_printf(r, REND_PLAIN, "%*llu", width, (unsigned long long)n);
}

static void print_error(struct rend *r, int32_t error)
{
	const char *name = error < 0 ? strerrorname_np(-error) : NULL;
	char text[16];

	snprintf(text, sizeof(text), "%d", error);
	rend_text(r, REND_PLAIN, "  ");
	rend_left(r, error ? REND_BAD : REND_DIM, 9, !error ? "-" : name ? name : text);
}

static void print_line(struct trace_run *run, const struct vqs_trace *t, const char *tag,
		       uint32_t queue_index)
{
	struct rend *r = &run->out;
	char text[32], safe[VQS_TAG_LEN], num[REND_NUM];
	uint64_t ns;

	wall_clock(text, run, t->end_ns);
	rend_safe(safe, sizeof(safe), tag);
	rend_left(r, REND_DIM, 13, text);
	rend_left(r, REND_PLAIN, 10, safe);
	number(r, 3, queue_index);
	number(r, 5, t->cpu);
	number(r, 8, t->pid);
	rend_text(r, REND_PLAIN, "  ");
	rend_left(r, REND_BOLD, 12, obs_op_name(t->opcode));
	rend_right(r, REND_PLAIN, 8, rend_bytes(num, (uint64_t)t->bytes_in + t->bytes_out));
	print_error(r, t->error);
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		rend_right(r, REND_PLAIN, 8,
			   exp_trace_hop(t, shown[i], &ns) ? rend_ns(num, ns) : "-");
	rend_end(r);
}

static void on_request(const struct vqs_trace *t, const char *tag, const char *queue,
		       uint32_t queue_index, void *arg)
{
	struct trace_run *run = arg;
	const struct cli_opts *o = run->o;

	if (run->err || (o->count && run->printed >= o->count))
		return;
	/* The other filters are in the kernel; a tag is text, and compared here. */
	if (o->tag && strcmp(o->tag, tag))
		return;
	if (o->json)
		run->err = exp_trace_json(t, tag, queue, queue_index, stdout);
	else
		print_line(run, t, tag, queue_index);
	run->printed++;
}

/* At most once a second, and at the end whatever was not said yet. */
static void say_lost(struct trace_run *run, bool last)
{
	uint64_t lost = obs_guest_trace_lost(run->guest), now = vqs_now_ns(CLOCK_MONOTONIC);

	if (lost == run->lost || (!last && now - run->lost_said_ns < LOST_NS))
		return;
	cli_note("%llu more records lost, %llu in all: the ring buffer of a CPU was full; filter "
		 "with --op, --queue, --pid or --slower",
		 (unsigned long long)(lost - run->lost), (unsigned long long)lost);
	run->lost = lost;
	run->lost_said_ns = now;
}

static bool reader_gone(void)
{
	struct pollfd p = {.fd = fileno(stdout)};
	const struct timespec now = {0};

	return cli_poll(&p, 1, &now) > 0 && cli_reader_gone(&p);
}

static int run_trace(struct trace_run *run)
{
	int code = CLI_OK, n;

	while (!code && !cli_stop && (!run->o->count || run->printed < run->o->count)) {
		n = obs_guest_trace(run->guest, on_request, run, WAIT_MS);
		if (n < 0 && n != -EINTR) {
			cli_error("cannot read the trace: %s", strerror(-n));
			return CLI_FAILED;
		}
		say_lost(run, false);
		code = cli_json_written(run->err);
		if (reader_gone())
			break;
	}
	return code;
}

static void trace_filters(struct obs_guest_opts *base, const struct cli_opts *o)
{
	obs_guest_default_opts(base);
	base->trace = true;
	base->trace_errors = o->errors;
	base->trace_op = o->op;
	base->trace_index = o->queue;
	base->trace_pid = o->pid;
	base->trace_slower_ns = o->slower_ns;
	base->locks = false;
}

int cmd_trace(const struct cli_opts *o)
{
	_cleanup_(run_release) struct trace_run run = {.o = o};
	struct obs_guest_opts base;
	int code;

	trace_filters(&base, o);
	code = cli_open_guest(o, &base, &run.guest);
	if (code)
		return code;
	cli_buffer_output();
	run.out = (struct rend){.out = stdout, .width = COLUMNS};
	run.out.color = rend_want_color(stdout, o->no_color);
	run.real_minus_mono_ns =
		(int64_t)(vqs_now_ns(CLOCK_REALTIME) - vqs_now_ns(CLOCK_MONOTONIC));
	if (!o->json)
		print_head(&run.out);
	code = run_trace(&run);
	say_lost(&run, true);
	return code ? code : cli_flush();
}
