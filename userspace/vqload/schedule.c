// SPDX-License-Identifier: GPL-2.0-or-later
/* Arrivals and the queues they go to. */
#include "vqload/schedule.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "vqload/rng.h"

#define NS_PER_S 1000000000ULL

int load_picker_set(struct load_picker *p, const uint32_t weight[LOAD_QUEUES])
{
	*p = (struct load_picker){0};
	for (uint32_t q = 0; q < LOAD_QUEUES; q++) {
		if (!weight[q])
			continue;
		p->queue[p->nr] = (uint8_t)q;
		p->weight[p->nr++] = weight[q];
		p->total += weight[q];
	}
	return p->nr ? 0 : -EINVAL;
}

uint32_t load_pick_smooth(struct load_picker *p)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < p->nr; i++) {
		p->credit[i] += p->weight[i];
		if (p->credit[i] > p->credit[best])
			best = i;
	}
	p->credit[best] -= (int64_t)p->total;
	return p->queue[best];
}

uint32_t load_pick_random(const struct load_picker *p, uint64_t *rng)
{
	uint64_t at = load_rng_below(rng, p->total);
	uint32_t i = 0;

	while (at >= p->weight[i])
		at -= p->weight[i++];
	return p->queue[i];
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Due time of arrival @n of equal gaps: from the start, so that nothing adds up. */
static uint64_t uniform_at(const struct load_schedule *s, uint64_t n)
{
	unsigned __int128 ns = (unsigned __int128)n * NS_PER_S / s->rate_iops;

	return ns > UINT64_MAX ? UINT64_MAX : add_saturated(s->start_ns, (uint64_t)ns);
}

/* Moves on by an exponential gap, in 2^-32 ns. */
static void poisson_next(struct load_schedule *s)
{
	double gap = -log(load_rng_unit(&s->rng)) * (double)NS_PER_S / (double)s->rate_iops;
	double whole = floor(gap);
	uint64_t frac = s->next_frac + (uint64_t)((gap - whole) * 0x1p32);

	s->next_ns = add_saturated(s->next_ns, (uint64_t)whole + (frac >> 32));
	s->next_frac = frac & UINT32_MAX;
}

/* When arrival s->n is due. */
static void plan(struct load_schedule *s)
{
	if (s->arrival == LOAD_ARRIVAL_POISSON)
		poisson_next(s);
	else if (s->rate_iops)
		s->next_ns = uniform_at(s, s->n);
	else
		s->next_ns = s->start_ns;
}

/* Weights of the phase for queues of the job; the job's own when that leaves none. */
static int set_weights(struct load_schedule *s)
{
	uint32_t weight[LOAD_QUEUES];

	if (!s->nr_phases)
		return load_picker_set(&s->picker, s->weight);
	for (uint32_t q = 0; q < LOAD_QUEUES; q++)
		weight[q] = s->weight[q] ? s->phase[s->phase_now].weight[q] : 0;
	return load_picker_set(&s->picker, weight) ? load_picker_set(&s->picker, s->weight) : 0;
}

static void follow_phases(struct load_schedule *s, uint64_t at_ns)
{
	uint64_t behind;

	if (!s->nr_phases || at_ns < s->phase_end_ns)
		return;
	/* Whole rounds at once: phases may be short, and a guest may have slept. */
	behind = (at_ns - s->phase_end_ns) / s->cycle_ns * s->cycle_ns;
	s->phase_end_ns += behind;
	while (at_ns >= s->phase_end_ns && s->phase_end_ns != UINT64_MAX) {
		s->phase_now = (s->phase_now + 1) % s->nr_phases;
		s->phase_end_ns =
			add_saturated(s->phase_end_ns, s->phase[s->phase_now].duration_ns);
	}
	set_weights(s);
}

static bool picks_random(const struct load_job *job)
{
	if (job->queue_pick == LOAD_PICK_AUTO)
		return job->arrival == LOAD_ARRIVAL_POISSON;
	return job->queue_pick == LOAD_PICK_RANDOM;
}

int load_schedule_start(struct load_schedule *s, const struct load_job *job, uint32_t copy,
			const struct load_phase *phases, size_t nr_phases, uint64_t start_ns)
{
	*s = (struct load_schedule){
		.arrival = job->arrival,
		.random = picks_random(job),
		.rate_iops = job->rate_iops,
		.rng = load_mix64(job->randseed) + copy,
		.start_ns = start_ns,
		.next_ns = start_ns,
		.phase = phases,
		.nr_phases = nr_phases,
		.weight = job->weight,
	};
	if (job->arrival != LOAD_ARRIVAL_CLOSED && !job->rate_iops)
		return -EINVAL;
	/* Near seeds, and the copies of a job, must not walk in step. */
	s->rng = load_mix64(s->rng + LOAD_RNG_STEP);
	if (job->runtime_ns)
		s->end_ns =
			add_saturated(add_saturated(start_ns, job->ramp_time_ns), job->runtime_ns);
	for (size_t i = 0; i < nr_phases; i++) {
		if (!phases[i].duration_ns)
			return -EINVAL;
		s->cycle_ns = add_saturated(s->cycle_ns, phases[i].duration_ns);
	}
	if (nr_phases)
		s->phase_end_ns = add_saturated(start_ns, phases[0].duration_ns);
	plan(s);
	return set_weights(s);
}

uint64_t load_schedule_peek(const struct load_schedule *s)
{
	return s->end_ns && s->next_ns >= s->end_ns ? UINT64_MAX : s->next_ns;
}

bool load_schedule_take(struct load_schedule *s, uint64_t now_ns, struct load_due *due)
{
	bool closed = s->arrival == LOAD_ARRIVAL_CLOSED;
	uint64_t at = load_schedule_peek(s);

	if (at == UINT64_MAX || at > now_ns || (closed && s->end_ns && now_ns >= s->end_ns))
		return false;
	due->n = s->n++;
	due->at_ns = closed ? now_ns : at;
	follow_phases(s, due->at_ns);
	due->queue =
		s->random ? load_pick_random(&s->picker, &s->rng) : load_pick_smooth(&s->picker);
	plan(s);
	return true;
}
