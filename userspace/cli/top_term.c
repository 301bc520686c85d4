// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top_term.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/top_model.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "terminfo.h" /* generated: terminfo_builtin[], see mk/top.mk */

/* How long an ESC may wait for the rest of a function key: a serial line at 9600 needs 3 ms. */
#define TOP_ESC_DELAY_MS 50

/*
 * Terminals without a description of their own that understand another's. Emulators of this
 * family set TERM=xterm-<brand>; screen and tmux are found as screen.<outer type>.
 */
static const struct {
	const char *prefix, *use;
} families[] = {
	{"xterm", "xterm-256color"}, {"screen", "screen-256color"},
	{"tmux", "tmux-256color"},   {"rxvt", "xterm"},
	{"linux", "linux"},          {"vt", "vt100"},
	{"ansi", "vt100"},           {"alacritty", "xterm-256color"},
	{"foot", "xterm-256color"},  {"konsole", "xterm-256color"},
	{"gnome", "xterm-256color"},
};

static const char *builtin(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(terminfo_builtin); i++)
		if (strcmp(terminfo_builtin[i].name, name) == 0)
			return terminfo_builtin[i].entry;
	return NULL;
}

static bool try_setup(void)
{
	int code = 0;

	return setupterm(NULL, STDOUT_FILENO, &code) == OK;
}

static bool try_builtin(const char *term)
{
	const char *entry = builtin(term);

	for (size_t i = 0; !entry && i < ARRAY_SIZE(families); i++) {
		if (strncmp(term, families[i].prefix, strlen(families[i].prefix)) != 0)
			continue;
		entry = builtin(families[i].use);
		if (entry && setenv("TERM", families[i].use, 1) < 0)
			return false;
	}
	/* ncurses takes a compiled entry in the variable itself: terminfo(5), "b64:". */
	return entry && setenv("TERMINFO", entry, 1) == 0 && try_setup();
}

static int __attribute__((format(printf, 3, 4))) say(char **why, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(why, fmt, ap) < 0)
		*why = NULL;
	va_end(ap);
	return err;
}

int top_term_check(char **why)
{
	const char *term = getenv("TERM");
	bool moves;

	*why = NULL;
	if (!isatty(STDOUT_FILENO))
		return say(why, -ENOTTY,
			   "cannot show a full screen: standard output is not a terminal; "
			   "use vqsteer stat to print tables");
	if (!isatty(STDIN_FILENO))
		return say(why, -ENOTTY,
			   "cannot read keys: standard input is not a terminal; "
			   "run it without redirection, or use vqsteer stat");
	if (!term || !term[0])
		return say(why, -ENOENT,
			   "cannot show a full screen: TERM is not set; set it to the terminal's "
			   "type (export TERM=linux), or use vqsteer stat");
	if (!try_setup() && !try_builtin(term))
		return say(
			why, -ENOENT,
			"cannot show a full screen: terminal type '%s' has no terminfo entry here; "
			"set TERM to a known one (export TERM=vt100), or use vqsteer stat",
			term);
	moves = cursor_address && clear_screen;
	del_curterm(cur_term);
	if (!moves)
		return say(why, -ENOENT,
			   "cannot show a full screen: terminal type '%s' cannot move its cursor; "
			   "set TERM to what the terminal is, or use vqsteer stat",
			   term);
	return 0;
}

/* Signals that end or resize are let in only while waiting, so that none is missed in between. */
static void hold_signals(struct top_term *t)
{
	static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t block;

	sigemptyset(&block);
	for (size_t i = 0; i < ARRAY_SIZE(stopping); i++)
		sigaddset(&block, stopping[i]);
	sigaddset(&block, SIGWINCH);
	sigprocmask(SIG_BLOCK, &block, &t->saved_mask);
	t->wait_mask = t->saved_mask;
	for (size_t i = 0; i < ARRAY_SIZE(stopping); i++)
		sigdelset(&t->wait_mask, stopping[i]);
	sigdelset(&t->wait_mask, SIGWINCH);
	/* ^\ would end the process with the terminal as it is. */
	sigaction(SIGQUIT, &(struct sigaction){.sa_handler = SIG_IGN}, &t->saved_quit);
}

/* ^S would hold the process in a write, where no signal ends it. */
static void no_flow_control(void)
{
	struct termios mode;

	if (tcgetattr(STDIN_FILENO, &mode) < 0)
		return;
	mode.c_iflag &= ~(tcflag_t)IXON;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &mode) == 0)
		def_prog_mode();
}

static bool want_color(bool no_color)
{
	const char *env = getenv("NO_COLOR"); /* no-color.org: set and not empty */

	return !no_color && !(env && env[0]) && has_colors();
}

int top_term_open(struct top_term *t, bool no_color)
{
	*t = (struct top_term){0};
	setlocale(LC_CTYPE, "");
	t->unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	t->screen = newterm(NULL, stdout, stdin);
	if (!t->screen)
		return -ENOTTY;
	hold_signals(t);
	set_escdelay(TOP_ESC_DELAY_MS);
	cbreak();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	leaveok(stdscr, TRUE);
	no_flow_control();
	curs_set(0);
	t->color = want_color(no_color);
	if (t->color) {
		start_color();
		use_default_colors();
		init_pair(TOP_PAIR_WARN, COLOR_YELLOW, -1);
		init_pair(TOP_PAIR_BAR, COLOR_CYAN, -1);
	}
	return 0;
}

void top_term_close(struct top_term *t)
{
	if (!t->screen)
		return;
	endwin();
	delscreen(t->screen);
	t->screen = NULL;
	sigaction(SIGQUIT, &t->saved_quit, NULL);
	sigprocmask(SIG_SETMASK, &t->saved_mask, NULL);
}

int top_term_wait(const struct top_term *t, uint64_t deadline_ns)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	uint64_t now = vqs_now_ns(CLOCK_MONOTONIC),
		 left = deadline_ns > now ? deadline_ns - now : 0;
	struct timespec timeout = {.tv_sec = (time_t)(left / 1000000000u),
				   .tv_nsec = (long)(left % 1000000000u)};
	int n = ppoll(&in, 1, &timeout, &t->wait_mask);

	/* Interrupted: a resize has left a key for curses to tell; whoever was told to stop looks.
	 */
	if (n < 0)
		return errno == EINTR ? 1 : -errno;
	if (n == 0)
		return 0;
	return (in.revents & (POLLHUP | POLLERR | POLLNVAL)) ? -EIO : 1;
}

static const struct {
	int curses, key;
} key_map[] = {
	{KEY_UP, TOP_KEY_UP},
	{KEY_DOWN, TOP_KEY_DOWN},
	{KEY_PPAGE, TOP_KEY_PAGE_UP},
	{KEY_NPAGE, TOP_KEY_PAGE_DOWN},
	{KEY_HOME, TOP_KEY_HOME},
	{KEY_END, TOP_KEY_END},
	{KEY_LEFT, TOP_KEY_LEFT},
	{KEY_RIGHT, TOP_KEY_RIGHT},
	{KEY_ENTER, TOP_KEY_ENTER},
	{'\r', TOP_KEY_ENTER},
	{'\n', TOP_KEY_ENTER},
	{'\033', TOP_KEY_ESC},
	{KEY_BACKSPACE, TOP_KEY_BACKSPACE},
	{'\b', TOP_KEY_BACKSPACE},
	{127, TOP_KEY_BACKSPACE},
	{'U' & 037, TOP_KEY_KILL},
	{'L' & 037, TOP_KEY_REDRAW},
	{KEY_RESIZE, TOP_KEY_REDRAW},
};

int top_term_key(void)
{
	int c = getch();

	if (c == ERR)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(key_map); i++)
		if (key_map[i].curses == c)
			return key_map[i].key;
	return c >= ' ' && c <= '~' ? c : 0;
}

bool top_term_writable(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&out, 1, 0) != 0;
}
