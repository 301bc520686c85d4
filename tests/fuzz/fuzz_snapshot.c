// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer entry: any text may be given to exp_snapshot_parse(), and what it accepts is written
 * and read back without a difference.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/fixture.h"
#include "export/json.h"

static char *line_of(const struct vqs_snapshot *s)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f || exp_snapshot_json(s, f))
		abort();
	fclose(f);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vqs_snapshot *s = NULL, *back = NULL;
	char where[80], *text = malloc(size + 1), *line;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!exp_snapshot_parse(text, &s, NULL)) {
		line = line_of(s);
		if (exp_snapshot_parse(line, &back, NULL) ||
		    !fixture_equal(s, back, where, sizeof(where)))
			abort();
		free(line);
	}
	obs_snapshot_free(s);
	obs_snapshot_free(back);
	free(text);
	return 0;
}
