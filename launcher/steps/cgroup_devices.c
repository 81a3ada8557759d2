/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/cgroup_devices.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "model/bundle.h"
#include "model/cgroup_set.h"
#include "model/device_program.h"

enum { PROGRAMS_MAX = 64 }; /* as many as the kernel attaches to one cgroup */

static int write_rule(const char *dir, const struct device_rule *rule, char type, struct err *e)
{
	char path[PATH_MAX], line[80], major[24] = "*", minor[24] = "*";

	if (snprintf(path, sizeof path, "%s/devices.%s", dir, rule->allow ? "allow" : "deny") >=
	    (int)sizeof path)
		return err_set(e, ENAMETOOLONG, "cannot write device rules in %s", dir);
	if (rule->major >= 0)
		snprintf(major, sizeof major, "%lld", (long long)rule->major);
	if (rule->minor >= 0)
		snprintf(minor, sizeof minor, "%lld", (long long)rule->minor);
	snprintf(line, sizeof line, "%c %s:%s %s%s%s", type, major, minor, rule->read ? "r" : "",
		 rule->write ? "w" : "", rule->make ? "m" : "");
	return file_write(path, type == 'a' ? "a" : line, type == 'a' ? 1 : strlen(line), e);
}

/* The kernel takes "a" for all devices and every access, whatever else stands in the line. */
static int write_rules(const char *dir, const struct device_rule *rules, size_t count,
		       struct err *e)
{
	int r = 0;

	for (const struct device_rule *d = rules; r == 0 && d < rules + count; d++) {
		bool all = d->major < 0 && d->minor < 0 && d->read && d->write && d->make;

		if (d->type != 'a' || all) {
			r = write_rule(dir, d, d->type, e);
			continue;
		}
		r = write_rule(dir, d, 'b', e);
		if (r == 0)
			r = write_rule(dir, d, 'c', e);
	}
	return r;
}

static int call_bpf(int command, union bpf_attr *attributes)
{
	return (int)syscall(SYS_bpf, command, attributes, sizeof *attributes);
}

static int load(const struct bpf_insn *code, int count, int *ret_program, struct err *e)
{
	static const char licence[] = "LGPL-2.1-or-later";
	union bpf_attr a = { .prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
			     .insn_cnt = (uint32_t)count,
			     .insns = (uint64_t)(uintptr_t)code,
			     .license = (uint64_t)(uintptr_t)licence };

	*ret_program = call_bpf(BPF_PROG_LOAD, &a);
	if (*ret_program >= 0)
		return 0;
	(void)err_set(e, errno, "cannot load the program of %d instructions for the device rules",
		      count);
	if (e->code == EPERM)
		return err_hint(
			e, "it needs CAP_BPF and CAP_NET_ADMIN, or CAP_SYS_ADMIN, of the host");
	return -e->code;
}

/* Detaches what was there before us, so that an update can also allow more. */
static int detach(int cgroup, const uint32_t *ids, uint32_t count, struct err *e)
{
	for (uint32_t i = 0; i < count; i++) {
		union bpf_attr by_id = { .prog_id = ids[i] };
		autoclose int old = call_bpf(BPF_PROG_GET_FD_BY_ID, &by_id);
		union bpf_attr a = { .target_fd = (uint32_t)cgroup,
				     .attach_bpf_fd = (uint32_t)old,
				     .attach_type = BPF_CGROUP_DEVICE };

		if (old < 0 || (call_bpf(BPF_PROG_DETACH, &a) < 0 && errno != ENOENT))
			return err_set(e, errno, "cannot detach the device rules from before");
	}
	return 0;
}

static int ask_program(const char *dir, const struct device_rule *rules, size_t count,
		       struct err *e)
{
	autofree struct bpf_insn *code = NULL;
	autoclose int cgroup = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclose int program = -1;
	uint32_t ids[PROGRAMS_MAX] = { 0 };
	union bpf_attr before = { .query = { .target_fd = (uint32_t)cgroup,
					     .attach_type = BPF_CGROUP_DEVICE,
					     .prog_ids = (uint64_t)(uintptr_t)ids,
					     .prog_cnt = PROGRAMS_MAX } };
	union bpf_attr a = { .target_fd = (uint32_t)cgroup,
			     .attach_type = BPF_CGROUP_DEVICE,
			     .attach_flags = BPF_F_ALLOW_MULTI };
	int length = device_program_make(rules, count, &code, e), r;

	if (length < 0)
		return length;
	if (cgroup < 0)
		return err_set(e, errno, "cannot open %s", dir);
	if (call_bpf(BPF_PROG_QUERY, &before) < 0)
		return err_set(e, errno == EINVAL ? ENOTSUP : errno,
			       "the kernel has no programs for the devices of %s", dir);
	r = load(code, length, &program, e);
	if (r < 0)
		return r;
	a.attach_bpf_fd = (uint32_t)program;
	if (call_bpf(BPF_PROG_ATTACH, &a) < 0)
		return err_set(e, errno, "cannot attach the device rules to %s", dir);
	return detach(cgroup, ids, before.query.prog_cnt, e);
}

int cgroup_devices_allow(const struct cgroup_set *set, const struct device_rule *rules,
			 size_t count, struct err *e)
{
	const struct cgroup_dir *v2 = NULL;
	int r;

	if (count == 0)
		return 0;
	for (const struct cgroup_dir *d = set->dirs; d < set->dirs + set->count; d++) {
		v2 = d->unified ? d : v2;
		if (d->unified || !text_list_has(d->controllers, "devices"))
			continue;
		r = write_rules(d->dir, rules, count, e);
		return r < 0 ? r
			     : write_rules(d->dir, device_rules_always, device_rules_always_count,
					   e);
	}
	if (v2 == NULL)
		return err_set(e, ENOTSUP, "device rules, and no cgroup tree that could keep them");
	return ask_program(v2->dir, rules, count, e);
}
