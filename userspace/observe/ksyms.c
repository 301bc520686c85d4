// SPDX-License-Identifier: GPL-2.0-or-later
#include "observe/ksyms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"

struct ksym {
	uint64_t addr;
	uint32_t name; /* offset in names */
};

struct ksyms {
	struct ksym *by_addr; /* ascending */
	uint32_t *by_name;    /* ascending name; indices into by_addr */
	size_t nr, cap;
	char *names;
	size_t names_len, names_cap;
	uint64_t preempt_mode; /* address of the variable preempt_dynamic_mode */
};

static const char *name_of(const struct ksyms *k, size_t i)
{
	return k->names + k->by_addr[i].name;
}

static int grow(void **mem, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap ? *cap : 4096;
	void *p;

	while (n < need)
		n *= 2;
	if (n == *cap)
		return 0;
	p = realloc(*mem, n * size);
	if (!p)
		return -ENOMEM;
	*mem = p;
	*cap = n;
	return 0;
}

static int add(struct ksyms *k, uint64_t addr, const char *name)
{
	size_t len = strlen(name) + 1;

	if (grow((void **)&k->by_addr, &k->cap, k->nr + 1, sizeof(*k->by_addr)) ||
	    grow((void **)&k->names, &k->names_cap, k->names_len + len, 1))
		return -ENOMEM;
	k->by_addr[k->nr++] = (struct ksym){.addr = addr, .name = k->names_len};
	memcpy(k->names + k->names_len, name, len);
	k->names_len += len;
	return 0;
}

static int cmp_addr(const void *a, const void *b)
{
	const struct ksym *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static int cmp_name(const void *a, const void *b, void *arg)
{
	const struct ksyms *k = arg;

	return strcmp(name_of(k, *(const uint32_t *)a), name_of(k, *(const uint32_t *)b));
}

static int sort(struct ksyms *k)
{
	k->by_name = malloc((k->nr ? k->nr : 1) * sizeof(*k->by_name));
	if (!k->by_name)
		return -ENOMEM;
	if (!k->nr)
		return 0;
	qsort(k->by_addr, k->nr, sizeof(*k->by_addr), cmp_addr);
	for (size_t i = 0; i < k->nr; i++)
		k->by_name[i] = i;
	qsort_r(k->by_name, k->nr, sizeof(*k->by_name), cmp_name, k);
	return 0;
}

void ksyms_free(struct ksyms *k)
{
	if (!k)
		return;
	free(k->by_addr);
	free(k->by_name);
	free(k->names);
	free(k);
}

static void ksyms_freep(struct ksyms **k)
{
	ksyms_free(*k);
}

int ksyms_load(struct ksyms **out, const char *path)
{
	_cleanup_(ksyms_freep) struct ksyms *k = calloc(1, sizeof(*k));
	_cleanup_fclose_ FILE *f = fopen(path ? path : "/proc/kallsyms", "re");
	char line[1024], name[512], type;
	uint64_t addr;
	int err;

	if (!k)
		return -ENOMEM;
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 " %c %511s", &addr, &type, name) != 3)
			continue;
		if (!strcmp(name, "preempt_dynamic_mode"))
			k->preempt_mode = addr;
		if (type != 't' && type != 'T' && type != 'w' && type != 'W')
			continue;
		err = add(k, addr, name);
		if (err)
			return err;
	}
	if (!k->nr)
		return -ENODATA;
	err = sort(k);
	if (err)
		return err;
	*out = TAKE_PTR(k);
	return 0;
}

/* First symbol in name order that is not below @name. */
static size_t lower_bound(const struct ksyms *k, const char *name)
{
	size_t lo = 0, hi = k->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(name_of(k, k->by_name[mid]), name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool ksyms_has(const struct ksyms *k, const char *name)
{
	size_t i = lower_bound(k, name);

	return i < k->nr && !strcmp(name_of(k, k->by_name[i]), name);
}

const char *ksyms_clone(const struct ksyms *k, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = lower_bound(k, name); i < k->nr; i++) {
		const char *sym = name_of(k, k->by_name[i]);

		if (strncmp(sym, name, len))
			break;
		if (strstr(sym + len, ".cold") || strstr(sym + len, ".part."))
			continue;
		if (!strncmp(sym + len, ".isra.", 6) || !strncmp(sym + len, ".constprop.", 11))
			return sym;
	}
	return NULL;
}

bool ksyms_has_addresses(const struct ksyms *k)
{
	return k->nr && k->by_addr[k->nr - 1].addr;
}

void ksyms_format(const struct ksyms *k, uint64_t addr, char *buf, size_t size)
{
	size_t lo = 0, hi = k->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->by_addr[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || !k->by_addr[lo - 1].addr)
		snprintf(buf, size, "0x%" PRIx64, addr);
	else
		snprintf(buf, size, "%s+0x%" PRIx64, name_of(k, lo - 1),
			 addr - k->by_addr[lo - 1].addr);
}

uint64_t ksyms_preempt_mode(const struct ksyms *k)
{
	return k->preempt_mode;
}
