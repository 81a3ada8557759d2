/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* seccomp_default.h - the default profile, made by seccomp/compile.c at build time */
#pragma once

#include "model/seccomp_filter.h"

/* Compiled for a payload without extra capabilities: bytes to load, nothing to compute. */
extern const struct seccomp_filter seccomp_default_filter;

/* The profile itself, seccomp/default.json, for payloads that were given capabilities. */
extern const char seccomp_default_profile[];
