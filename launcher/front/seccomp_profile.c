/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/seccomp_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "front/seccomp_conditions.h"
#include "front/seccomp_words.h"
#include "model/bpf_compact.h"

enum {
	PROFILE_MAX = 1 << 20,
	ARGS_MAX = 16,
	ERRNO_MAX = 4095, /* MAX_ERRNO of the kernel; more is cut to it */
	SYSCALL_ARGS = 6,
};

static void seccomp_releasep(scmp_filter_ctx *filter)
{
	if (*filter != NULL)
		seccomp_release(*filter);
}

#define autorelease __attribute__((cleanup(seccomp_releasep)))

struct compiler {
	scmp_filter_ctx filter;
	const struct profile_facts *facts;
	const char *native; /* go name of the architecture */
	uint32_t default_action;
	char where[32]; /* "syscalls[12]", for messages */
};

/* An errno by number ("errnoRet") or by name ("errno"); EPERM where neither is given. */
static int read_errno(const json_t *entry, const char *key, const char *name_key,
		      uint32_t *ret_errno, const char *where, struct err *e)
{
	const json_t *number = json_object_get(entry, key);
	const char *name = json_string_value(json_object_get(entry, name_key));

	*ret_errno = EPERM;
	if (number != NULL && (!json_is_integer(number) || json_integer_value(number) < 0 ||
			       json_integer_value(number) > ERRNO_MAX))
		return err_set(e, EINVAL, "%s: %s is not a number from 0 to %d", where, key,
			       ERRNO_MAX);
	if (number != NULL) {
		*ret_errno = (uint32_t)json_integer_value(number);
	} else if (name != NULL && *name != '\0') {
		int code = 1;

		while (code <= ERRNO_MAX &&
		       (strerrorname_np(code) == NULL || strcmp(strerrorname_np(code), name) != 0))
			code++;
		if (code > ERRNO_MAX)
			return err_set(e, EINVAL, "%s: unknown errno '%s'", where, name);
		*ret_errno = (uint32_t)code;
	}
	return 0;
}

static int read_action(const struct compiler *c, const json_t *entry, const char *key,
		       const char *errno_key, const char *errno_name_key, uint32_t *ret_action,
		       const char *where, struct err *e)
{
	const char *name = json_string_value(json_object_get(entry, key));
	const struct word *action = word_find(seccomp_actions, name);
	uint32_t code;
	int r;

	if (name == NULL)
		return err_set(e, EINVAL, "%s: %s is missing", where, key);
	if (strcmp(name, "SCMP_ACT_NOTIFY") == 0 && !c->facts->has_agent)
		return err_set(e, ENOTSUP, "%s: SCMP_ACT_NOTIFY needs an agent", where);
	if (action == NULL)
		return err_set(e, EINVAL, "%s: unknown action '%.64s'", where, name);
	r = read_errno(entry, errno_key, errno_name_key, &code, where, e);
	if (r < 0)
		return r;
	*ret_action = action->value;
	if (action->value == SCMP_ACT_ERRNO(0) || action->value == SCMP_ACT_TRACE(0))
		*ret_action |= code;
	return 0;
}

static int read_arg(const struct compiler *c, json_t *arg, struct scmp_arg_cmp *ret, struct err *e)
{
	json_int_t value = 0, second = 0;
	const struct word *op;
	const char *name = "";
	json_error_t error;
	int index = 0;

	if (json_unpack_ex(arg, &error, 0, "{s:i, s:I, s?:I, s:s}", "index", &index, "value",
			   &value, "valueTwo", &second, "op", &name) < 0)
		return err_set(e, EINVAL, "%s: args: %.120s", c->where, error.text);
	if (index < 0 || index >= SYSCALL_ARGS)
		return err_set(e, EINVAL, "%s: args: index %d is not 0 to 5", c->where, index);
	op = word_find(seccomp_operators, name);
	if (op == NULL)
		return err_set(e, EINVAL, "%s: unknown operator '%.64s'", c->where, name);
	/* For MASKED_EQ the profile's value is the mask, as for libseccomp. */
	*ret = (struct scmp_arg_cmp){
		.arg = (unsigned int)index,
		.op = (enum scmp_compare)op->value,
		.datum_a = (scmp_datum_t)value,
		.datum_b = (scmp_datum_t)second,
	};
	return 0;
}

static int read_args(const struct compiler *c, const json_t *list, struct scmp_arg_cmp *args,
		     unsigned int *ret_count, bool *ret_alternatives, struct err *e)
{
	unsigned int seen = 0;
	json_t *arg;
	size_t i;

	if (json_array_size(list) > ARGS_MAX)
		return err_set(e, EINVAL, "%s: more than %d conditions", c->where, ARGS_MAX);
	*ret_alternatives = false;
	json_array_foreach (list, i, arg) {
		int r = read_arg(c, arg, &args[i], e);

		if (r < 0)
			return r;
		/* libseccomp takes one condition an argument; engines read more as "or". */
		*ret_alternatives |= (seen >> args[i].arg & 1) != 0;
		seen |= 1U << args[i].arg;
	}
	*ret_count = (unsigned int)json_array_size(list);
	return 0;
}

static int add_rule(const struct compiler *c, const char *name, uint32_t action,
		    const struct scmp_arg_cmp *args, unsigned int count, struct err *e)
{
	int number = seccomp_syscall_resolve_name(name), r;

	if (number == __NR_SCMP_ERROR)
		return 0; /* another architecture's, or newer than our libseccomp */
	r = seccomp_rule_add_array(c->filter, action, number, count, args);
	if (r < 0)
		return err_set(e, -r, "%s: libseccomp does not take the rule for '%.64s'", c->where,
			       name);
	return 0;
}

static int add_names(const struct compiler *c, const json_t *names, uint32_t action,
		     const json_t *arg_list, struct err *e)
{
	struct scmp_arg_cmp args[ARGS_MAX] = { 0 };
	unsigned int count = 0;
	bool alternatives = false;
	const json_t *name;
	size_t i;
	int r = read_args(c, arg_list, args, &count, &alternatives, e);

	json_array_foreach (names, i, name) {
		if (r == 0 && !json_is_string(name))
			return err_set(e, EINVAL, "%s: a name is no text", c->where);
		for (unsigned int a = 0; alternatives && a < count && r == 0; a++)
			r = add_rule(c, json_string_value(name), action, &args[a], 1, e);
		if (!alternatives && r == 0)
			r = add_rule(c, json_string_value(name), action, args, count, e);
	}
	return r;
}

static int add_entry(const struct compiler *c, json_t *entry, struct err *e)
{
	json_auto_t *single = NULL;
	json_t *names = json_object_get(entry, "names");
	uint32_t action = 0;
	bool stands = false;
	int r;

	if (names == NULL) /* the older form: one name */
		names = single = json_pack("[O*]", json_object_get(entry, "name"));
	if (json_array_size(names) == 0)
		return err_set(e, EINVAL, "%s: names are missing", c->where);
	r = read_action(c, entry, "action", "errnoRet", "errno", &action, c->where, e);
	if (r < 0)
		return r;
	r = seccomp_conditions_hold(entry, c->facts, c->native, &stands, c->where, e);
	if (r < 0 || !stands || action == c->default_action)
		return r;
	return add_names(c, names, action, json_object_get(entry, "args"), e);
}

/* "architectures" (OCI): all of them; "archMap" (Docker): the entry of ours and its relatives. */
static int add_architectures(struct compiler *c, const json_t *profile, struct err *e)
{
	const json_t *list = json_object_get(profile, "architectures"), *item;
	const json_t *map = json_object_get(profile, "archMap");
	const struct word *word;
	size_t i;

	for (word = seccomp_architectures; word->name != NULL; word++)
		if (word->value == seccomp_arch_native())
			break;
	if (word->name == NULL)
		return err_set(e, ENOTSUP, "libseccomp does not know this architecture");
	c->native = word->go_name;
	json_array_foreach (map, i, item) {
		const char *name = json_string_value(json_object_get(item, "architecture"));

		if (name != NULL && strcmp(name, word->name) == 0)
			list = json_object_get(item, "subArchitectures");
	}
	json_array_foreach (list, i, item) {
		const char *name = json_string_value(item);
		const struct word *one = word_find(seccomp_architectures, name);
		int r;

		if (one == NULL)
			return err_set(e, EINVAL, "unknown architecture '%.64s'",
				       name != NULL ? name : "");
		r = seccomp_arch_add(c->filter, one->value);
		if (r < 0 && r != -EEXIST)
			return err_set(e, -r, "libseccomp does not take %s beside %s", one->name,
				       word->name);
	}
	return 0;
}

static int read_flags(const json_t *profile, unsigned int *ret_flags, struct err *e)
{
	const json_t *list = json_object_get(profile, "flags"), *item;
	size_t i;

	*ret_flags = 0;
	json_array_foreach (list, i, item) {
		const char *name = json_string_value(item);
		const struct word *flag = word_find(seccomp_flags, name);

		if (flag == NULL)
			return err_set(e, EINVAL, "unknown flag '%.64s'", name != NULL ? name : "");
		*ret_flags |= flag->value;
	}
	return 0;
}

/* libseccomp 2.5 writes programs to files only. */
static int export_program(scmp_filter_ctx filter, struct sock_fprog *ret, struct err *e)
{
	autoclose int file = memfd_create("seccomp", MFD_CLOEXEC);
	autofree struct sock_filter *code = NULL;
	struct stat info;
	int r;

	if (file < 0)
		return err_set(e, errno, "cannot create a file in memory");
	r = seccomp_export_bpf(filter, file);
	if (r < 0)
		return err_set(e, -r, "libseccomp cannot compile the profile");
	if (fstat(file, &info) < 0)
		return err_set(e, errno, "cannot read the compiled profile");
	if ((size_t)info.st_size > BPF_MAXINSNS * sizeof *code)
		return err_set(e, EFBIG, "%zu instructions, and the kernel takes %d",
			       (size_t)info.st_size / sizeof *code, BPF_MAXINSNS);
	code = malloc((size_t)info.st_size);
	if (code == NULL)
		return err_set(e, ENOMEM, "cannot hold the compiled profile");
	if (pread(file, code, (size_t)info.st_size, 0) != info.st_size)
		return err_set(e, errno, "cannot read the compiled profile");
	ret->len = (unsigned short)((size_t)info.st_size / sizeof *code);
	ret->filter = code;
	r = bpf_compact(ret, e);
	if (r == 0)
		code = NULL;
	return r;
}

static int compile_json(const json_t *profile, const struct profile_facts *facts,
			struct seccomp_filter *ret, struct err *e)
{
	autorelease scmp_filter_ctx filter = NULL;
	struct compiler c = { .facts = facts };
	json_t *entries = json_object_get(profile, "syscalls"), *entry;
	size_t i;
	int r;

	r = read_action(&c, profile, "defaultAction", "defaultErrnoRet", "defaultErrno",
			&c.default_action, "profile", e);
	if (r < 0)
		return r;
	filter = seccomp_init(c.default_action);
	if (filter == NULL)
		return err_set(e, ENOMEM, "libseccomp cannot start a filter");
	c.filter = filter;
	r = add_architectures(&c, profile, e);
	if (r < 0)
		return r;
	r = read_flags(profile, &ret->flags, e);
	if (r < 0)
		return r;
	/* A tree by number instead of a list: the kernel runs the filter on every number when it
	 * is loaded (its table of always allowed calls), so depth is what a start pays for.
	 * Where libseccomp cannot, a list does as well. */
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	/* A call of an architecture that is not listed is not there, as an unknown call is. */
	(void)seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
	json_array_foreach (entries, i, entry) {
		snprintf(c.where, sizeof c.where, "syscalls[%zu]", i);
		r = add_entry(&c, entry, e);
		if (r < 0)
			return r;
	}
	return export_program(filter, &ret->program, e);
}

int seccomp_profile_compile(const char *text, size_t length, const struct profile_facts *facts,
			    struct seccomp_filter *ret, struct err *e)
{
	json_auto_t *profile = NULL;
	json_error_t error;

	profile = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
	if (profile == NULL)
		return err_set(e, EINVAL, "line %d: %.120s", error.line, error.text);
	if (!json_is_object(profile))
		return err_set(e, EINVAL, "not a JSON object");
	return compile_json(profile, facts, ret, e);
}

const char *seccomp_profile_compiler(void)
{
	static char text[48];
	const struct scmp_version *v = seccomp_version();

	snprintf(text, sizeof text, "libseccomp %u.%u.%u", v->major, v->minor, v->micro);
	return text;
}

int seccomp_profile_load(const char *path, uint64_t capabilities, struct seccomp_filter *ret,
			 struct err *e)
{
	struct profile_facts facts = { .capabilities = capabilities };
	autofree char *text = malloc(PROFILE_MAX);
	struct utsname host;
	struct err inner;
	int r;

	if (text == NULL)
		return err_set(e, ENOMEM, "cannot hold %s", path);
	r = file_read(path, text, PROFILE_MAX, e);
	if (r < 0)
		return r;
	(void)uname(&host); /* fails only for a bad pointer */
	(void)sscanf(host.release, "%4u.%4u", &facts.kernel_version[0], &facts.kernel_version[1]);
	r = seccomp_profile_compile(text, strlen(text), &facts, ret, &inner);
	return r < 0 ? err_set(e, -r, "%.96s: %.140s", path, inner.text) : 0;
}
