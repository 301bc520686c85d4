/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Draws top's model on curses' screen. Reads the model; tells it only how much fits. Colour and
 * reverse video repeat what marks and words say already.
 */
#ifndef CLI_TOP_VIEW_H
#define CLI_TOP_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/top_model.h"
#include "cli/top_term.h"

/* Below that there is a message instead of the screen. */
#define TOP_MIN_COLUMNS 48
#define TOP_MIN_ROWS    10

/* Draws everything and sends what changed; @repaint: sends all of it. */
void top_view_draw(struct top_model *m, const struct top_term *t, bool repaint);

#endif
