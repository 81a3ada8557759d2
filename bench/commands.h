/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * commands.h - what timens-bench can be told to do; main.c has the table
 */
#pragma once

enum {
	EXIT_FAILED = 1, /* something could not be measured */
	EXIT_USAGE = 2,  /* the command line is wrong; nothing was done */
};

/* Each gets the words after the program's name, its own first, and returns an exit status. */
int command_measure(int argc, char **argv);
int command_zygote(int argc, char **argv);
int command_list(int argc, char **argv);
int command_calibrate(int argc, char **argv);

/* Experiments of the lab (bench/lab). */
int command_loops(int argc, char **argv);
int command_warp(int argc, char **argv);
int command_tsc_clock(int argc, char **argv);
int command_vdso_used(int argc, char **argv);

/* Says that argv is not understood and returns EXIT_USAGE. */
int command_usage(const char *command, const char *problem, const char *word);
