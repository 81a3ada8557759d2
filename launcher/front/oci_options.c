/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/oci_options.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/err.h"
#include "front/oci_commands.h"

#define TEXT(word, member)                                                                         \
	{                                                                                          \
		word, NULL, offsetof(struct oci_call, member), KIND_TEXT                           \
	}
#define FLAG(word, member)                                                                         \
	{                                                                                          \
		word, NULL, offsetof(struct oci_call, member), KIND_FLAG                           \
	}

enum option_kind {
	KIND_TEXT,
	KIND_FLAG,
	KIND_ENV,
	KIND_CAP,
	KIND_GROUP,
	KIND_IGNORED,
	KIND_IGNORED_FLAG,
	KIND_LABEL, /* of a security module that we do not serve: only "none" can be asked for */
	KIND_SYSTEMD,
};

/* The first row that fits counts. */
static const struct option_row {
	const char *name;
	const char *only; /* after this command; "": before all; NULL: anywhere */
	size_t member;
	enum option_kind kind;
} options[] = {
	TEXT("root", root),
	TEXT("log", log),
	TEXT("log-format", log_format),
	TEXT("cgroup-manager", cgroup_manager),
	TEXT("offset", clocks.offset),
	TEXT("boottime", clocks.boottime),
	TEXT("monotonic", clocks.monotonic),
	TEXT("uptime", clocks.uptime),
	TEXT("timeline", clocks.timeline),
	TEXT("timeline-mode", clocks.timeline_mode),
	TEXT("timelines", clocks.timelines),
	FLAG("debug", debug),
	{ "rootless", "", 0, KIND_IGNORED }, /* "auto" is what we do: we look for ourselves */
	{ "criu", "", 0, KIND_IGNORED },
	{ "systemd-cgroup", NULL, 0, KIND_SYSTEMD },
	{ "rootless", "spec", offsetof(struct oci_call, rootless), KIND_FLAG },
	{ "file", "spec", offsetof(struct oci_call, config), KIND_TEXT },
	{ "user", "exec", offsetof(struct oci_call, user), KIND_TEXT },
	{ "additional-gids", "exec", 0, KIND_GROUP },
	{ "process-label", "exec", 0, KIND_LABEL },
	{ "apparmor", "exec", 0, KIND_LABEL },
	{ "ignore-paused", "exec", offsetof(struct oci_call, ignore_paused), KIND_FLAG },
	TEXT("bundle", bundle),
	TEXT("config", config),
	TEXT("pid-file", pid_file),
	TEXT("console-socket", console_socket),
	TEXT("preserve-fds", preserve_fds),
	TEXT("process", process),
	TEXT("cwd", cwd),
	TEXT("format", format),
	TEXT("resources", resources),
	TEXT("interval", interval),
	TEXT("memory", memory),
	TEXT("memory-swap", memory_swap),
	TEXT("memory-reservation", memory_reservation),
	TEXT("kernel-memory", kernel_memory),
	TEXT("kernel-memory-tcp", kernel_memory_tcp),
	TEXT("cpu-quota", cpu_quota),
	TEXT("cpu-period", cpu_period),
	TEXT("cpu-share", cpu_shares),
	TEXT("cpu-shares", cpu_shares),
	TEXT("cpu-rt-period", cpu_rt_period),
	TEXT("cpu-rt-runtime", cpu_rt_runtime),
	TEXT("cpuset-cpus", cpuset_cpus),
	TEXT("cpuset-mems", cpuset_mems),
	TEXT("pids-limit", pids_limit),
	TEXT("blkio-weight", blkio_weight),
	FLAG("force", force),
	FLAG("all", all),
	FLAG("detach", detach),
	FLAG("keep", keep),
	FLAG("tty", tty),
	FLAG("quiet", quiet),
	FLAG("no-new-privs", no_new_privs),
	FLAG("stats", stats),
	FLAG("no-pivot", no_pivot),
	FLAG("no-new-keyring", no_new_keyring),
	{ "no-subreaper", NULL, 0, KIND_IGNORED_FLAG }, /* run waits for its own child alone */
	{ "env", NULL, 0, KIND_ENV },
	{ "cap", NULL, 0, KIND_CAP },
};

/* As with the options, the first that fits counts. */
static const struct {
	char letter;
	const char *only, *name;
} letters[] = {
	{ 'b', NULL, "bundle" },
	{ 'f', "list", "format" },
	{ 'f', "ps", "format" },
	{ 'f', "create", "config" },
	{ 'f', "run", "config" },
	{ 'f', "spec", "file" },
	{ 'f', NULL, "force" },
	{ 'a', NULL, "all" },
	{ 'd', NULL, "detach" },
	{ 't', NULL, "tty" },
	{ 'p', NULL, "process" },
	{ 'e', NULL, "env" },
	{ 'u', NULL, "user" },
	{ 'q', NULL, "quiet" },
	{ 'c', NULL, "cap" },
	{ 'r', NULL, "resources" },
	{ 'g', NULL, "additional-gids" },
};

static bool fits(const char *only, const char *command)
{
	return only == NULL || strcmp(only, command != NULL ? command : "") == 0;
}

static bool is_flag(const struct option_row *o)
{
	return o->kind == KIND_FLAG || o->kind == KIND_IGNORED_FLAG || o->kind == KIND_SYSTEMD;
}

static int append(const char *list[ENV_MAX], size_t *count, const struct option_row *o,
		  const char *value, struct err *e)
{
	if (*count == ENV_MAX)
		return err_set(e, E2BIG, "more than %d --%s", ENV_MAX, o->name);
	list[(*count)++] = value;
	return 0;
}

static int refuse_systemd(struct err *e)
{
	(void)err_set(e, ENOTSUP, "--systemd-cgroup is not supported");
	return err_hint(e, "let the engine manage cgroups as files: cgroup_manager = \"cgroupfs\" "
			   "(Podman), native.cgroupdriver=cgroupfs (Docker), SystemdCgroup = false "
			   "(containerd)");
}

static int note(const struct option_row *o, const char *value, struct oci_call *call, struct err *e)
{
	char *member = (char *)call + o->member;

	switch (o->kind) {
	case KIND_ENV:
		return append(call->env, &call->env_count, o, value, e);
	case KIND_CAP:
		return append(call->caps, &call->cap_count, o, value, e);
	case KIND_GROUP:
		return append(call->groups, &call->group_count, o, value, e);
	case KIND_TEXT:
		*(const char **)(void *)member = value;
		return 0;
	case KIND_FLAG:
		*(bool *)member = value == NULL || strcmp(value, "true") == 0;
		return 0;
	case KIND_LABEL:
		return *value == '\0' || strcmp(value, "unconfined") == 0
			       ? 0
			       : err_set(e, ENOTSUP, "--%s %s is not supported", o->name, value);
	case KIND_SYSTEMD:
		return value != NULL && strcmp(value, "false") == 0 ? 0 : refuse_systemd(e);
	default:
		return 0;
	}
}

static const char *long_name(char letter, const char *command)
{
	for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
		if (letters[i].letter == letter && fits(letters[i].only, command))
			return letters[i].name;
	return NULL;
}

int oci_option_read(char ***at, const char *command, struct oci_call *call, struct err *e)
{
	char *word = **at, *value = strchr(word, '=');
	const char *name = word + 1 + (word[1] == '-');
	size_t length = value != NULL ? (size_t)(value - name) : strlen(name);

	if (word[1] != '-' && length == 1 && long_name(word[1], command) != NULL) {
		name = long_name(word[1], command);
		length = strlen(name);
	}
	for (const struct option_row *o = options; o < options + sizeof options / sizeof *options;
	     o++) {
		if (strlen(o->name) != length || memcmp(o->name, name, length) != 0 ||
		    !fits(o->only, command))
			continue;
		if (value != NULL)
			value++;
		else if (!is_flag(o))
			value = *++*at;
		if (!is_flag(o) && value == NULL)
			return err_set(e, EINVAL, "--%s needs a value", o->name);
		return note(o, value, call, e);
	}
	return err_set(e, EINVAL, "option '%s' is not supported%s%s", word,
		       command != NULL ? " by " : "", command != NULL ? command : "");
}
