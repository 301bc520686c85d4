/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up "/" in a temporary folder, for what reads /proc and /sys. */
#ifndef TESTS_TREE_H
#define TESTS_TREE_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"

struct tree {
	char root[64];
};

static inline int tree_make(struct tree *t)
{
	snprintf(t->root, sizeof(t->root), "/tmp/vqsteer-tree-XXXXXX");
	return mkdtemp(t->root) ? 0 : -1;
}

static inline void tree_put(const struct tree *t, const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", t->root, path);
	for (char *p = full + strlen(t->root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0755);
		*p = '/';
	}
	f = fopen(full, "we");
	if (!f || fputs(text, f) < 0)
		abort();
	fclose(f);
}

static inline void tree_cut(const struct tree *t, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", t->root, path);
	unlink(full);
}

/* @path and all below it. */
static inline void tree_cut_all(const struct tree *t, const char *path)
{
	char cmd[256];

	/* The root's name comes from mkdtemp(), @path from the test. */
	snprintf(cmd, sizeof(cmd), "rm -rf '%s%s'", t->root, path);
	if (t->root[0] && system(cmd))
		perror(cmd);
}

static inline void tree_remove(struct tree *t)
{
	tree_cut_all(t, "");
}

#define _cleanup_tree_ _cleanup_(tree_remove)

#endif
