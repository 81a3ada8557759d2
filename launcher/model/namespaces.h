/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* namespaces.h - the eight namespaces, each with its names and its flag */
#pragma once

#include <stdint.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

struct err;

enum namespace_kind {
	NS_CGROUP,
	NS_IPC,
	NS_MNT,
	NS_NET,
	NS_PID,
	NS_TIME,
	NS_USER,
	NS_UTS,
	NS_COUNT,
};

struct namespace_info {
	const char *name; /* as in /proc/PID/ns */
	uint32_t flag;    /* CLONE_NEW... */
};

extern const struct namespace_info namespaces[NS_COUNT];

/* The kind with this name ("mount", "network" and "hostname" are not names); NS_COUNT if none. */
enum namespace_kind namespace_find(const char *name, unsigned int length);

/* Reads "time,net" into flags.  Returns 0, or -EINVAL with *e filled. */
int namespaces_parse(const char *list, uint32_t *ret_flags, struct err *e);
