/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* device_program.h - device rules as the program that cgroup v2 asks instead of a file
 *
 * The rules are read as cgroup v1 reads them, one after another: the last that speaks of a device and
 * an access decides, and what none speaks of is allowed.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst, "Device controller"; linux/bpf.h, struct
 *         bpf_cgroup_dev_ctx.
 * Layer:  model; pure, no system call.
 */
#pragma once

#include <linux/bpf.h>
#include <stddef.h>

#include "model/bundle.h"

struct err;

/* What every container may use: null, full, zero, random, urandom, tty, console, ptmx, pts; and any
 * node may be made, as making it opens nothing. */
extern const struct device_rule device_rules_always[];
extern const size_t device_rules_always_count;

/* The program for these rules and then those above; the caller frees *ret_code.
 * Returns the number of instructions, or -ENOMEM with *e filled. */
int device_program_make(const struct device_rule *rules, size_t count, struct bpf_insn **ret_code,
			struct err *e);
