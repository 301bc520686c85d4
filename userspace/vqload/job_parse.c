// SPDX-License-Identifier: GPL-2.0-or-later
/* Job files and words of the command line against the table of keys. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "common/words.h"
#include "vqload/job_priv.h"

/* Where a value goes. */
struct section {
	struct load_job *job;
	struct load_phase *phase;
};

/* A file while it is read. */
struct reader {
	struct load_jobs *jobs;
	struct section to;
	char where[320]; /* "x.fio:3" */
	char **err;
};

int load_job_fail(char **err, const char *where, const char *fmt, ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = vqs_verror(err, -EINVAL, where, NULL, fmt, ap);
	va_end(ap);
	return ret;
}

struct load_jobs *load_jobs_new(void)
{
	struct load_jobs *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	for (size_t i = 0; i < load_nr_keys; i++)
		if (load_keys[i].job && load_keys[i].fallback)
			load_value(&load_keys[i], load_keys[i].fallback, &j->global);
	j->global.queues_all = true;
	return j;
}

void load_jobs_free(struct load_jobs *j)
{
	if (!j)
		return;
	free(j->job);
	free(j->phase);
	free(j);
}

static const struct load_key *find_key(const char *name, bool phase)
{
	for (size_t i = 0; i < load_nr_keys; i++)
		if (!strcmp(load_keys[i].name, name) &&
		    (phase ? load_keys[i].phase : load_keys[i].job))
			return &load_keys[i];
	return NULL;
}

static bool foreign(const char *name)
{
	for (const char *const *k = load_foreign_keys; *k; k++)
		if (!strcmp(*k, name))
			return true;
	return false;
}

static int fail_key(char **err, const char *where, const char *name, bool phase)
{
	struct vqs_nearest near = {.typed = name, .best = UINT32_MAX};

	if (find_key(name, !phase))
		return load_job_fail(err, where, "%s belongs into a %s section", name,
				     phase ? "job's" : "phase's");
	if (foreign(name))
		return load_job_fail(err, where,
				     "%s is a key of fio that means nothing here; "
				     "leave it out",
				     name);
	for (size_t i = 0; i < load_nr_keys; i++)
		if (phase ? load_keys[i].phase : load_keys[i].job)
			vqs_consider(&near, load_keys[i].name);
	if (near.name)
		return load_job_fail(err, where, "%s is no key; did you mean %s?",
				     vqs_quote(name).text, near.name);
	return load_job_fail(err, where, "%s is no key; vqload --help lists them all",
			     vqs_quote(name).text);
}

static int fail_value(char **err, const char *where, const struct load_key *key, const char *text,
		      int why)
{
	char msg[640];

	load_value_explain(key, text, why, msg, sizeof(msg));
	return load_job_fail(err, where, "%s: %s", key->name, msg);
}

/* @name, and @value if there was a "=". */
static int set(char **err, const char *where, const struct section *to, const char *name,
	       const char *value)
{
	const struct load_key *key = find_key(name, to->phase);
	int r;

	if (!key)
		return fail_key(err, where, name, to->phase);
	if (!value && key->kind != LOAD_KEY_FLAG)
		return load_job_fail(err, where, "%s wants a value; give %s=%s", name, name,
				     key->arg);
	value = value ? value : "";
	r = load_value(key, value, to->phase ? (void *)to->phase : (void *)to->job);
	return r ? fail_value(err, where, key, value, r) : 0;
}

/* --- sections ----------------------------------------------------------------------------------*/

/* Fit for a file's name and for a message. */
static bool name_valid(const char *name)
{
	if (!*name || strlen(name) >= LOAD_JOB_NAME || *name == '.')
		return false;
	if (!strcmp(name, "phase") || !strcmp(name, "global"))
		return false;
	for (; *name; name++)
		if (*name <= ' ' || *name > '~' || *name == '/' || *name == ']')
			return false;
	return true;
}

static int check_name(char **err, const char *where, const char *name)
{
	if (name_valid(name))
		return 0;
	return load_job_fail(err, where,
			     "%s is no name; give one of less than %d letters, digits and signs, "
			     "but no blank, / or ], no leading dot, not global and not phase",
			     vqs_quote(name).text, LOAD_JOB_NAME);
}

static int add_job(struct load_jobs *j, char **err, const char *where, const char *name)
{
	struct load_job *job;
	int r = check_name(err, where, name);

	if (r)
		return r;
	if (j->nr_jobs == LOAD_JOBS_MAX)
		return load_job_fail(err, where, "more than %d jobs; use numjobs for copies",
				     LOAD_JOBS_MAX);
	for (size_t i = 0; i < j->nr_jobs; i++)
		if (!strcmp(j->job[i].name, name))
			return load_job_fail(err, where,
					     "job %s is there already; give it another name", name);
	job = reallocarray(j->job, j->nr_jobs + 1, sizeof(*job));
	if (!job) {
		*err = NULL;
		return -ENOMEM;
	}
	j->job = job;
	job += j->nr_jobs++;
	*job = j->global;
	strcpy(job->name, name); /* name_valid() */
	return 0;
}

static int add_phase(struct load_jobs *j, char **err, const char *where, const char *name)
{
	struct load_phase *phase;
	int r = check_name(err, where, name);

	if (r)
		return r;
	if (j->nr_phases == LOAD_PHASES_MAX)
		return load_job_fail(err, where,
				     "more than %d phases; they start over after the "
				     "last",
				     LOAD_PHASES_MAX);
	phase = reallocarray(j->phase, j->nr_phases + 1, sizeof(*phase));
	if (!phase) {
		*err = NULL;
		return -ENOMEM;
	}
	j->phase = phase;
	phase += j->nr_phases++;
	*phase = (struct load_phase){0};
	strcpy(phase->name, name); /* name_valid() */
	return 0;
}

/* --- files -------------------------------------------------------------------------------------*/

static char *trim(char *text)
{
	char *end;

	text += strspn(text, " \t\r");
	end = text + strlen(text);
	while (end > text && strchr(" \t\r", end[-1]))
		end--;
	*end = '\0';
	return text;
}

static int begin_section(struct reader *r, char *line)
{
	char *end = strchr(line, ']'), *name;
	int e;

	if (!end || *trim(end + 1))
		return load_job_fail(r->err, r->where,
				     "%s is no section; give [global], [NAME] or [phase NAME]",
				     vqs_quote(line).text);
	*end = '\0';
	name = trim(line + 1);
	r->to = (struct section){0};
	if (!strcmp(name, "global")) {
		r->to.job = &r->jobs->global;
		return 0;
	}
	if (!strncmp(name, "phase ", 6)) {
		e = add_phase(r->jobs, r->err, r->where, trim(name + 6));
		if (!e)
			r->to.phase = &r->jobs->phase[r->jobs->nr_phases - 1];
		return e;
	}
	e = add_job(r->jobs, r->err, r->where, name);
	if (!e)
		r->to.job = &r->jobs->job[r->jobs->nr_jobs - 1];
	return e;
}

static int read_line(struct reader *r, char *line)
{
	char *equals;

	line = trim(line);
	if (!*line || *line == ';' || *line == '#')
		return 0;
	if (*line == '[')
		return begin_section(r, line);
	if (!r->to.job && !r->to.phase)
		return load_job_fail(r->err, r->where,
				     "%s comes before any section; begin with [global] or a job's "
				     "[NAME]",
				     vqs_quote(line).text);
	equals = strchr(line, '=');
	if (equals)
		*equals = '\0';
	return set(r->err, r->where, &r->to, trim(line), equals ? trim(equals + 1) : NULL);
}

int load_jobs_text(struct load_jobs *j, const char *file, const char *text, size_t len, char **err)
{
	struct reader r = {.jobs = j, .err = err};
	const char *end = text + len;
	char line[LOAD_JOB_LINE_MAX + 1];

	*err = NULL;
	if (len > LOAD_JOB_FILE_MAX)
		return load_job_fail(err, vqs_quote(file).text,
				     "is larger than %u bytes; no job "
				     "file is",
				     LOAD_JOB_FILE_MAX);
	for (unsigned int nr = 1; text < end; nr++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((newline ? newline : end) - text);
		int e;

		snprintf(r.where, sizeof(r.where), "%.255s:%u", file, nr);
		if (n > LOAD_JOB_LINE_MAX)
			return load_job_fail(err, r.where, "line of more than %d bytes; break it",
					     LOAD_JOB_LINE_MAX);
		if (memchr(text, '\0', n))
			return load_job_fail(err, r.where, "NUL byte; give a text file");
		memcpy(line, text, n);
		line[n] = '\0';
		e = read_line(&r, line);
		if (e)
			return e;
		text += n + 1;
	}
	return 0;
}

int load_jobs_file(struct load_jobs *j, const char *path, char **err)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	_cleanup_free_ char *text = NULL;
	size_t len;

	*err = NULL;
	if (!f)
		return load_job_fail(err, NULL, "cannot open job file %s: %s", vqs_quote(path).text,
				     strerror(errno));
	text = malloc(LOAD_JOB_FILE_MAX + 1);
	if (!text)
		return -ENOMEM;
	len = fread(text, 1, LOAD_JOB_FILE_MAX + 1, f);
	if (ferror(f))
		return load_job_fail(err, NULL, "cannot read job file %s: %s", vqs_quote(path).text,
				     strerror(errno));
	return load_jobs_text(j, path, text, len, err);
}

/* --- words -------------------------------------------------------------------------------------*/

/* For the job that --name began, else for all that are there and all to come. */
static int set_word(struct load_jobs *j, char **err, const char *name, const char *value)
{
	struct section to = {.job = &j->global};
	int r;

	if (j->named) {
		to.job = &j->job[j->nr_jobs - 1];
		return set(err, "vqload", &to, name, value);
	}
	r = set(err, "vqload", &to, name, value);
	for (size_t i = 0; !r && i < j->nr_jobs; i++) {
		to.job = &j->job[i];
		r = set(err, "vqload", &to, name, value);
	}
	return r;
}

int load_jobs_word(struct load_jobs *j, const char *word, char **err)
{
	const char *equals = strchr(word, '=');
	char name[LOAD_JOB_NAME] = "";
	int r;

	*err = NULL;
	if (strncmp(word, "--", 2) || !word[2])
		return load_job_fail(err, "vqload", "%s is no option; give --KEY=VALUE",
				     vqs_quote(word).text);
	word += 2;
	snprintf(name, sizeof(name), "%.*s", equals ? (int)(equals - word) : -1, word);
	if (!strcmp(name, "name")) {
		r = add_job(j, err, "vqload", equals ? equals + 1 : "");
		j->named |= !r;
		return r;
	}
	if (!find_key(name, false)) {
		r = fail_key(err, "vqload", name, false);
		return r == -EINVAL ? -ENOENT : r;
	}
	return set_word(j, err, name, equals ? equals + 1 : NULL);
}
