/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bundle_wants.h - when a row of the tables in bundle_host.c and bundle_child.c is needed */
#pragma once

#include <stdbool.h>

struct container_spec;

bool bundle_changes_user(const struct container_spec *s);
bool bundle_wants_names(const struct container_spec *s);
bool bundle_wants_sysctls(const struct container_spec *s);
bool bundle_wants_host_hooks(const struct container_spec *s);
bool bundle_wants_container_hooks(const struct container_spec *s);
bool bundle_wants_start_hooks(const struct container_spec *s);
bool bundle_wants_protection(const struct container_spec *s);
bool bundle_wants_propagation(const struct container_spec *s);
bool bundle_wants_mounts(const struct container_spec *s);
bool bundle_wants_mapped_mounts(const struct container_spec *s);
bool bundle_wants_agent(const struct container_spec *s);
bool bundle_wants_early_agent(const struct container_spec *s);
bool bundle_wants_processors(const struct container_spec *s);
