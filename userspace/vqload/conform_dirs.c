// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of directories that are read. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "vqload/conform_priv.h"

#define FILES 40
#define FEW   512u /* bytes: so that a directory takes several requests */

struct seen {
	bool file[FILES], dot, dots;
	uint32_t nr, twice, foreign;
};

static void see(struct conform *k, struct seen *s, const struct load_dirent *d)
{
	unsigned int n = 0;
	bool *which = NULL;
	char end;

	if (!strcmp(d->name, "."))
		which = &s->dot;
	else if (!strcmp(d->name, ".."))
		which = &s->dots;
	else if (sscanf(d->name, "f%u%c", &n, &end) == 1 && n < FILES)
		which = &s->file[n];
	if (!which) {
		s->foreign++;
		return;
	}
	s->twice += *which;
	*which = true;
	s->nr++;
	if (d->has_entry && which != &s->dot && which != &s->dots)
		load_session_know(k->s, d->entry.nodeid, 1);
}

/* One request; true: stop. *more: there was something. */
static bool read_some(struct conform *k, uint64_t fh, bool plus, uint64_t *offset, struct seen *s,
		      bool *more)
{
	struct load_head h = conform_head(k, k->dir);
	uint32_t size = plus ? 8 * FEW : FEW;
	struct load_dirents it;
	struct load_dirent d;
	int err = conform_send(k, plus ? load_build_readdirplus(REQ(k), &h, fh, *offset, size)
				       : load_build_readdir(REQ(k), &h, fh, *offset, size));

	*more = false;
	if (conform_not(k, err, 0, "reading"))
		return true;
	load_dirents_start(&it, k->slot->data, load_reply_data_len(REQ(k), k->slot->used), plus);
	while (load_dirents_next(&it, &d) > 0) {
		*more = true;
		*offset = d.off;
		see(k, s, &d);
	}
	return false;
}

static void check_directory(struct conform *k, bool plus)
{
	struct seen s = {0};
	uint64_t node, fh, offset = 0;
	bool more = true;
	char name[16];

	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		if (conform_touch(k, name, &node))
			return;
	}
	if (conform_not(k, load_do_opendir(k->s, k->dir, &fh), 0, "opening it"))
		return;
	while (more && s.nr < 4 * FILES)
		if (read_some(k, fh, plus, &offset, &s, &more))
			return;
	if (conform_differs(k, s.foreign, 0, "names that nobody made") ||
	    conform_differs(k, s.twice, 0, "names that came twice") ||
	    conform_differs(k, s.nr - s.dot - s.dots, FILES, "names in it"))
		return;
	conform_not(k, load_do_releasedir(k->s, k->dir, fh), 0, "closing it");
}

static void check_readdir(struct conform *k)
{
	check_directory(k, false);
}

static void check_readdirplus(struct conform *k)
{
	check_directory(k, true);
}

static void check_opendir(struct conform *k)
{
	uint64_t node, fh;

	if (conform_touch(k, "f", &node) ||
	    conform_not(k, load_do_opendir(k->s, k->dir, &fh), 0, "a directory") ||
	    conform_not(k, load_do_releasedir(k->s, k->dir, fh), 0, "closing it"))
		return;
	conform_not(k, load_do_opendir(k->s, node, &fh), -ENOTDIR, "a file");
}

static void check_fsyncdir(struct conform *k)
{
	struct load_head h;
	uint64_t fh;
	int err;

	if (conform_not(k, load_do_opendir(k->s, k->dir, &fh), 0, "opening it"))
		return;
	h = conform_head(k, k->dir);
	err = conform_send(k, load_build_fsyncdir(REQ(k), &h, fh, false));
	load_do_releasedir(k->s, k->dir, fh);
	conform_not(k, err, 0, "a directory");
}

const struct conform_check conform_dirs[] = {
	{"opendir", check_opendir},
	{"readdir", check_readdir},
	{"readdirplus", check_readdirplus},
	{"fsyncdir", check_fsyncdir},
	{NULL, NULL},
};
