/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cgroup_devices.h - which devices the members of a bundle's cgroups may use
 *
 * cgroup v1 has files for it, v2 a program that the kernel asks (model/device_program.c).
 *
 * Source: Documentation/admin-guide/cgroup-v1/devices.rst, cgroup-v2.rst; bpf(2).
 * Layer:  steps; includes base/ and model/ only; called from engine/bundle_*.c only.
 */
#pragma once

#include <stddef.h>

struct cgroup_set;
struct device_rule;
struct err;

/* The rules after each other, and then what every container may use; instead of those that were
 * there before.  No rules: changes nothing.
 * -ENOTSUP: neither v1's controller devices nor a v2 tree is there, or the kernel was built without
 * CONFIG_CGROUP_BPF. */
int cgroup_devices_allow(const struct cgroup_set *set, const struct device_rule *rules,
			 size_t count, struct err *e);
