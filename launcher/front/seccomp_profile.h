/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* seccomp_profile.h - from a seccomp profile in JSON to the program that the kernel runs
 *
 * The format is that of container engines: the OCI runtime specification, "linux.seccomp", and
 * what Docker and Podman add to it in their own profiles (archMap, includes, excludes, errno
 * names).  A system call that the machine's libseccomp does not know is left to the default
 * action, as engines do: profiles list the calls of all architectures.
 *
 * This file is the only one that meets libseccomp.  The default profile (seccomp/default.json)
 * goes through it when timens-run is built, other profiles when it starts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/seccomp_filter.h"

struct err;

/* What "includes" and "excludes" are judged by. */
struct profile_facts {
	uint64_t capabilities;          /* of the payload */
	unsigned int kernel_version[2]; /* major, minor */
	bool has_agent;                 /* who answers SCMP_ACT_NOTIFY */
};

/* Compiles the profile for the architecture that this runs on.  On success the caller owns
 * ret->program.filter (free).
 * Returns 0, or a negative errno with *e filled:
 *   -EINVAL   not JSON, or not a profile: the text says which entry and why
 *   -ENOTSUP  it asks for an agent (SCMP_ACT_NOTIFY), and there is none
 *   -EFBIG    more than the 4096 instructions that the kernel takes */
int seccomp_profile_compile(const char *text, size_t length, const struct profile_facts *facts,
			    struct seccomp_filter *ret, struct err *e);

/* The libseccomp that compiles, "libseccomp 2.5.4": another one may make another program. */
const char *seccomp_profile_compiler(void);

/* The same for a file, with the running kernel's version.  Errors name the file. */
int seccomp_profile_load(const char *path, uint64_t capabilities, struct seccomp_filter *ret,
			 struct err *e);
