/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_namespaces.c - which namespaces a bundle creates, and which it joins */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "front/doc.h"
#include "front/oci_config.h"

static const struct {
	const char *oci;
	enum namespace_kind kind;
} namespace_types[] = {
	{ "cgroup", NS_CGROUP }, { "ipc", NS_IPC },   { "mount", NS_MNT }, { "network", NS_NET },
	{ "pid", NS_PID },       { "time", NS_TIME }, { "user", NS_USER }, { "uts", NS_UTS },
};

static int read_namespace(const struct json *ns, struct oci_config *c, struct err *e)
{
	const char *type = NULL, *path = NULL;
	uint32_t flag;

	if (doc_text(ns, "type", &type, e) < 0 || doc_text(ns, "path", &path, e) < 0)
		return -e->code;
	for (size_t i = 0; type != NULL && i < NS_COUNT; i++) {
		enum namespace_kind kind = namespace_types[i].kind;

		if (strcmp(type, namespace_types[i].oci) != 0)
			continue;
		flag = namespaces[kind].flag;
		if (creates(&c->spec, flag) || c->spec.join[kind] != NULL)
			return err_set(e, EINVAL, "namespace '%s' is listed twice", type);
		if (path == NULL || *path == '\0')
			c->spec.new_namespaces |= flag;
		else if (*path != '/')
			return err_set(e, EINVAL, "namespace path '%s' is not absolute", path);
		else
			c->spec.join[kind] = path;
		return 0;
	}
	return err_set(e, EINVAL, "namespace type '%s' is not supported",
		       type != NULL ? type : "(none)");
}

int oci_namespaces_read(const struct json *linux_part, struct oci_config *c, struct err *e)
{
	const struct json *list;
	size_t count;
	int r = doc_array(linux_part, "namespaces", &list, &count, e);

	for (size_t i = 0; r == 0 && i < count; i++)
		r = read_namespace(doc_at(list, i), c, e);
	return r;
}
