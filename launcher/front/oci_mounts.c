/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_mounts.c - "mounts" of config.json and their option words
 *
 * Source: config.md, "Linux mount options"; mount_setattr(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

#include "base/err.h"
#include "base/log.h"
#include "front/doc.h"
#include "front/oci_config.h"

enum word_kind {
	ATTRIBUTE,     /* sets and clears attributes of this mount */
	ATTRIBUTE_ALL, /* the same for all beneath it */
	PROPAGATION,
	BIND,
	RBIND,
	COPY_UP,
	NO_FOLLOW,
	ID_MAP,
	ID_MAP_ALL, /* of all mounts beneath it as well */
	SUPERBLOCK, /* of the file system, not of this mount */
	NOTHING,
};

/* The words of the specification, in its order.  Access time is a field of three bits: to set
 * one value the others must be cleared. */
static const struct option_word {
	const char *name;
	enum word_kind kind;
	unsigned long set, clear;
} words[] = {
	{ "async", NOTHING, 0, 0 },
	{ "atime", ATTRIBUTE, 0, MOUNT_ATTR_NOATIME },
	{ "bind", BIND, 0, 0 },
	{ "defaults", NOTHING, 0, 0 },
	{ "dev", ATTRIBUTE, 0, MOUNT_ATTR_NODEV },
	{ "dirsync", SUPERBLOCK, MS_DIRSYNC, 0 },
	{ "iversion", SUPERBLOCK, MS_I_VERSION, 0 },
	{ "lazytime", SUPERBLOCK, MS_LAZYTIME, 0 },
	{ "loud", NOTHING, 0, 0 },
	{ "noiversion", NOTHING, 0, 0 },
	{ "nolazytime", NOTHING, 0, 0 },
	{ "silent", SUPERBLOCK, MS_SILENT, 0 },
	{ "sync", SUPERBLOCK, MS_SYNCHRONOUS, 0 },
	{ "diratime", ATTRIBUTE, 0, MOUNT_ATTR_NODIRATIME },
	{ "exec", ATTRIBUTE, 0, MOUNT_ATTR_NOEXEC },
	{ "noatime", ATTRIBUTE, MOUNT_ATTR_NOATIME, MOUNT_ATTR__ATIME },
	{ "nodev", ATTRIBUTE, MOUNT_ATTR_NODEV, 0 },
	{ "nodiratime", ATTRIBUTE, MOUNT_ATTR_NODIRATIME, 0 },
	{ "noexec", ATTRIBUTE, MOUNT_ATTR_NOEXEC, 0 },
	{ "norelatime", ATTRIBUTE, 0, 0 },
	{ "nostrictatime", ATTRIBUTE, 0, 0 },
	{ "nosuid", ATTRIBUTE, MOUNT_ATTR_NOSUID, 0 },
	{ "nosymfollow", ATTRIBUTE, MOUNT_ATTR_NOSYMFOLLOW, 0 },
	{ "private", PROPAGATION, MS_PRIVATE, 0 },
	{ "rbind", RBIND, 0, 0 },
	{ "relatime", ATTRIBUTE, MOUNT_ATTR_RELATIME, MOUNT_ATTR__ATIME },
	{ "ro", ATTRIBUTE, MOUNT_ATTR_RDONLY, 0 },
	{ "rprivate", PROPAGATION, MS_PRIVATE | MS_REC, 0 },
	{ "rshared", PROPAGATION, MS_SHARED | MS_REC, 0 },
	{ "rslave", PROPAGATION, MS_SLAVE | MS_REC, 0 },
	{ "runbindable", PROPAGATION, MS_UNBINDABLE | MS_REC, 0 },
	{ "rw", ATTRIBUTE, 0, MOUNT_ATTR_RDONLY },
	{ "shared", PROPAGATION, MS_SHARED, 0 },
	{ "slave", PROPAGATION, MS_SLAVE, 0 },
	{ "strictatime", ATTRIBUTE, MOUNT_ATTR_STRICTATIME, MOUNT_ATTR__ATIME },
	{ "suid", ATTRIBUTE, 0, MOUNT_ATTR_NOSUID },
	{ "symfollow", ATTRIBUTE, 0, MOUNT_ATTR_NOSYMFOLLOW },
	{ "unbindable", PROPAGATION, MS_UNBINDABLE, 0 },
	{ "ratime", ATTRIBUTE_ALL, 0, MOUNT_ATTR_NOATIME },
	{ "rdev", ATTRIBUTE_ALL, 0, MOUNT_ATTR_NODEV },
	{ "rdiratime", ATTRIBUTE_ALL, 0, MOUNT_ATTR_NODIRATIME },
	{ "rexec", ATTRIBUTE_ALL, 0, MOUNT_ATTR_NOEXEC },
	{ "rnoatime", ATTRIBUTE_ALL, MOUNT_ATTR_NOATIME, MOUNT_ATTR__ATIME },
	{ "rnodev", ATTRIBUTE_ALL, MOUNT_ATTR_NODEV, 0 },
	{ "rnodiratime", ATTRIBUTE_ALL, MOUNT_ATTR_NODIRATIME, 0 },
	{ "rnoexec", ATTRIBUTE_ALL, MOUNT_ATTR_NOEXEC, 0 },
	{ "rnosuid", ATTRIBUTE_ALL, MOUNT_ATTR_NOSUID, 0 },
	{ "rnosymfollow", ATTRIBUTE_ALL, MOUNT_ATTR_NOSYMFOLLOW, 0 },
	{ "rrelatime", ATTRIBUTE_ALL, MOUNT_ATTR_RELATIME, MOUNT_ATTR__ATIME },
	{ "rro", ATTRIBUTE_ALL, MOUNT_ATTR_RDONLY, 0 },
	{ "rrw", ATTRIBUTE_ALL, 0, MOUNT_ATTR_RDONLY },
	{ "rstrictatime", ATTRIBUTE_ALL, MOUNT_ATTR_STRICTATIME, MOUNT_ATTR__ATIME },
	{ "rsuid", ATTRIBUTE_ALL, 0, MOUNT_ATTR_NOSUID },
	{ "rsymfollow", ATTRIBUTE_ALL, 0, MOUNT_ATTR_NOSYMFOLLOW },
	{ "tmpcopyup", COPY_UP, 0, 0 },
	{ "src-nofollow", NO_FOLLOW, 0, 0 },
	{ "idmap", ID_MAP, 0, 0 },
	{ "ridmap", ID_MAP_ALL, 0, 0 },
};

enum { WORD_COUNT = sizeof words / sizeof *words };

int oci_mount_options_list(const char *const **ret_names, size_t *ret_count)
{
	static const char *names[WORD_COUNT];

	for (size_t i = 0; i < WORD_COUNT; i++)
		names[i] = words[i].name;
	*ret_names = names;
	*ret_count = WORD_COUNT;
	return 0;
}

static int append_data(struct bundle_mount *m, const char *option, struct err *e)
{
	char *longer;

	if (asprintf(&longer, "%s%s%s", m->data != NULL ? m->data : "", m->data != NULL ? "," : "",
		     option) < 0)
		return err_set(e, ENOMEM, "cannot keep the options of %s", m->target);
	free(m->data);
	m->data = longer;
	return 0;
}

static int note_option(const char *option, struct bundle_mount *m, bool *bind, struct err *e)
{
	const struct option_word *w = words;

	while (w < words + WORD_COUNT && strcmp(w->name, option) != 0)
		w++;
	if (w == words + WORD_COUNT)
		return append_data(m, option, e);
	switch (w->kind) {
	case ATTRIBUTE:
		m->set = (m->set & ~w->clear) | w->set;
		m->clear = (m->clear & ~w->set) | w->clear;
		break;
	case ATTRIBUTE_ALL:
		m->set_all = (m->set_all & ~w->clear) | w->set;
		m->clear_all = (m->clear_all & ~w->set) | w->clear;
		break;
	case PROPAGATION:
		m->propagation = w->set & ~(unsigned long)MS_REC;
		m->propagation_all = (w->set & MS_REC) != 0;
		break;
	case BIND:
	case RBIND:
		*bind = true;
		m->with_submounts = w->kind == RBIND;
		break;
	case SUPERBLOCK:
		m->super |= w->set;
		break;
	case COPY_UP:
		m->copy_up = true;
		break;
	case NO_FOLLOW:
		m->no_follow = true;
		break;
	case ID_MAP:
	case ID_MAP_ALL:
		m->map_ids = true;
		m->map_ids_all |= w->kind == ID_MAP_ALL;
		break;
	default:
		break;
	}
	return 0;
}

/* Owners of a mount: as it says itself, or as the container's user namespace maps them. */
static int read_ids(const struct json *in, const struct oci_config *c, struct bundle_mount *m,
		    struct err *e)
{
	bool users = doc_get(in, "uidMappings") != NULL,
	     groups = doc_get(in, "gidMappings") != NULL;
	struct mount_ids *ids;

	if (users != groups)
		return err_set(e, EINVAL, "the mount on %s has mappings of users or groups alone",
			       m->target);
	if (!users && m->map_ids && !creates(&c->spec, CLONE_NEWUSER) &&
	    c->spec.join[NS_USER] == NULL)
		return err_set(e, EINVAL,
			       "idmap on %s without mappings, and the container has no user "
			       "namespace to take them from",
			       m->target);
	m->map_ids |= users;
	if (m->map_ids && m->type != NULL)
		return err_set(e, ENOTSUP,
			       "id mappings of the %s on %s: only bind mounts have them", m->type,
			       m->target);
	if (!users)
		return 0;
	ids = calloc(1, sizeof *ids);
	if (ids == NULL)
		return err_set(e, ENOMEM, "cannot keep the mappings of %s", m->target);
	m->ids = ids;
	if (oci_id_map_read(in, "uidMappings", &ids->users, e) < 0)
		return -e->code;
	return oci_id_map_read(in, "gidMappings", &ids->groups, e);
}

static int refuse_odd(const struct bundle_mount *m, bool bind, struct err *e)
{
	if (bind && m->data != NULL) /* mount(2) passes them over as well; but said aloud */
		log_warning("the bind mount on %s has options of a file system, '%s': the one that "
			    "is bound keeps its own",
			    m->target, m->data);
	if (m->data != NULL && strcmp(m->data, "remount") == 0)
		return err_set(e, ENOTSUP, "option '%s' of the mount on %s is not supported",
			       m->data, m->target);
	if (m->copy_up && (bind || strcmp(m->type, "tmpfs") != 0))
		return err_set(e, EINVAL, "tmpcopyup on %s, which is no tmpfs", m->target);
	return 0;
}

static int read_mount(const struct json *in, const struct oci_config *c, struct bundle_mount *m,
		      struct err *e)
{
	char **options = NULL;
	bool bind = false;
	int r = 0;

	if (doc_text(in, "destination", &m->target, e) < 0 ||
	    doc_text(in, "type", &m->type, e) < 0 || doc_text(in, "source", &m->source, e) < 0 ||
	    doc_texts(in, "options", &options, e) < 0)
		return -e->code;
	if (m->target == NULL || *m->target == '\0')
		return err_set(e, EINVAL, "a mount without 'destination'");
	if (m->target[0] != '/' && asprintf((char **)(uintptr_t)&m->target, "/%s", m->target) < 0)
		return err_set(e, ENOMEM, "cannot keep the path %s", m->target);
	for (char **o = options; r == 0 && o != NULL && *o != NULL; o++)
		r = note_option(*o, m, &bind, e);
	free(options);
	if (r < 0)
		return r;
	bind |= m->type == NULL || strcmp(m->type, "bind") == 0;
	r = refuse_odd(m, bind, e);
	m->type = bind ? NULL : m->type;
	if (r == 0)
		r = read_ids(in, c, m, e);
	if (r < 0 || !bind)
		return r;
	if (m->source == NULL || *m->source == '\0')
		return err_set(e, EINVAL, "the bind mount on %s has no source", m->target);
	if (m->source[0] != '/' &&
	    asprintf((char **)(uintptr_t)&m->source, "%s/%s", c->bundle.folder, m->source) < 0)
		return err_set(e, ENOMEM, "cannot keep the path %s", m->source);
	return 0;
}

int oci_mounts_read(const struct json *root, struct oci_config *c, struct err *e)
{
	const struct json *list;
	size_t count;
	int r = doc_array(root, "mounts", &list, &count, e);

	if (r < 0)
		return r;
	c->bundle.mounts = calloc(count + 1, sizeof *c->bundle.mounts);
	if (c->bundle.mounts == NULL)
		return err_set(e, ENOMEM, "cannot keep the mounts");
	for (size_t i = 0; r == 0 && i < count; i++)
		r = read_mount(doc_at(list, i), c, &c->bundle.mounts[c->bundle.mount_count++], e);
	return r;
}
