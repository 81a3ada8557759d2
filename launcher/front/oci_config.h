/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_config.h - from the config.json of a bundle to the spec that the engine runs
 *
 * Source: OCI runtime specification 1.2.  What is not supported is refused by name; members that
 * the specification does not know are ignored, as it demands.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "front/filter_cache.h"
#include "model/bundle.h"
#include "model/container_spec.h"
#include "model/seccomp_filter.h"
#include "model/timeline.h"

struct err;
struct json;

struct oci_config {
	struct container_spec spec;
	struct bundle bundle;
	struct seccomp_filter filter;
	const char *cache_root;       /* of compiled filters, or NULL; given by the caller */
	struct filter_key filter_key; /* bytes: NULL where the filter need not be kept */
	char *text;                   /* the file as it was read */
	size_t length;
	struct json *root;
	const struct json *annotations; /* or NULL */
	const char *version;
	const char *timeline; /* key of the service, or NULL */
	enum timeline_mode timeline_mode;
};

/* What the command line says of the clocks (the rank below all annotations). */
struct oci_clock_flags {
	const char *offset, *boottime, *monotonic, *uptime;
	const char *timeline, *timeline_mode, *timelines; /* the last: where their files are */
};

/* Reads FOLDER/config.json, or another file of the same form.  folder is absolute. */
int oci_config_load(const char *file, const char *folder, const struct oci_clock_flags *flags,
		    struct oci_config *ret, struct err *e);

/* The hooks and the seccomp agent alone, for the commands that come later in the container's life. */
int oci_config_load_later(const char *file, struct oci_config *ret, struct err *e);

/* The parts, each in a file of its own. */
int oci_process_read(const struct json *process, struct oci_config *c, struct err *e);
int oci_filter_read(const struct json *linux_part, struct oci_config *c, struct err *e);
/* Who answers SCMP_ACT_NOTIFY; `profile` is linux.seccomp, or NULL. */
int oci_agent_read(const struct json *profile, struct oci_config *c, struct err *e);
int oci_mounts_read(const struct json *root, struct oci_config *c, struct err *e);
int oci_mount_options_list(const char *const **ret_names, size_t *ret_count);
int oci_scheduling_read(const struct json *process, struct oci_config *c, struct err *e);
int oci_personality_read(const struct json *linux_part, struct oci_config *c, struct err *e);
int oci_resources_read(const struct json *resources, struct oci_config *c, struct err *e);
int oci_clocks_read(const struct json *linux_part, const struct oci_clock_flags *flags,
		    struct oci_config *c, struct err *e);
int oci_id_map_read(const struct json *object, const char *key, struct id_map *ret, struct err *e);
int oci_namespaces_read(const struct json *linux_part, struct oci_config *c, struct err *e);
int oci_id_maps_read(const struct json *linux_part, struct oci_config *c, struct err *e);
extern const char *const oci_annotations[]; /* names that we understand, NULL-terminated */
