/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the next request is due, and on which queue. No clock is read here: times come in and go out
 * as nanoseconds of whatever clock the caller uses.
 *
 * In an open loop latency is to be counted from load_due.at_ns, the time the request was due, not
 * from when it could be sent: a daemon that stalls delays what is due meanwhile, and leaving that
 * out (coordinated omission; G. Tene, How NOT to measure latency) would make it look fast.
 */
#ifndef VQLOAD_SCHEDULE_H
#define VQLOAD_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vqload/job.h"

/*
 * Picks queues by weight. Smooth weighted round robin (as nginx's): of every sum-of-weights picks a
 * queue of weight w gets exactly w, spread evenly; O(queues) a pick.
 */
struct load_picker {
	uint32_t nr;
	uint64_t total;
	uint8_t queue[LOAD_QUEUES];
	uint32_t weight[LOAD_QUEUES]; /* of queue[i] */
	int64_t credit[LOAD_QUEUES];
};

/* -EINVAL: no queue has a weight. */
int load_picker_set(struct load_picker *p, const uint32_t weight[LOAD_QUEUES]);
uint32_t load_pick_smooth(struct load_picker *p);
uint32_t load_pick_random(const struct load_picker *p, uint64_t *rng);

struct load_due {
	uint64_t n;     /* its number in this schedule, from 0 */
	uint64_t at_ns; /* when it was due: latency counts from here */
	uint32_t queue;
};

struct load_schedule {
	enum load_arrival_kind arrival;
	bool random; /* picker */
	uint64_t rate_iops;
	uint64_t rng;
	uint64_t start_ns, end_ns; /* end 0: none */
	uint64_t n;
	uint64_t next_ns;   /* when the next one is due */
	uint64_t next_frac; /* and 2^-32 ns: rounded gaps would shift the rate */
	const struct load_phase *phase;
	size_t nr_phases, phase_now;
	uint64_t phase_end_ns;
	uint64_t cycle_ns;      /* of all phases */
	const uint32_t *weight; /* the job's own */
	struct load_picker picker;
};

/*
 * For copy @copy of @job (load_job_queues() came before), which starts at @start_ns (startdelay
 * already added). @job and @phases must outlive @s. The seed follows from job->randseed and @copy.
 * Ends after ramp_time + runtime, if the job has a runtime. -EINVAL: no queue, or an open loop
 * without a rate.
 */
int load_schedule_start(struct load_schedule *s, const struct load_job *job, uint32_t copy,
			const struct load_phase *phases, size_t nr_phases, uint64_t start_ns);

/*
 * When the next request is due; UINT64_MAX: never, the runtime is over. A closed loop without
 * rate_iops is always due (start_ns); with it, as in fio, no earlier than the rate allows.
 */
uint64_t load_schedule_peek(const struct load_schedule *s);

/*
 * Takes the next one if it is due at @now_ns: true, and *due says which. In an open loop due->at_ns
 * may lie in the past, as far as the caller is behind; in a closed loop it is @now_ns.
 */
bool load_schedule_take(struct load_schedule *s, uint64_t now_ns, struct load_due *due);

#endif
