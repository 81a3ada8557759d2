/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_about.c - features and spec: what this runtime can do, and a configuration to start from */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/output.h"
#include "front/doc.h"
#include "front/oci_commands.h"
#include "front/seccomp_words.h"
#include "model/capability.h"

static const char *const default_capabilities[] = { "CAP_AUDIT_WRITE", "CAP_KILL",
						    "CAP_NET_BIND_SERVICE" };

static struct json *texts(const char *const *list, size_t count)
{
	struct json *array = doc_new_array();

	for (size_t i = 0; i < count; i++)
		doc_append_text(array, list[i]);
	return array;
}

static struct json *enabled(bool yes)
{
	struct json *o = doc_new_object();

	doc_set_flag(o, "enabled", yes);
	return o;
}

static struct json *words_of(const struct word *words)
{
	struct json *array = doc_new_array();

	for (; words->name != NULL; words++)
		doc_append_text(array, words->name);
	return array;
}

static struct json *filter_features(void)
{
	struct json *o = enabled(true);

	doc_set(o, "actions", words_of(seccomp_actions));
	doc_set(o, "operators", words_of(seccomp_operators));
	doc_set(o, "archs", words_of(seccomp_architectures));
	doc_set(o, "knownFlags", words_of(seccomp_flags));
	doc_set(o, "supportedFlags", words_of(seccomp_flags));
	return o;
}

static struct json *linux_features(void)
{
	static const char *const kinds[] = { "cgroup", "ipc",  "mount", "network",
					     "pid",    "time", "user",  "uts" };
	struct json *l = doc_new_object(), *cgroup = doc_new_object();
	struct json *capabilities = doc_new_array(), *extensions = doc_new_object();
	char name[CAPABILITY_TEXT];

	doc_set(l, "namespaces", texts(kinds, sizeof kinds / sizeof *kinds));
	for (unsigned int number = 0; capability_name(number, name) != NULL; number++)
		doc_append_text(capabilities, name);
	doc_set(l, "capabilities", capabilities);
	doc_set_flag(cgroup, "v1", true);
	doc_set_flag(cgroup, "v2", true);
	doc_set_flag(cgroup, "systemd", false);
	doc_set_flag(cgroup, "systemdUser", false);
	doc_set_flag(cgroup, "rdma", true);
	doc_set(l, "cgroup", cgroup);
	doc_set(l, "seccomp", filter_features());
	doc_set(l, "apparmor", enabled(false));
	doc_set(l, "selinux", enabled(false));
	doc_set(l, "intelRdt", enabled(false));
	doc_set(extensions, "idmap", enabled(true));
	doc_set(l, "mountExtensions", extensions);
	return l;
}

int oci_features(struct oci_call *call, struct err *e)
{
	static const char *const hooks[] = { "prestart",       "createRuntime", "createContainer",
					     "startContainer", "poststart",     "poststop" };
	static const char *const unsafe[] = { "run.timens." };
	struct json *o = doc_new_object(), *annotations = doc_new_object();
	const char *const *words;
	char ours[256] = "";
	size_t count;
	autofree char *text = NULL;

	(void)call;
	doc_set_text(o, "ociVersionMin", "1.0.0");
	doc_set_text(o, "ociVersionMax", "1.2.0");
	doc_set(o, "hooks", texts(hooks, sizeof hooks / sizeof *hooks));
	(void)oci_mount_options_list(&words, &count); /* cannot fail */
	doc_set(o, "mountOptions", texts(words, count));
	doc_set(o, "linux", linux_features());
	for (size_t i = 0; oci_annotations[i] != NULL; i++)
		snprintf(ours + strlen(ours), sizeof ours - strlen(ours), "%s%s", i > 0 ? " " : "",
			 oci_annotations[i]);
	doc_set_text(annotations, "run.timens.version", VERSION);
	doc_set_text(annotations, "run.timens.annotations", ours);
	doc_set(o, "annotations", annotations);
	doc_set(o, "potentiallyUnsafeConfigAnnotations", texts(unsafe, 1));
	text = doc_format(o, 2);
	if (text == NULL)
		return err_set(e, ENOMEM, "cannot print the features");
	return output_text(text, e);
}

static struct json *mount_of(const char *target, const char *type, const char *options)
{
	struct json *m = doc_new_object(), *list = doc_new_array();
	autofree char *copy = strdup(options);
	char *rest = copy, *word;

	doc_set_text(m, "destination", target);
	doc_set_text(m, "type", type);
	doc_set_text(m, "source", type);
	while (rest != NULL && (word = strsep(&rest, ",")) != NULL)
		doc_append_text(list, word);
	doc_set(m, "options", list);
	return m;
}

static struct json *example_mounts(bool rootless)
{
	struct json *list = doc_new_array();

	doc_append(list, mount_of("/proc", "proc", "nosuid,noexec,nodev"));
	doc_append(list, mount_of("/dev", "tmpfs", "nosuid,strictatime,mode=755,size=65536k"));
	doc_append(list, mount_of("/dev/pts", "devpts",
				  "nosuid,noexec,newinstance,ptmxmode=0666,mode=0620"));
	doc_append(list,
		   mount_of("/dev/shm", "tmpfs", "nosuid,noexec,nodev,mode=1777,size=65536k"));
	doc_append(list, mount_of("/dev/mqueue", "mqueue", "nosuid,noexec,nodev"));
	if (rootless) { /* a new sysfs belongs to whoever owns the network namespace */
		struct json *sys = mount_of("/sys", "none", "rbind,nosuid,noexec,nodev,ro");

		doc_set_text(sys, "source", "/sys");
		doc_append(list, sys);
	} else {
		doc_append(list, mount_of("/sys", "sysfs", "nosuid,noexec,nodev,ro"));
	}
	return list;
}

static struct json *example_process(void)
{
	static const char *const args[] = { "sh" };
	static const char *const env[] = { "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
					   "/sbin:/bin",
					   "TERM=xterm" };
	struct json *p = doc_new_object(), *user = doc_new_object(), *sets = doc_new_object();
	static const char *const names[] = { "bounding", "effective", "permitted" };

	doc_set_flag(p, "terminal", false);
	doc_set_integer(user, "uid", 0);
	doc_set_integer(user, "gid", 0);
	doc_set(p, "user", user);
	doc_set(p, "args", texts(args, 1));
	doc_set(p, "env", texts(env, 2));
	doc_set_text(p, "cwd", "/");
	for (size_t i = 0; i < 3; i++)
		doc_set(sets, names[i], texts(default_capabilities, 3));
	doc_set(p, "capabilities", sets);
	doc_set_flag(p, "noNewPrivileges", true);
	return p;
}

static void map_alone(struct json *l, const char *key, uint32_t id)
{
	struct json *list = doc_new_array(), *one = doc_new_object();

	doc_set_integer(one, "containerID", 0);
	doc_set_integer(one, "hostID", id);
	doc_set_integer(one, "size", 1);
	doc_append(list, one);
	doc_set(l, key, list);
}

static struct json *example_linux(bool rootless)
{
	static const char *const kinds[] = { "pid",   "network", "ipc", "uts",
					     "mount", "cgroup",  "time" };
	static const char *const masked[] = { "/proc/acpi",          "/proc/asound",
					      "/proc/kcore",         "/proc/keys",
					      "/proc/latency_stats", "/proc/timer_list",
					      "/proc/timer_stats",   "/proc/sched_debug",
					      "/sys/firmware",       "/proc/scsi" };
	static const char *const read_only[] = { "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
						 "/proc/sysrq-trigger" };
	struct json *l = doc_new_object(), *list = doc_new_array();

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct json *one = doc_new_object();

		doc_set_text(one, "type",
			     rootless && strcmp(kinds[i], "network") == 0 ? "user" : kinds[i]);
		doc_append(list, one);
	}
	doc_set(l, "namespaces", list);
	if (rootless) {
		map_alone(l, "uidMappings", geteuid());
		map_alone(l, "gidMappings", getegid());
	}
	/* No timeOffsets: even zeros would outrank the annotations that a user adds. */
	doc_set(l, "maskedPaths", texts(masked, sizeof masked / sizeof *masked));
	doc_set(l, "readonlyPaths", texts(read_only, sizeof read_only / sizeof *read_only));
	return l;
}

int oci_spec(struct oci_call *call, struct err *e)
{
	struct json *o = doc_new_object(), *root = doc_new_object();
	autofree char *text = NULL, *path = NULL;
	autoclose int fd = -1;

	doc_set_text(o, "ociVersion", "1.2.0");
	doc_set(o, "process", example_process());
	doc_set_text(root, "path", "rootfs");
	doc_set_flag(root, "readonly", true);
	doc_set(o, "root", root);
	doc_set_text(o, "hostname", "timens");
	doc_set(o, "mounts", example_mounts(call->rootless));
	doc_set(o, "linux", example_linux(call->rootless));
	text = doc_format(o, 2);
	if (call->config != NULL)
		path = strdup(call->config);
	else if (asprintf(&path, "%s/config.json", call->bundle != NULL ? call->bundle : ".") < 0)
		path = NULL;
	if (text == NULL || path == NULL)
		return err_set(e, ENOMEM, "cannot write config.json");
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return err_set(e, errno, "cannot write %s", path);
	return 0;
}
