/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wants.h - which rows of the two tables a spec needs */
#pragma once

#include <stdbool.h>

struct container_spec;

bool wants_any_join(const struct container_spec *spec);
bool wants_announcement(const struct container_spec *spec);
bool wants_bound(const struct container_spec *spec);
bool wants_cgroup_namespace(const struct container_spec *spec);
bool wants_devices(const struct container_spec *spec);
bool wants_filter_early(const struct container_spec *spec);
bool wants_filter_late(const struct container_spec *spec);
bool wants_gate(const struct container_spec *spec);
bool wants_hostname(const struct container_spec *spec);
bool wants_ids(const struct container_spec *spec);
bool wants_init(const struct container_spec *spec);
bool wants_joined_mounts(const struct container_spec *spec);
bool wants_limit(const struct container_spec *spec);
bool wants_limits(const struct container_spec *spec);
bool wants_loopback(const struct container_spec *spec);
bool wants_mapped_root(const struct container_spec *spec);
bool wants_masks(const struct container_spec *spec);
bool wants_mounts(const struct container_spec *spec);
bool wants_name(const struct container_spec *spec);
bool wants_network_namespace(const struct container_spec *spec);
bool wants_no_new_privileges(const struct container_spec *spec);
bool wants_overlay(const struct container_spec *spec);
bool wants_pasta(const struct container_spec *spec);
bool wants_private_mounts(const struct container_spec *spec);
bool wants_process_limits(const struct container_spec *spec);
bool wants_root(const struct container_spec *spec);
bool wants_sealed_root(const struct container_spec *spec);
bool wants_session(const struct container_spec *spec);
bool wants_terminal(const struct container_spec *spec);
bool wants_time_namespace(const struct container_spec *spec);
bool wants_timeline(const struct container_spec *spec);
bool wants_user_namespace(const struct container_spec *spec);
bool wants_workdir(const struct container_spec *spec);
