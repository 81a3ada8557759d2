/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oci_resources.c - "linux.resources": each limit as the v1 file and as the v2 file
 *
 * Which of the two is written is known only where the cgroup trees are (steps/cgroup_set.c).
 * Source: config-linux.md, "Control groups"; Documentation/admin-guide/cgroup-v1, cgroup-v2.rst.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "front/doc.h"
#include "front/oci_config.h"

enum { ABSENT = INT64_MIN };

static struct cgroup_setting *add(struct bundle *b, bool unified, const char *controller,
				  const char *file, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

static struct cgroup_setting *add(struct bundle *b, bool unified, const char *controller,
				  const char *file, const char *fmt, ...)
{
	static struct cgroup_setting lost; /* never applied: the count is checked at the end */
	struct cgroup_setting *s =
		b->setting_count < CGROUP_SETTINGS_MAX ? &b->settings[b->setting_count] : &lost;
	va_list args;

	b->setting_count++;
	*s = (struct cgroup_setting){ .controller = controller, .file = file, .unified = unified };
	va_start(args, fmt);
	(void)vsnprintf(s->value, sizeof s->value, fmt, args); /* longest: cpusets, checked there */
	va_end(args);
	return s;
}

static int number(const struct json *in, const char *key, int64_t *ret, struct err *e)
{
	*ret = ABSENT;
	return doc_integer(in, key, -1, INT64_MAX, ret, e);
}

static const char *v2_amount(int64_t bytes, char text[static 24])
{
	snprintf(text, 24, bytes < 0 ? "max" : "%" PRId64, bytes);
	return text;
}

static int read_memory(const struct json *in, struct bundle *b, struct err *e)
{
	int64_t limit, swap, reservation, swappiness, kernel, tcp;
	bool no_oom = false, hierarchy = true;
	char text[24];

	if (number(in, "limit", &limit, e) < 0 || number(in, "swap", &swap, e) < 0 ||
	    number(in, "reservation", &reservation, e) < 0 ||
	    number(in, "swappiness", &swappiness, e) < 0 || number(in, "kernel", &kernel, e) < 0 ||
	    number(in, "kernelTCP", &tcp, e) < 0 ||
	    doc_flag(in, "disableOOMKiller", &no_oom, e) < 0 ||
	    doc_flag(in, "useHierarchy", &hierarchy, e) < 0)
		return -e->code;
	if (limit != ABSENT) {
		add(b, false, "memory", "memory.limit_in_bytes", "%" PRId64, limit);
		add(b, true, "memory", "memory.max", "%s", v2_amount(limit, text));
	}
	if (swap != ABSENT) { /* v1 counts both together, v2 the swap alone */
		add(b, false, "memory", "memory.memsw.limit_in_bytes", "%" PRId64, swap)->optional =
			true;
		if (swap >= 0 && limit > swap)
			return err_set(e, EINVAL, "'memory.swap' is below 'memory.limit'");
		add(b, true, "memory", "memory.swap.max", "%s",
		    v2_amount(swap >= 0 && limit > 0 ? swap - limit : swap, text))
			->optional = true;
	}
	if (reservation != ABSENT) {
		add(b, false, "memory", "memory.soft_limit_in_bytes", "%" PRId64, reservation);
		add(b, true, "memory", "memory.low", "%s", v2_amount(reservation, text));
	}
	if (swappiness >= 0)
		add(b, false, "memory", "memory.swappiness", "%" PRId64, swappiness)->alone = true;
	/* Gone from the kernel since Linux 5.16 or from the specification: engines still send it. */
	if (kernel != ABSENT)
		add(b, false, "memory", "memory.kmem.limit_in_bytes", "%" PRId64, kernel)
			->optional = true;
	if (tcp != ABSENT)
		add(b, false, "memory", "memory.kmem.tcp.limit_in_bytes", "%" PRId64, tcp)
			->optional = true;
	if (no_oom)
		add(b, false, "memory", "memory.oom_control", "1")->alone = true;
	return 0;
}

static int read_cpu(const struct json *in, struct bundle *b, struct err *e)
{
	int64_t shares, quota, period, rt_runtime, rt_period, idle, burst;
	const char *cpus = NULL, *mems = NULL;

	if (number(in, "shares", &shares, e) < 0 || number(in, "quota", &quota, e) < 0 ||
	    number(in, "period", &period, e) < 0 ||
	    number(in, "realtimeRuntime", &rt_runtime, e) < 0 ||
	    number(in, "realtimePeriod", &rt_period, e) < 0 || number(in, "idle", &idle, e) < 0 ||
	    number(in, "burst", &burst, e) < 0 || doc_text(in, "cpus", &cpus, e) < 0 ||
	    doc_text(in, "mems", &mems, e) < 0)
		return -e->code;
	if (shares > 0) {
		int64_t s = shares < 2 ? 2 : shares > 262144 ? 262144 : shares;

		add(b, false, "cpu", "cpu.shares", "%" PRId64, shares);
		add(b, true, "cpu", "cpu.weight", "%" PRId64, 1 + (s - 2) * 9999 / 262142);
	}
	if (period > 0)
		add(b, false, "cpu", "cpu.cfs_period_us", "%" PRId64, period);
	if (quota != ABSENT && quota != 0)
		add(b, false, "cpu", "cpu.cfs_quota_us", "%" PRId64, quota);
	if ((quota != ABSENT && quota != 0) || period > 0) {
		char text[24];

		add(b, true, "cpu", "cpu.max", "%s %" PRId64,
		    v2_amount(quota > 0 ? quota : -1, text), period > 0 ? period : 100000);
	}
	if (burst != ABSENT) {
		add(b, false, "cpu", "cpu.cfs_burst_us", "%" PRId64, burst);
		add(b, true, "cpu", "cpu.max.burst", "%" PRId64, burst);
	}
	if (rt_period > 0)
		add(b, false, "cpu", "cpu.rt_period_us", "%" PRId64, rt_period)->alone = true;
	if (rt_runtime > 0)
		add(b, false, "cpu", "cpu.rt_runtime_us", "%" PRId64, rt_runtime)->alone = true;
	if (idle != ABSENT) {
		add(b, false, "cpu", "cpu.idle", "%" PRId64, idle);
		add(b, true, "cpu", "cpu.idle", "%" PRId64, idle);
	}
	for (int unified = 0; unified < 2; unified++) {
		if ((cpus != NULL && strlen(cpus) >= 128) || (mems != NULL && strlen(mems) >= 128))
			return err_set(e, ENOTSUP, "a list of processors beyond 127 characters");
		if (cpus != NULL && *cpus != '\0')
			add(b, unified, "cpuset", "cpuset.cpus", "%s", cpus);
		if (mems != NULL && *mems != '\0')
			add(b, unified, "cpuset", "cpuset.mems", "%s", mems);
	}
	return 0;
}

static int read_throttle(const struct json *in, const char *key, const char *v1_file,
			 const char *v2_word, struct bundle *b, struct err *e)
{
	const struct json *list;
	size_t count;

	if (doc_array(in, key, &list, &count, e) < 0)
		return -e->code;
	for (size_t i = 0; i < count; i++) {
		int64_t major, minor, rate;

		if (number(doc_at(list, i), "major", &major, e) < 0 ||
		    number(doc_at(list, i), "minor", &minor, e) < 0 ||
		    number(doc_at(list, i), "rate", &rate, e) < 0)
			return -e->code;
		if (major < 0 || minor < 0 || rate < 0)
			return err_set(e, EINVAL, "'%s' lacks major, minor or rate", key);
		add(b, false, "blkio", v1_file, "%" PRId64 ":%" PRId64 " %" PRId64, major, minor,
		    rate);
		add(b, true, "io", "io.max", "%" PRId64 ":%" PRId64 " %s=%" PRId64, major, minor,
		    v2_word, rate);
	}
	return 0;
}

static int read_block_io(const struct json *in, struct bundle *b, struct err *e)
{
	const struct json *devices;
	int64_t weight, leaf;
	size_t count;

	if (number(in, "weight", &weight, e) < 0 || number(in, "leafWeight", &leaf, e) < 0 ||
	    doc_array(in, "weightDevice", &devices, &count, e) < 0)
		return -e->code;
	if (count > 0 || leaf > 0)
		return err_set(e, ENOTSUP,
			       "'blockIO.weightDevice' and 'leafWeight' are not supported: Linux "
			       "has lost them with the CFQ scheduler");
	if (weight > 0) {
		add(b, false, "blkio", "blkio.bfq.weight", "%" PRId64, weight);
		add(b, true, "io", "io.bfq.weight", "%" PRId64, weight);
	}
	if (read_throttle(in, "throttleReadBpsDevice", "blkio.throttle.read_bps_device", "rbps", b,
			  e) < 0 ||
	    read_throttle(in, "throttleWriteBpsDevice", "blkio.throttle.write_bps_device", "wbps",
			  b, e) < 0 ||
	    read_throttle(in, "throttleReadIOPSDevice", "blkio.throttle.read_iops_device", "riops",
			  b, e) < 0)
		return -e->code;
	return read_throttle(in, "throttleWriteIOPSDevice", "blkio.throttle.write_iops_device",
			     "wiops", b, e);
}

static int read_device_rules(const struct json *in, struct bundle *b, struct err *e)
{
	const struct json *list;
	size_t count;

	if (doc_array(in, "devices", &list, &count, e) < 0)
		return -e->code;
	b->device_rules = calloc(count + 1, sizeof *b->device_rules);
	if (b->device_rules == NULL)
		return err_set(e, ENOMEM, "cannot keep the device rules");
	for (size_t i = 0; i < count; i++) {
		struct device_rule *r = &b->device_rules[b->device_rule_count++];
		const struct json *rule = doc_at(list, i);
		const char *type = "a", *access = "rwm";

		*r = (struct device_rule){ .major = -1, .minor = -1 };
		if (doc_flag(rule, "allow", &r->allow, e) < 0 ||
		    doc_text(rule, "type", &type, e) < 0 ||
		    doc_text(rule, "access", &access, e) < 0 ||
		    doc_integer(rule, "major", -1, INT32_MAX, &r->major, e) < 0 ||
		    doc_integer(rule, "minor", -1, INT32_MAX, &r->minor, e) < 0)
			return -e->code;
		r->type = *type == '\0' ? 'a' : type[0];
		if (strlen(type) > 1 || strchr("abcu", r->type) == NULL)
			return err_set(e, EINVAL, "device rule of type '%s'", type);
		r->type = r->type == 'u' ? 'c' : r->type;
		if (strspn(access, "rwm") != strlen(access))
			return err_set(e, EINVAL, "device rule with access '%s'", access);
		r->read = strchr(access, 'r') != NULL || *access == '\0';
		r->write = strchr(access, 'w') != NULL || *access == '\0';
		r->make = strchr(access, 'm') != NULL || *access == '\0';
	}
	return 0;
}

static int read_rest(const struct json *in, struct bundle *b, struct err *e)
{
	const struct json *pids, *net, *list;
	int64_t limit, class;
	size_t count;

	if (doc_object(in, "pids", &pids, e) < 0 || number(pids, "limit", &limit, e) < 0 ||
	    doc_array(in, "hugepageLimits", &list, &count, e) < 0)
		return -e->code;
	if (limit != ABSENT && limit != 0)
		for (int unified = 0; unified < 2; unified++)
			add(b, unified, "pids", "pids.max", limit < 0 ? "max" : "%" PRId64, limit);
	for (size_t i = 0; i < count; i++) {
		const char *size = NULL;
		char *file[2];

		limit = ABSENT;
		if (doc_text(doc_at(list, i), "pageSize", &size, e) < 0 ||
		    number(doc_at(list, i), "limit", &limit, e) < 0)
			return -e->code;
		if (size == NULL || limit < 0 ||
		    asprintf(&file[0], "hugetlb.%s.limit_in_bytes", size) < 0 ||
		    asprintf(&file[1], "hugetlb.%s.max", size) < 0)
			return err_set(e, EINVAL, "'hugepageLimits' lacks pageSize or limit");
		for (int unified = 0; unified < 2; unified++)
			add(b, unified, "hugetlb", file[unified], "%" PRId64, limit);
	}
	if (doc_object(in, "network", &net, e) < 0 || number(net, "classID", &class, e) < 0 ||
	    doc_array(net, "priorities", &list, &count, e) < 0)
		return -e->code;
	if (class > 0)
		add(b, false, "net_cls", "net_cls.classid", "%" PRId64, class);
	for (size_t i = 0; i < count; i++) {
		const char *name = "";
		int64_t priority;

		if (doc_text(doc_at(list, i), "name", &name, e) < 0 ||
		    number(doc_at(list, i), "priority", &priority, e) < 0)
			return -e->code;
		add(b, false, "net_prio", "net_prio.ifpriomap", "%s %" PRId64, name, priority);
	}
	return 0;
}

static int keep_rdma(const char *device, const struct json *value, void *arg, struct err *e)
{
	struct json *holder = doc_new_object();
	const struct json *limits;
	int64_t handles, objects;
	char text[64] = "";

	doc_set(holder, device, doc_keep(value));
	if (doc_object(holder, device, &limits, e) < 0 ||
	    number(limits, "hcaHandles", &handles, e) < 0 ||
	    number(limits, "hcaObjects", &objects, e) < 0)
		return -e->code;
	if (handles >= 0)
		snprintf(text, sizeof text, " hca_handle=%" PRId64, handles);
	if (objects >= 0)
		snprintf(text + strlen(text), sizeof text - strlen(text), " hca_object=%" PRId64,
			 objects);
	if (strlen(device) > 60 || strpbrk(device, " \n") != NULL)
		return err_set(e, EINVAL, "'rdma': '%s' is no name of a device", device);
	for (int unified = 0; unified < 2; unified++)
		add(arg, unified, "rdma", "rdma.max", "%s%s", device, text);
	return 0;
}

static int keep_unified(const char *file, const struct json *value, void *arg, struct err *e)
{
	struct bundle *b = arg;
	const char *text = doc_as_text(value), *dot = strchr(file, '.');
	char *controller;

	if (text == NULL || dot == NULL || strchr(file, '/') != NULL || strlen(text) >= 128)
		return err_set(e, EINVAL, "'unified' member '%s' is no file of a cgroup", file);
	controller = strndup(file, (size_t)(dot - file));
	if (controller == NULL)
		return err_set(e, ENOMEM, "cannot keep '%s'", file);
	add(b, true, controller, file, "%s", text)->alone = true;
	return 0;
}

int oci_resources_read(const struct json *resources, struct oci_config *c, struct err *e)
{
	const struct json *memory, *cpu, *block_io, *unified, *rdma;
	struct bundle *b = &c->bundle;

	b->settings = calloc(CGROUP_SETTINGS_MAX, sizeof *b->settings);
	if (b->settings == NULL)
		return err_set(e, ENOMEM, "cannot keep the limits");
	if (doc_object(resources, "memory", &memory, e) < 0 || read_memory(memory, b, e) < 0 ||
	    doc_object(resources, "cpu", &cpu, e) < 0 || read_cpu(cpu, b, e) < 0 ||
	    doc_object(resources, "blockIO", &block_io, e) < 0 ||
	    read_block_io(block_io, b, e) < 0 || read_device_rules(resources, b, e) < 0 ||
	    read_rest(resources, b, e) < 0 || doc_object(resources, "rdma", &rdma, e) < 0 ||
	    doc_each(rdma, keep_rdma, b, e) < 0 ||
	    doc_object(resources, "unified", &unified, e) < 0 ||
	    doc_each(unified, keep_unified, b, e) < 0)
		return -e->code;
	if (b->setting_count > CGROUP_SETTINGS_MAX)
		return err_set(e, ENOTSUP, "more than %d limits", CGROUP_SETTINGS_MAX);
	return 0;
}
