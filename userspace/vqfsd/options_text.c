// SPDX-License-Identifier: GPL-2.0-or-later
/* --help and the man page. */
#include <string.h>

#include "common/prose.h"
#include "vqfsd/options_priv.h"

#define HELP_COLUMN 25
/* The day the text last changed; pages must not differ from one build to the next. */
#define MAN_DATE    "November 30, 2026"

static const char about[] =
	"Serves a directory to a VM as a virtio-fs device over vhost-user, over many request "
	"queues. Which thread serves which queue, on which CPUs, and how requests are executed, "
	"changes while it serves, without a request lost: by the control socket.";

void fsd_options_help(FILE *f)
{
	fputs("Usage: vqfsd --shared-dir DIR --socket-path PATH [OPTION]...\n\n", f);
	vqs_fill(f, about, 0, 0);
	fputs("\nOptions:\n", f);
	for (size_t i = 0; i < fsd_nr_options; i++) {
		const struct fsd_option *p = &fsd_option_table[i];
		int column = fprintf(f, "      --%s%s%s", p->name, p->arg ? " " : "",
				     p->arg ? p->arg : "");
		char text[256];

		if (column >= HELP_COLUMN) {
			fputc('\n', f);
			column = 0;
		}
		if (p->fallback && *p->fallback)
			snprintf(text, sizeof(text), "%.*s (default %s).", (int)strlen(p->help) - 1,
				 p->help, p->fallback);
		else
			snprintf(text, sizeof(text), "%s", p->help);
		vqs_fill(f, text, HELP_COLUMN, column);
	}
	fputs("  -o LIST", f);
	vqs_fill(f, "The same, as virtiofsd has them: source=DIR,cache=auto,no_xattr.", HELP_COLUMN,
		 9);
	fputs("\nExit status:\n", f);
	for (size_t i = 0; i < fsd_nr_exits; i++)
		vqs_fill(f, fsd_exit_table[i].means, 6,
			 fprintf(f, "  %d", (int)fsd_exit_table[i].code));
}

static void put_options(FILE *f)
{
	fputs(".Sh OPTIONS\n.Bl -tag -width Ds\n", f);
	for (size_t i = 0; i < fsd_nr_options; i++) {
		const struct fsd_option *p = &fsd_option_table[i];

		fprintf(f, ".It Fl \\-%s%s%s\n", p->name, p->arg ? " Ar " : "",
			p->arg ? p->arg : "");
		vqs_mdoc_prose(f, p->help);
		if (p->man)
			vqs_mdoc_prose(f, p->man);
		if (p->fallback && *p->fallback)
			fprintf(f, "The default is %s.\n", p->fallback);
	}
	fputs(".It Fl o Ar LIST\n", f);
	vqs_mdoc_prose(f, "Options as virtiofsd has them, separated by commas: source=DIR, "
			  "cache=auto, no_xattr. Every option above works here, with _ for -.");
	fputs(".El\n", f);
}

static const char *const commands[][2] = {
	{"status", "Who serves which queue, and where each one stands."},
	{"stats", "Hands over the region of counters, a memfd; vqsteer/fsd_abi.h says what is in "
		  "it."},
	{"lease, release", "Changes need the lease, which one connection has. When it closes "
			   "without release, all goes back to what it was."},
	{"move-queue", "Makes \"worker\" pop from \"queue\". pause_ns is how long nobody did. "
		       "\"cancelled\" says that the guest stopped the queue meanwhile."},
	{"set-engine, set-threshold", "How the requests of \"queue\" are executed: \"engine\", "
				      "\"threshold\"."},
	{"set-pool-size, set-workers", "How many threads there are: \"size\", \"workers\"."},
	{"pin", "The CPUs of \"worker\": \"cpus\", such as \"0-3,8\"."},
	{"drain, resume", "Pops no more from \"queue\" or from all, and answers when all that was "
			  "popped is done; and goes on."},
	{"quit", "Ends the daemon."},
};

static void put_control(FILE *f)
{
	fputs(".Sh CONTROL SOCKET\n", f);
	vqs_mdoc_prose(f, "One JSON object a line, both ways; each is answered when it took "
			  "effect. An \"id\" comes back. The mode of the socket, 0600, says who "
			  "may.");
	fputs(".Bl -tag -width Ds\n", f);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		fprintf(f, ".It Cm %s\n", commands[i][0]);
		vqs_mdoc_prose(f, commands[i][1]);
	}
	fputs(".El\n", f);
}

void fsd_options_man(FILE *f)
{
	fputs(".\\\" Made by vqfsd --man from its table of options; do not edit.\n", f);
	fprintf(f, ".Dd %s\n.Dt VQFSD 1\n.Os Linux\n.Sh NAME\n.Nm vqfsd\n", MAN_DATE);
	fputs(".Nd virtio\\-fs daemon with many queues that move while it serves\n", f);
	fputs(".Sh SYNOPSIS\n.Nm\n.Fl \\-shared\\-dir Ar DIR\n.Fl \\-socket\\-path Ar PATH\n"
	      ".Op Ar OPTION ...\n.Sh DESCRIPTION\n",
	      f);
	vqs_mdoc_prose(f, about);
	put_options(f);
	put_control(f);
	fputs(".Sh EXIT STATUS\n.Bl -tag -width Ds\n", f);
	for (size_t i = 0; i < fsd_nr_exits; i++) {
		fprintf(f, ".It %d\n", (int)fsd_exit_table[i].code);
		vqs_mdoc_prose(f, fsd_exit_table[i].means);
	}
	fputs(".El\n.Sh EXAMPLES\n", f);
	vqs_mdoc_prose(f, "Four queues on two workers, and a control socket:");
	fputs(".Pp\n.Dl vqfsd \\-\\-shared\\-dir /srv \\-\\-socket\\-path /run/v.sock "
	      "\\-\\-request\\-queues 4 \\-\\-workers 2 \\-\\-control /run/v.ctl\n",
	      f);
	fputs(".Sh SEE ALSO\n.Xr vqsteer 1\n", f);
}
