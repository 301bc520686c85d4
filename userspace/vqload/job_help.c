// SPDX-License-Identifier: GPL-2.0-or-later
/* The keys for people: --help, and vqload-job(5) in mdoc(7). */
#include <string.h>

#include "common/prose.h"
#include "vqload/job.h"

#define HELP_COLUMN 25
/* The day the text last changed; pages must not differ from one build to the next. */
#define MAN_DATE    "November 30, 2026"

static const char about[] =
	"Job files say what vqload does. They are those of fio: sections of lines KEY=VALUE. A "
	"line that begins with # or ; is a comment. What stands in [global] is for all sections "
	"after it; every other section is a job, and its name is the section's. All jobs run at "
	"the same time. Keys that fio has mean what they mean there; numbers may end in k, m, g or "
	"t, powers of 1024.\n\n"
	"On the command line each key is an option, such as --rw=randread. As in fio, --name=NAME "
	"begins a job; keys before it are for all jobs, those of files included.";

static const char phases[] =
	"A section [phase NAME] moves the load from queue to queue while jobs run. Phases follow "
	"each other in the order of the file and start over after the last. They are the same for "
	"all jobs and change neither rates nor depth.";

static const char example[] =
	"[global]\nruntime=30s\ntime_based\nrw=randread\nnrfiles=4\nsize=64m\n\n"
	"[hot]\narrival=poisson\nrate_iops=20000\niodepth=256\n\n"
	"[phase left]\nduration=5s\nqueue_weights=1:8,2:1,3:1,4:1\n\n"
	"[phase right]\nduration=5s\nqueue_weights=1:1,2:1,3:1,4:8\n";

static void help_key(FILE *out, const struct load_key *k)
{
	char text[256];
	int column = fprintf(out, "      --%s", k->name);

	if (k->arg)
		column += fprintf(out, "=%s", k->arg);
	if (column >= HELP_COLUMN) {
		fputc('\n', out);
		column = 0;
	}
	if (k->fallback)
		snprintf(text, sizeof(text), "%.*s (default %s).", (int)strlen(k->help) - 1,
			 k->help, k->fallback);
	else
		snprintf(text, sizeof(text), "%s", k->help);
	vqs_fill(out, text, HELP_COLUMN, column);
}

void load_keys_help(FILE *out)
{
	for (size_t i = 0; i < load_nr_keys; i++)
		if (load_keys[i].job)
			help_key(out, &load_keys[i]);
	fputs("      --name=NAME", out);
	vqs_fill(out, "Begin a job; keys after it are for this one.", HELP_COLUMN, 17);
	fputs("\nWorkloads:\n", out);
	for (int i = 0; i < LOAD_RWS; i++)
		vqs_fill(out, load_rws[i].help, HELP_COLUMN,
			 fprintf(out, "      %s", load_rws[i].name));
}

static void man_key(FILE *out, const struct load_key *k)
{
	fprintf(out, ".It Ic %s", k->name);
	if (k->arg)
		fprintf(out, " Ns = Ns Ar %s", k->arg);
	fputc('\n', out);
	vqs_mdoc_prose(out, k->help);
	if (k->man)
		vqs_mdoc_prose(out, k->man);
	if (k->fallback)
		fprintf(out, "The default is %s.\n", k->fallback);
	if (k->ours && k->job)
		fputs("fio does not have this key.\n", out);
}

static void man_keys(FILE *out, bool phase)
{
	fputs(".Bl -tag -width Ds\n", out);
	for (size_t i = 0; i < load_nr_keys; i++)
		if (phase ? load_keys[i].phase : load_keys[i].job)
			man_key(out, &load_keys[i]);
	fputs(".El\n", out);
}

static void man_workloads(FILE *out)
{
	fputs(".Sh WORKLOADS\n.Bl -tag -width Ds\n", out);
	for (int i = 0; i < LOAD_RWS; i++) {
		fprintf(out, ".It Cm %s\n", load_rws[i].name);
		vqs_mdoc_prose(out, load_rws[i].help);
	}
	fputs(".El\n", out);
}

void load_keys_man(FILE *out)
{
	fputs(".\\\" Made by vqload from its table of keys; do not edit.\n", out);
	fprintf(out, ".Dd %s\n.Dt VQLOAD-JOB 5\n.Os\n", MAN_DATE);
	fputs(".Sh NAME\n.Nm vqload-job\n.Nd job files of vqload\n.Sh DESCRIPTION\n", out);
	vqs_mdoc_prose(out, about);
	fputs(".Sh KEYS\n", out);
	man_keys(out, false);
	fputs(".Sh PHASES\n", out);
	vqs_mdoc_prose(out, phases);
	man_keys(out, true);
	man_workloads(out);
	fprintf(out,
		".Sh EXAMPLES\nA hot spot that wanders between four queues:\n"
		".Bd -literal -offset indent\n%s.Ed\n",
		example);
	fputs(".Sh SEE ALSO\n.Xr fio 1\n", out);
}
