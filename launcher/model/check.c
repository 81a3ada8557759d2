/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/check.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "base/err.h"
#include "model/container_spec.h"

static bool is_shifted(const struct clock_target *t)
{
	return t->aim == CLOCK_READS || t->value.s != 0 || t->value.ns != 0;
}

/* Engines may name or fill a namespace that others have made. */
static bool joins_for_bundle(const struct container_spec *spec, enum namespace_kind kind)
{
	return spec->bundle != NULL && spec->join[kind] != NULL;
}

static int check_namespaces(const struct container_spec *spec, struct err *e)
{
	for (enum namespace_kind k = 0; k < NS_COUNT; k++)
		if (spec->join[k] != NULL && creates(spec, namespaces[k].flag))
			return err_set(e, EINVAL, "the %s namespace is both created and joined",
				       namespaces[k].name);
	if (spec->join[NS_PID] != NULL && creates(spec, CLONE_NEWUSER) && spec->bundle == NULL) {
		(void)err_set(e, EINVAL, "--join pid needs its owner");
		return err_hint(e,
				"its user namespace as well: --join user=PATH (or --share user)");
	}
	if (!creates(spec, CLONE_NEWTIME) &&
	    (is_shifted(&spec->clocks.monotonic) || is_shifted(&spec->clocks.boottime))) {
		(void)err_set(e, EINVAL, "--boottime and --monotonic need a new time namespace");
		return err_hint(e, "a time namespace that is shared or joined has clocks already");
	}
	if (spec->hostname != NULL && !creates(spec, CLONE_NEWUTS) &&
	    !joins_for_bundle(spec, NS_UTS))
		return err_set(e, EINVAL, "--hostname needs a new uts namespace");
	if (spec->hostname != NULL && strlen(spec->hostname) > 64)
		return err_set(e, EINVAL, "--hostname has more than 64 characters");
	return 0;
}

static int check_root(const struct container_spec *spec, struct err *e)
{
	if (spec->root != NULL && !creates(spec, CLONE_NEWNS) && !joins_for_bundle(spec, NS_MNT)) {
		(void)err_set(e, EINVAL, "a root filesystem needs a new mnt namespace");
		return err_hint(e, "--only and --join mnt take no ROOTFS");
	}
	if (spec->root == NULL && (spec->overlay != OVERLAY_NONE || spec->read_only))
		return err_set(e, EINVAL, "overlays and --read-only need a ROOTFS");
	if (spec->mount_count > 0 && !creates(spec, CLONE_NEWNS))
		return err_set(e, EINVAL, "mounts need a new mnt namespace");
	for (size_t i = 0; i < spec->mount_count; i++)
		if (spec->mounts[i].target[0] != '/' || spec->mounts[i].target[1] == '\0')
			return err_set(e, EINVAL,
				       "mount target '%s' is not an absolute path below /",
				       spec->mounts[i].target);
	if (spec->workdir != NULL && spec->workdir[0] != '/')
		return err_set(e, EINVAL, "--workdir '%s' is not an absolute path", spec->workdir);
	if (spec->terminal && (spec->root == NULL || spec->dev == TREE_NONE))
		return err_set(e, EINVAL, "--tty needs a ROOTFS with --dev oci");
	return 0;
}

static int check_life(const struct container_spec *spec, struct err *e)
{
	if (spec->name != NULL &&
	    (*spec->name == '\0' || strlen(spec->name) > 64 || strchr(spec->name, '/') != NULL))
		return err_set(e, EINVAL, "--name '%s' is empty, longer than 64, or has a /",
			       spec->name);
	return 0;
}

static int check_identity(const struct container_spec *spec, struct err *e)
{
	uint32_t outside;

	if (!creates(spec, CLONE_NEWUSER))
		return 0;
	if (!id_map_outside(&spec->users, spec->uid, &outside) ||
	    !id_map_outside(&spec->groups, spec->gid, &outside)) {
		(void)err_set(e, EINVAL, "user %u and group %u have no ids outside", spec->uid,
			      spec->gid);
		return err_hint(e, "map them: --map-users and --map-groups, or ranges for you in "
				   "/etc/subuid and /etc/subgid");
	}
	return 0;
}

int spec_check(const struct container_spec *spec, struct err *e)
{
	int r = check_life(spec, e); /* first: a name is a hostname as well */

	if (r == 0)
		r = check_namespaces(spec, e);
	if (r == 0)
		r = check_root(spec, e);
	if (r == 0)
		r = check_identity(spec, e);
	return r;
}
