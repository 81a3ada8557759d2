/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plan.h - the order of container set-up, as two tables
 *
 * Order is the architecture of a container runtime, so it is written down once, as data:
 * read plan_host.c and plan_child.c from the bottom up and you have seen everything that
 * happens, on both sides.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "engine/console.h"
#include "model/namespaces.h"
#include "steps/cgroup.h"
#include "steps/pasta.h"

struct bundle_run;
struct container_spec;
struct err;
struct step;

struct container {
	const struct container_spec *spec;
	const struct step *at;     /* the row that runs now */
	bool by_root;              /* whoever starts us may write to our own program */
	int channel;               /* our end; see engine/channel.h */
	int child_channel;         /* host side: the other end, until the clone */
	pid_t pid;                 /* host side only: the container process */
	sigset_t caller_mask;      /* what the payload gets back */
	int join[NS_COUNT];        /* namespaces to enter, opened before the clone, or -1 */
	int root;                  /* the new root; -1 until it is opened */
	pid_t network_maker;       /* child: see engine/network.h */
	int network;               /* child: what it leaves, or -1 */
	int terminal;              /* host side: our end, or -1; child: the payload's end, or -1 */
	struct cgroup cgroup;      /* host side: empty where no limit is asked for */
	struct pasta pasta;        /* host side */
	struct console console;    /* host side: moves bytes if there is a terminal */
	bool wrote_pid_file;       /* host side: ours to remove */
	int name_lock;             /* host side: holds the name of the container, or -1 */
	struct bundle_run *bundle; /* of an OCI bundle; else NULL */
	int status;                /* host side: wait status of the container, once it has ended */
	bool ended;
};

struct step {
	const char *name; /* what, as shown in error messages */
	const char *why;  /* why it is here and not earlier or later, as shown by --explain */
	bool (*needed)(const struct container_spec *spec); /* NULL: always */
	int (*run)(struct container *c, struct err *e);    /* 0, or -errno with *e filled */
};

struct plan {
	const struct step *steps;
	size_t count;
};

extern const struct plan host_plan, child_plan;

/* Runs the needed steps in order, from the one after c->at (NULL: from the first), and stops at
 * the first failure; e->step then says where. */
int plan_run(const struct plan *plan, struct container *c, struct err *e);

void plan_explain(const struct plan *plan, const char *title, const struct container_spec *spec);
