/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/oci_config.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/log.h"
#include "front/doc.h"

enum { CONFIG_MAX = 8 << 20 };

static int read_file(const char *path, struct oci_config *c, struct err *e)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat s;
	ssize_t n;

	if (fd < 0 || fstat(fd, &s) < 0)
		return err_set(e, errno, "cannot open %s", path);
	if (s.st_size > CONFIG_MAX)
		return err_set(e, EFBIG, "%s has more than %d bytes", path, CONFIG_MAX);
	c->text = malloc((size_t)s.st_size + 1);
	if (c->text == NULL)
		return err_set(e, ENOMEM, "cannot read %s", path);
	n = read(fd, c->text, (size_t)s.st_size);
	if (n < 0)
		return err_set(e, errno, "cannot read %s", path);
	c->length = (size_t)n;
	c->text[n] = '\0';
	return 0;
}

static int read_version(struct oci_config *c, struct err *e)
{
	unsigned int major;

	if (doc_text(c->root, "ociVersion", &c->version, e) < 0)
		return -e->code;
	if (c->version == NULL || sscanf(c->version, "%u.", &major) != 1)
		return err_set(e, EINVAL, "'ociVersion' is missing or not a version");
	if (major != 1)
		return err_set(e, EINVAL, "'ociVersion' %s is not supported: 1.x is", c->version);
	return 0;
}

static int read_root(struct oci_config *c, struct err *e)
{
	const struct json *root;
	const char *path = NULL;
	char *joined, *real;

	if (doc_object(c->root, "root", &root, e) < 0)
		return -e->code;
	if (root == NULL)
		return err_set(e, EINVAL, "'root' is missing");
	if (doc_text(root, "path", &path, e) < 0 ||
	    doc_flag(root, "readonly", &c->spec.read_only, e) < 0)
		return -e->code;
	if (path == NULL || *path == '\0')
		return err_set(e, EINVAL, "'root.path' is missing");
	if (asprintf(&joined, "%s%s%s", path[0] == '/' ? "" : c->bundle.folder,
		     path[0] == '/' ? "" : "/", path) < 0)
		return err_set(e, ENOMEM, "cannot keep the path %s", path);
	real = realpath(joined, NULL);
	if (real == NULL)
		(void)err_set(e, errno, "cannot open the root filesystem %s", joined);
	free(joined);
	c->spec.root = real;
	return real == NULL ? -e->code : 0;
}

static int read_hook(const struct json *in, struct hook *h, struct err *e)
{
	int64_t timeout_s = 0;

	if (doc_text(in, "path", &h->path, e) < 0 || doc_texts(in, "args", &h->args, e) < 0 ||
	    doc_texts(in, "env", &h->env, e) < 0)
		return -e->code;
	if (h->path == NULL || h->path[0] != '/')
		return err_set(e, EINVAL, "the path of a hook must be absolute");
	if (doc_get(in, "timeout") != NULL &&
	    doc_integer(in, "timeout", 1, INT32_MAX / 1000, &timeout_s, e) < 0)
		return -e->code;
	h->timeout_s = (int)timeout_s;
	return 0;
}

static int read_hooks(struct oci_config *c, struct err *e)
{
	static const char *const stages[HOOK_STAGES] = {
		"prestart",       "createRuntime", "createContainer",
		"startContainer", "poststart",     "poststop",
	};
	const struct json *hooks, *list;
	size_t count;
	int r = doc_object(c->root, "hooks", &hooks, e);

	for (int i = 0; r == 0 && i < HOOK_STAGES; i++) {
		struct hook_list *to = &c->bundle.hooks[i];

		r = doc_array(hooks, stages[i], &list, &count, e);
		if (r < 0 || count == 0)
			continue;
		to->hooks = calloc(count, sizeof *to->hooks);
		if (to->hooks == NULL)
			return err_set(e, ENOMEM, "cannot keep the hooks");
		for (to->count = 0; r == 0 && to->count < count; to->count++)
			r = read_hook(doc_at(list, to->count), &to->hooks[to->count], e);
	}
	return r;
}

static int keep_sysctl(const char *key, const struct json *value, void *arg, struct err *e)
{
	struct oci_config *c = arg;
	const struct container_spec *s = &c->spec;
	bool ipc = creates(s, CLONE_NEWIPC) || s->join[NS_IPC] != NULL;
	bool net = creates(s, CLONE_NEWNET) || s->join[NS_NET] != NULL;
	bool uts = creates(s, CLONE_NEWUTS) || s->join[NS_UTS] != NULL;
	const char *text = doc_as_text(value);
	static const char *const of_ipc[] = { "kernel.msgmax", "kernel.msgmnb",
					      "kernel.msgmni", "kernel.sem",
					      "kernel.shmall", "kernel.shmmax",
					      "kernel.shmmni", "kernel.shm_rmid_forced" };
	bool allowed = (net && strncmp(key, "net.", 4) == 0) ||
		       (ipc && strncmp(key, "fs.mqueue.", 10) == 0) ||
		       (uts && strcmp(key, "kernel.domainname") == 0);

	for (size_t i = 0; ipc && i < sizeof of_ipc / sizeof *of_ipc; i++)
		allowed |= strcmp(key, of_ipc[i]) == 0;
	if (text == NULL)
		return err_set(e, EINVAL, "sysctl '%s' must be a string", key);
	if (!allowed || strstr(key, "..") != NULL)
		return err_set(e, EINVAL, "sysctl '%s' is not of a namespace of this container",
			       key);
	c->bundle.sysctls[c->bundle.sysctl_count++] = (struct sysctl){ key, text };
	return 0;
}

static int count_member(const char *key, const struct json *value, void *arg, struct err *e)
{
	(void)key;
	(void)value;
	(void)e;
	++*(size_t *)arg;
	return 0;
}

static int read_sysctls(const struct json *linux_part, struct oci_config *c, struct err *e)
{
	const struct json *all;
	size_t count = 0;
	int r = doc_object(linux_part, "sysctl", &all, e);

	if (r < 0 || all == NULL)
		return r;
	(void)doc_each(all, count_member, &count, e); /* only counts */
	c->bundle.sysctls = calloc(count + 1, sizeof *c->bundle.sysctls);
	if (c->bundle.sysctls == NULL)
		return err_set(e, ENOMEM, "cannot keep the sysctls");
	return doc_each(all, keep_sysctl, c, e);
}

static int read_device(const struct json *in, struct bundle_device *d, struct err *e)
{
	const char *type = NULL;
	int64_t mode = 0666, major = 0, minor = 0, uid = 0, gid = 0;

	if (doc_text(in, "path", &d->path, e) < 0 || doc_text(in, "type", &type, e) < 0 ||
	    doc_integer(in, "fileMode", 0, 07777 | S_IFMT, &mode, e) < 0 ||
	    doc_integer(in, "major", 0, 4095, &major, e) < 0 ||
	    doc_integer(in, "minor", 0, 1048575, &minor, e) < 0 ||
	    doc_integer(in, "uid", 0, UINT32_MAX, &uid, e) < 0 ||
	    doc_integer(in, "gid", 0, UINT32_MAX, &gid, e) < 0)
		return -e->code;
	if (d->path == NULL || d->path[0] != '/' || type == NULL || strlen(type) != 1 ||
	    strchr("bcup", type[0]) == NULL)
		return err_set(e, EINVAL, "a device needs an absolute path and a type: b, c, u, p");
	d->mode = (mode_t)(mode & 07777) | (type[0] == 'b'   ? S_IFBLK
					    : type[0] == 'p' ? S_IFIFO
							     : S_IFCHR);
	d->major = (unsigned int)major;
	d->minor = (unsigned int)minor;
	d->uid = (uint32_t)uid;
	d->gid = (uint32_t)gid;
	return 0;
}

static int read_devices(const struct json *linux_part, struct oci_config *c, struct err *e)
{
	const struct json *list;
	size_t count;
	int r = doc_array(linux_part, "devices", &list, &count, e);

	if (r < 0)
		return r;
	c->bundle.devices = calloc(count + 1, sizeof *c->bundle.devices);
	if (c->bundle.devices == NULL)
		return err_set(e, ENOMEM, "cannot keep the devices");
	for (size_t i = 0; r == 0 && i < count; i++)
		r = read_device(doc_at(list, i), &c->bundle.devices[c->bundle.device_count++], e);
	return r;
}

static int read_propagation(const struct json *linux_part, struct oci_config *c, struct err *e)
{
	static const struct {
		const char *word;
		unsigned long flags;
	} words[] = {
		{ "", 0 },
		{ "private", MS_PRIVATE },
		{ "rprivate", MS_PRIVATE | MS_REC },
		{ "slave", MS_SLAVE },
		{ "rslave", MS_SLAVE | MS_REC },
		{ "shared", MS_SHARED },
		{ "rshared", MS_SHARED | MS_REC },
		{ "unbindable", MS_UNBINDABLE },
		{ "runbindable", MS_UNBINDABLE | MS_REC },
	};
	const char *word = "";

	if (doc_text(linux_part, "rootfsPropagation", &word, e) < 0)
		return -e->code;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i].word, word) == 0) {
			c->bundle.root_propagation = words[i].flags;
			return 0;
		}
	return err_set(e, EINVAL, "'rootfsPropagation' is %s, which is not known", word);
}

/* A label says who may read the mounts; it confines nobody, and without SELinux there is nobody who
 * would ask.  The folder is there if SELinux has been on since boot (security/selinux/selinuxfs.c). */
static int read_mount_label(const struct json *linux_part, struct err *e)
{
	const char *label = "";

	if (doc_text(linux_part, "mountLabel", &label, e) < 0)
		return -e->code;
	if (*label == '\0')
		return 0;
	if (access("/sys/fs/selinux", F_OK) == 0)
		return err_set(e, ENOTSUP, "'linux.mountLabel' is not supported");
	log_warning("'linux.mountLabel' means nothing here: this kernel has no SELinux");
	return 0;
}

static int refuse_unsupported(const struct json *linux_part, struct err *e)
{
	static const char *const names[] = { "intelRdt", "netDevices", "memoryPolicy" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (doc_get(linux_part, names[i]) != NULL)
			return err_set(e, ENOTSUP, "'linux.%s' is not supported", names[i]);
	return read_mount_label(linux_part, e);
}

static int read_linux(const struct oci_clock_flags *flags, struct oci_config *c, struct err *e)
{
	const struct json *l, *resources = NULL;

	if (doc_object(c->root, "linux", &l, e) < 0 || refuse_unsupported(l, e) < 0 ||
	    oci_namespaces_read(l, c, e) < 0 || oci_id_maps_read(l, c, e) < 0 ||
	    read_sysctls(l, c, e) < 0 || read_devices(l, c, e) < 0 ||
	    doc_texts(l, "maskedPaths", &c->bundle.masked, e) < 0 ||
	    doc_texts(l, "readonlyPaths", &c->bundle.read_only, e) < 0 ||
	    read_propagation(l, c, e) < 0 ||
	    doc_text(l, "cgroupsPath", &c->bundle.cgroups_path, e) < 0 ||
	    doc_object(l, "resources", &resources, e) < 0 || oci_personality_read(l, c, e) < 0 ||
	    oci_resources_read(resources, c, e) < 0 || oci_clocks_read(l, flags, c, e) < 0)
		return -e->code;
	return oci_filter_read(l, c, e);
}

int oci_config_load(const char *file, const char *folder, const struct oci_clock_flags *flags,
		    struct oci_config *ret, struct err *e)
{
	static char *no_words[] = { NULL };
	const struct json *process = NULL;

	ret->spec.bundle = &ret->bundle;
	ret->spec.oom_score_adj = KEEP_OOM_SCORE;
	ret->spec.info_fd = ret->spec.sync_fd = ret->spec.kill_timeout_ms = -1;
	ret->bundle.folder = folder;
	ret->bundle.io_priority = -1;
	if (read_file(file, ret, e) < 0 ||
	    doc_parse(ret->text, ret->length, file, &ret->root, e) < 0 ||
	    read_version(ret, e) < 0 || read_root(ret, e) < 0 ||
	    doc_text(ret->root, "hostname", &ret->spec.hostname, e) < 0 ||
	    doc_text(ret->root, "domainname", &ret->bundle.domainname, e) < 0 ||
	    doc_object(ret->root, "annotations", &ret->annotations, e) < 0 ||
	    doc_object(ret->root, "process", &process, e) < 0)
		return -e->code;
	if (ret->spec.hostname != NULL && *ret->spec.hostname == '\0')
		ret->spec.hostname = NULL;
	/* Required only when start is called: an engine may want the namespaces alone. */
	if (process == NULL) {
		ret->spec.argv = ret->spec.env = no_words;
		ret->spec.workdir = "/";
	}
	if ((process != NULL && oci_process_read(process, ret, e) < 0) ||
	    read_linux(flags, ret, e) < 0 || read_hooks(ret, e) < 0)
		return -e->code;
	return oci_mounts_read(ret->root, ret, e);
}

int oci_config_load_later(const char *file, struct oci_config *ret, struct err *e)
{
	const struct json *l, *profile, *process;
	bool late = false;

	if (read_file(file, ret, e) < 0 ||
	    doc_parse(ret->text, ret->length, file, &ret->root, e) < 0)
		return -e->code;
	if (doc_object(ret->root, "linux", &l, e) < 0 ||
	    doc_object(l, "seccomp", &profile, e) < 0 || oci_agent_read(profile, ret, e) < 0 ||
	    doc_object(ret->root, "process", &process, e) < 0 ||
	    doc_flag(process, "noNewPrivileges", &late, e) < 0)
		return -e->code;
	if (!late) /* the filter was loaded by create */
		ret->bundle.agent_path = NULL;
	return read_hooks(ret, e);
}
