/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* container_spec.h - what to run, as plain data
 *
 * Front ends fill it, model/check.c judges it, and from then on it is const for everybody.
 * Strings are borrowed from argv or live as long as the process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/clock_target.h"
#include "model/id_map.h"
#include "model/limits.h"
#include "model/mount.h"
#include "model/namespaces.h"
#include "model/rlimit.h"

struct bundle;
struct seccomp_filter;
struct journal;

enum overlay_kind {
	OVERLAY_NONE,
	OVERLAY_VANISHES, /* changes are kept in memory and end with the container */
	OVERLAY_KEPT,     /* changes are kept in overlay_dir */
};

enum net_kind {
	NET_LOOPBACK, /* a network namespace with nothing but lo */
	NET_HOST,
	NET_PASTA, /* pasta(1) connects it, without privileges */
};

enum tree_kind {
	TREE_OCI,   /* with masked and read-only paths */
	TREE_PLAIN, /* nothing masked */
	TREE_NONE,  /* the image's own folder */
};

enum { RLIMITS_MAX = 16, GROUPS_MAX = 32, KEEP_OOM_SCORE = INT32_MIN };

struct container_spec {
	/* what is executed */
	char **argv; /* NULL-terminated */
	char **env;  /* NULL-terminated */
	const char *workdir;

	/* namespaces: CLONE_NEW... flags of those that are created */
	uint32_t new_namespaces;
	const char *join[NS_COUNT]; /* path of a namespace to enter instead, or NULL */
	struct clock_targets clocks;
	struct journal *timeline; /* engine/journal.h; NULL: none */
	const char *hostname;     /* NULL: unchanged */
	enum net_kind net;

	/* root file system; no root: the caller's own view (--only) */
	const char *root; /* absolute */
	bool read_only;
	bool idmap_root; /* its files belong to ids outside: mount it through the maps */
	enum overlay_kind overlay;
	const char *overlay_dir; /* absolute */
	enum tree_kind proc, sys, dev;
	struct mount *mounts; /* all of them, in order */
	size_t mount_count;

	/* identity */
	struct id_map users, groups; /* of the new user namespace */
	bool map_by_helper;          /* newuidmap(1) and newgidmap(1) write the maps */
	bool deny_setgroups;         /* user_namespaces(7): needed where nobody privileged maps */
	bool set_ids;                /* become uid, gid and groups */
	uint32_t uid, gid;
	uint32_t group_list[GROUPS_MAX];
	size_t group_count;

	/* privileges */
	uint64_t capabilities; /* kept: bit N is capability N */
	uint64_t ambient;      /* of these, kept across exec by a user other than root */
	bool no_new_privs;
	const struct seccomp_filter *filter; /* NULL: none */
	struct limits limits;
	struct rlimit_setting rlimits[RLIMITS_MAX]; /* one for each resource at most */
	size_t rlimit_count;
	int oom_score_adj; /* or KEEP_OOM_SCORE */

	const struct bundle *bundle; /* what only an OCI bundle can ask for; NULL: no bundle */

	/* life */
	bool init;     /* PID 1 is ours and reaps; else the payload is PID 1 */
	bool terminal; /* the payload gets a terminal of its own */
	bool new_session;
	const char *name;     /* NULL: none */
	const char *pid_file; /* NULL: none */
	int info_fd, sync_fd; /* -1: none */
	int kill_timeout_ms;  /* between a forwarded SIGTERM and SIGKILL; -1: never */
};

/* Has the host something to do between READY and START?  Else nobody waits for anybody there: it
 * would cost two changes of process, a thirtieth of a start. */
static inline bool host_prepares(const struct container_spec *spec)
{
	return spec->net == NET_PASTA || spec->pid_file != NULL || spec->info_fd >= 0 ||
	       spec->sync_fd >= 0 || spec->timeline != NULL;
}

static inline bool creates(const struct container_spec *spec, uint32_t flag)
{
	return (spec->new_namespaces & flag) != 0;
}
