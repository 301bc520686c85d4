// SPDX-License-Identifier: GPL-2.0-or-later
/* The JSON form is exact both ways, and no text harms its reader. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "../fixture.h"
#include "common/cleanup.h"
#include "common/hist.h"
#include "export/json.h"

static void object_putp(struct json_object **o)
{
	json_object_put(*o);
}

#define _cleanup_object_ _cleanup_(object_putp)

static char *line_of(const struct vqs_snapshot *s)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_int_equal(exp_snapshot_json(s, f), 0);
	fclose(f);
	assert_int_equal(text[size - 1], '\n');
	assert_ptr_equal(strchr(text, '\n'), text + size - 1);
	return text;
}

static void assert_round_trip(const struct vqs_snapshot *s, uint64_t seed)
{
	_cleanup_free_ char *line = line_of(s), *again = NULL, *err = NULL;
	_cleanup_snapshot_ struct vqs_snapshot *back = NULL;
	char where[80];

	if (exp_snapshot_parse(line, &back, &err))
		fail_msg("seed %llu: %s", (unsigned long long)seed, err ? err : "?");
	if (!fixture_equal(s, back, where, sizeof(where)))
		fail_msg("seed %llu: %s differs", (unsigned long long)seed, where);
	again = line_of(back);
	assert_string_equal(line, again);
}

static void round_trip_of_random_snapshots(void **state)
{
	for (uint64_t seed = 1; seed <= 150; seed++) {
		_cleanup_snapshot_ struct vqs_snapshot *s = fixture_random(seed);

		assert_round_trip(s, seed);
	}
}

static void round_trip_of_a_guest_and_its_interval(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *a = fixture_guest(1), *b = fixture_guest(3);
	_cleanup_snapshot_ struct vqs_snapshot *d = obs_snapshot_diff(a, b);

	assert_round_trip(a, 0);
	assert_round_trip(b, 0);
	assert_round_trip(d, 0);
}

/* Path of keys and indices, "devices.0.queues.1.hops". */
static struct json_object *at(struct json_object *o, const char *path)
{
	_cleanup_free_ char *copy = strdup(path);
	char *save, *key = strtok_r(copy, ".", &save);

	for (; o && key; key = strtok_r(NULL, ".", &save))
		o = json_object_is_type(o, json_type_array)
			    ? json_object_array_get_idx(o, (size_t)atoi(key))
			    : json_object_object_get(o, key);
	return o;
}

static void the_documented_figures_are_there(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = fixture_guest(2);
	_cleanup_free_ char *line = line_of(s);
	_cleanup_object_ struct json_object *o = json_tokener_parse(line);
	const struct vqs_snap_queue *q = &s->devices[0].queues[1];
	const struct vqs_hist *h = &q->hop[VQS_HOP_DEVICE];
	struct json_object *jq = at(o, "devices.0.queues.1"), *jh = at(jq, "hops.device");

	assert_string_equal(json_object_get_string(at(o, "schema")), "vqsteer/1");
	assert_string_equal(json_object_get_string(at(o, "devices.0.tag")), "data");
	assert_int_equal(json_object_get_uint64(at(jq, "conservation.submitted")), q->submitted);
	assert_int_equal(json_object_get_int64(at(jq, "conservation.imbalance")), 0);
	assert_string_equal(json_object_get_string(at(jh, "unit")), "ns");
	assert_int_equal(json_object_get_uint64(at(jh, "count")), vqs_hist_count(h));
	assert_int_equal(json_object_get_uint64(at(jh, "p99")), vqs_hist_percentile(h, 990));
	assert_int_equal(json_object_get_uint64(at(jh, "p999")), vqs_hist_percentile(h, 999));
	assert_int_equal(json_object_get_uint64(at(jh, "max")), h->max);
	assert_int_equal(json_object_get_uint64(at(jq, "errors.ENOENT")), q->errors[0].count);
	assert_int_equal(json_object_get_uint64(at(jq, "kicks_suppressed")),
			 q->submitted - q->kicks);
	assert_string_equal(json_object_get_string(at(jq, "locks.0.lock")), "virtio_fs_vq.lock");
	assert_true(json_object_get_double(at(jq, "locks.0.ratio")) > 0);
	assert_true(json_object_get_double(at(jq, "locks.0.submit_share")) > 0);
	assert_string_equal(json_object_get_string(at(jq, "ops.0.op")), "LOOKUP");
	assert_int_equal(json_object_array_length(at(o, "devices.0.map")), 8);
}

/* An empty histogram, an unknown figure: absent, not zero. */
static void what_is_not_known_is_absent(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *a = fixture_guest(1), *b = fixture_guest(2);
	_cleanup_snapshot_ struct vqs_snapshot *d = obs_snapshot_diff(a, b);
	_cleanup_free_ char *line = NULL;
	_cleanup_object_ struct json_object *o = NULL;

	d->devices[0].queues[1].in_flight_kernel = -1;
	d->devices[0].nr_map = 0;
	line = line_of(d);
	o = json_tokener_parse(line);
	assert_null(at(o, "devices.0.map"));
	assert_null(at(o, "devices.0.queues.1.in_flight_kernel"));
	assert_null(at(o, "devices.0.queues.1.conservation.imbalance"));
	assert_null(at(o, "devices.0.queues.0.hops.device"));
	assert_null(at(o, "devices.0.locks.2.acquisitions"));
	assert_null(at(o, "devices.0.locks.2.ratio"));
}

static void wrong_utf8_is_replaced(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = fixture_guest(0), *back = NULL;
	_cleanup_free_ char *line = NULL;

	strcpy(s->devices[0].tag, "a\xff\xc0\xaf\"\n\xed\xa0\x80z\xe2\x82");
	line = line_of(s);
	assert_int_equal(exp_snapshot_parse(line, &back, NULL), 0);
	assert_string_equal(back->devices[0].tag, "a???\"\n???z??");
}

static void assert_refused(const char *line, int ret, const char *why)
{
	struct vqs_snapshot *s = NULL;
	_cleanup_free_ char *err = NULL;

	assert_int_equal(exp_snapshot_parse(line, &s, &err), ret);
	assert_null(s);
	assert_non_null(err);
	if (!strstr(err, why))
		fail_msg("\"%s\" does not say \"%s\"", err, why);
}

#define WITH(part)  "{\"schema\":\"vqsteer/1\"," part "}"
#define QUEUE(part) WITH("\"devices\":[{\"queues\":[{" part "}]}]")

static void bad_input_is_refused_with_a_reason(void **state)
{
	assert_refused("", -EINVAL, "not JSON");
	assert_refused("{\"schema\":\"vqsteer/1\"", -EINVAL, "not JSON");
	assert_refused("[]", -EINVAL, "not an object");
	assert_refused("null", -EINVAL, "not JSON");
	assert_refused("{}", -EINVAL, "schema");
	assert_refused("{\"schema\":\"vqsteer/2\"}", -EINVAL, "vqsteer/2");
	assert_refused("{\"schema\":1}", -EINVAL, "schema");
	assert_refused(WITH("\"interval_ns\":-1"), -EINVAL, "interval_ns");
	assert_refused(WITH("\"interval_ns\":1.5"), -EINVAL, "interval_ns");
	assert_refused(WITH("\"interval_ns\":null"), -EINVAL, "interval_ns");
	assert_refused(WITH("\"kernel\":\"a\\u0000b\""), -EINVAL, "kernel");
	assert_refused(WITH("\"devices\":{}"), -EINVAL, "devices");
	assert_refused(WITH("\"devices\":[1]"), -EINVAL, "devices");
	assert_refused(WITH("\"devices\":[{\"slot\":4294967296}]"), -EINVAL, "slot");
	assert_refused(WITH("\"devices\":[{\"map\":[1,\"x\"]}]"), -EINVAL, "map");
	assert_refused(QUEUE("\"ops\":[{\"opcode\":64}]"), -EINVAL, "opcode 64");
	assert_refused(QUEUE("\"ops\":[{\"opcode\":3,\"total\":{}},{\"opcode\":3}]"), -EINVAL,
		       "opcode 3");
	assert_refused(QUEUE("\"errors\":{\"EWHAT\":1}"), -EINVAL, "EWHAT");
	assert_refused(QUEUE("\"errors\":{\"ENOENT\":1,\"ERRNO_2\":1}"), -EINVAL, "error 2");
	assert_refused(QUEUE("\"cpus\":[[2,1],[1,1]]"), -EINVAL, "CPU 1");
	assert_refused(QUEUE("\"cpus\":[[2]]"), -EINVAL, "pair");
	assert_refused(QUEUE("\"locks\":[{\"lock\":\"fuse_iqueue.lock\"}]"), -EINVAL, "wrong list");
	assert_refused(QUEUE("\"locks\":[{\"lock\":\"mutex\"}]"), -EINVAL, "mutex");
	assert_refused(QUEUE("\"hops\":{\"device\":{\"buckets\":[[17,1]]}}"), -EINVAL, "bucket 0");
	assert_refused(QUEUE("\"hops\":{\"device\":{\"buckets\":[[9,1],[9,1]]}}"), -EINVAL,
		       "bucket 1");
	assert_refused(QUEUE("\"name\":\"0123456789012345678901234\""), -EINVAL, "name");
}

static char *repeat(const char *head, const char *part, size_t n, const char *tail)
{
	size_t len = strlen(part);
	char *text = malloc(strlen(head) + n * len + strlen(tail) + 1), *p;

	assert_non_null(text);
	p = stpcpy(text, head);
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, part);
	strcpy(p, tail);
	return text;
}

static void bombs_are_refused(void **state)
{
	_cleanup_free_ char *unknown = strdup(WITH("\"x\":1"));
	_cleanup_free_ char *nested = repeat("{\"schema\":\"vqsteer/1\",\"x\":", "[", 100000, "");
	_cleanup_free_ char *queues = repeat("{\"schema\":\"vqsteer/1\",\"devices\":[{\"queues\":[",
					     "{},", 20000, "{}]}]}");
	_cleanup_free_ char *longer = repeat("{\"schema\":\"vqsteer/1\"", " ", EXP_LINE_MAX, "}");
	_cleanup_snapshot_ struct vqs_snapshot *s = NULL;

	assert_int_equal(exp_snapshot_parse(unknown, &s, NULL), 0); /* unknown fields are ignored */
	assert_refused(nested, -EINVAL, "not JSON");
	assert_refused(queues, -E2BIG, "256 MiB");
	assert_refused(longer, -E2BIG, "32 MiB");
}

/* Every prefix, and the line with each of some thousand bytes changed: refused or read, no harm. */
static void damaged_lines_do_no_harm(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = fixture_random(77);
	_cleanup_free_ char *line = line_of(s);
	size_t len = strlen(line);
	uint64_t rng = 5;

	for (int i = 0; i < 1500; i++) {
		size_t pos = fixture_below(&rng, len);
		char old = line[pos];
		struct vqs_snapshot *back = NULL;

		line[pos] = i % 3 ? "0-9\"[]{},:x"[fixture_below(&rng, 11)] : '\0';
		exp_snapshot_parse(line, &back, NULL);
		obs_snapshot_free(back);
		line[pos] = old;
	}
}

static void a_full_disk_is_an_error(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = fixture_guest(1);
	FILE *full = fopen("/dev/full", "w");

	if (!full)
		skip();
	setvbuf(full, NULL, _IONBF, 0);
	assert_int_equal(exp_snapshot_json(s, full), -ENOSPC);
	fclose(full);
}

static void a_trace_record_has_its_hops(void **state)
{
	struct vqs_trace t = {.unique = 4,
			      .start_ns = 1000,
			      .submit_ns = 1500,
			      .collect_ns = 9500,
			      .end_ns = 9800,
			      .wake_ns = 12000,
			      .opcode = 3,
			      .error = -2,
			      .pid = 17};
	_cleanup_object_ struct json_object *o = NULL;
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(exp_trace_json(&t, "data", "requests.0", 1, f), 0);
	fclose(f);
	o = json_tokener_parse(text);
	assert_int_equal(json_object_get_int(at(o, "hops.input")), 500);
	assert_int_equal(json_object_get_int(at(o, "hops.device")), 8000);
	assert_int_equal(json_object_get_int(at(o, "hops.complete")), 300);
	assert_int_equal(json_object_get_int(at(o, "hops.wake")), 2200);
	assert_int_equal(json_object_get_int(at(o, "hops.total")), 8800);
	assert_null(at(o, "hops.background"));
	assert_string_equal(json_object_get_string(at(o, "errno")), "ENOENT");
	assert_string_equal(json_object_get_string(at(o, "op")), "GETATTR");
}

/* Names below these are data: hops, errno names. */
static bool names_are_data(const char *key)
{
	return !strcmp(key, "hops") || !strcmp(key, "errors");
}

static void assert_documented(struct json_object *o, const char *doc)
{
	if (json_object_is_type(o, json_type_array))
		for (size_t i = 0; i < json_object_array_length(o); i++)
			assert_documented(json_object_array_get_idx(o, i), doc);
	if (!json_object_is_type(o, json_type_object))
		return;
	json_object_object_foreach (o, key, v) {
		char whole[64], member[64], parent[64];

		snprintf(whole, sizeof(whole), "`%s`", key);
		snprintf(member, sizeof(member), ".%s`", key);
		snprintf(parent, sizeof(parent), "`%s.", key);
		if (!strstr(doc, whole) && !strstr(doc, member) && !strstr(doc, parent))
			fail_msg("docs/schema.md does not mention \"%s\"", key);
		if (!names_are_data(key))
			assert_documented(v, doc);
	}
}

/* A new field is not finished before its row in docs/schema.md is written. */
static void every_field_is_documented(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = fixture_guest(1);
	const struct vqs_trace t = {.start_ns = 1, .submit_ns = 2, .end_ns = 3, .error = -5};
	_cleanup_free_ char *line = line_of(s), *trace = NULL;
	_cleanup_object_ struct json_object *o = json_tokener_parse(line), *ot = NULL;
	static char doc[64 << 10];
	FILE *f = fopen("docs/schema.md", "r");
	size_t size;

	if (!f)
		skip(); /* run from another folder than the checkout's */
	doc[fread(doc, 1, sizeof(doc) - 1, f)] = '\0';
	fclose(f);
	assert_documented(o, doc);
	f = open_memstream(&trace, &size);
	assert_int_equal(exp_trace_json(&t, "data", "requests.0", 1, f), 0);
	fclose(f);
	ot = json_tokener_parse(trace);
	assert_documented(ot, doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip_of_random_snapshots),
		cmocka_unit_test(round_trip_of_a_guest_and_its_interval),
		cmocka_unit_test(the_documented_figures_are_there),
		cmocka_unit_test(what_is_not_known_is_absent),
		cmocka_unit_test(wrong_utf8_is_replaced),
		cmocka_unit_test(bad_input_is_refused_with_a_reason),
		cmocka_unit_test(bombs_are_refused),
		cmocka_unit_test(damaged_lines_do_no_harm),
		cmocka_unit_test(a_full_disk_is_an_error),
		cmocka_unit_test(a_trace_record_has_its_hops),
		cmocka_unit_test(every_field_is_documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
