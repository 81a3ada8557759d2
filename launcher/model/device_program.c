/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/device_program.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"

#define NODES(t)                                                                                   \
	{                                                                                          \
		.allow = true, .type = (t), .major = -1, .minor = -1, .make = true                 \
	}
#define NUMBER(a, b)                                                                               \
	{                                                                                          \
		.allow = true, .type = 'c', .major = (a), .minor = (b), .read = true,              \
		.write = true, .make = true                                                        \
	}

const struct device_rule device_rules_always[] = {
	NODES('c'),   NODES('b'),   NUMBER(1, 3), NUMBER(1, 5), NUMBER(1, 7),    NUMBER(1, 8),
	NUMBER(1, 9), NUMBER(5, 0), NUMBER(5, 1), NUMBER(5, 2), NUMBER(136, -1),
};
const size_t device_rules_always_count = sizeof device_rules_always / sizeof *device_rules_always;

/* Registers: r0 the answer, r1 the context and later scratch, then what the context says. */
enum { TYPE = BPF_REG_2, WANTED = BPF_REG_3, MAJOR = BPF_REG_4, MINOR = BPF_REG_5 };
enum { ALL = BPF_DEVCG_ACC_MKNOD | BPF_DEVCG_ACC_READ | BPF_DEVCG_ACC_WRITE };
enum { HEAD = 6, RULE_MAX = 7, TAIL = 2 };

struct writer {
	struct bpf_insn *code;
	int count;
};

static void emit(struct writer *w, unsigned int code, unsigned int to, unsigned int from,
		 int offset, int32_t value)
{
	w->code[w->count++] = (struct bpf_insn){ .code = (uint8_t)code,
						 .dst_reg = to & 0xf,
						 .src_reg = from & 0xf,
						 .off = (int16_t)offset,
						 .imm = value };
}

static void answer(struct writer *w, bool allow)
{
	emit(w, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, allow);
	emit(w, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Jumps over the rest of a rule; how far is filled in by land(). */
static void leave_unless(struct writer *w, unsigned int reg, int64_t value)
{
	emit(w, BPF_JMP | BPF_JNE | BPF_K, reg, 0, 0, (int32_t)value);
}

static void land(const struct writer *w, int from)
{
	for (int i = from; i < w->count; i++)
		if (BPF_CLASS(w->code[i].code) == BPF_JMP && BPF_OP(w->code[i].code) != BPF_EXIT)
			w->code[i].off = (int16_t)(w->count - i - 1);
}

/* True: the rule is about everything, so that no earlier one can say anything more. */
static bool add_rule(struct writer *w, const struct device_rule *r)
{
	int access = (r->read ? BPF_DEVCG_ACC_READ : 0) | (r->write ? BPF_DEVCG_ACC_WRITE : 0) |
		     (r->make ? BPF_DEVCG_ACC_MKNOD : 0);
	int start = w->count;

	if (r->type != 'a')
		leave_unless(w, TYPE, r->type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR);
	if (r->major >= 0)
		leave_unless(w, MAJOR, r->major);
	if (r->minor >= 0)
		leave_unless(w, MINOR, r->minor);
	if (access != ALL && r->allow) { /* of what is wanted, this much is granted */
		emit(w, BPF_ALU64 | BPF_AND | BPF_K, WANTED, 0, 0, ALL & ~access);
		leave_unless(w, WANTED, 0);
	} else if (access != ALL) {
		emit(w, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, WANTED, 0, 0);
		emit(w, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_1, 0, 0, access);
		emit(w, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_1, 0, 0, 0);
	}
	answer(w, r->allow);
	land(w, start);
	return w->count == start + 2; /* nothing but the answer */
}

static void load(struct writer *w, unsigned int reg, size_t offset)
{
	emit(w, BPF_LDX | BPF_MEM | BPF_W, reg, BPF_REG_1, (int)offset, 0);
}

int device_program_make(const struct device_rule *rules, size_t count, struct bpf_insn **ret_code,
			struct err *e)
{
	size_t all = count + device_rules_always_count;
	struct writer w = { .code = calloc(HEAD + RULE_MAX * all + TAIL, sizeof *w.code) };
	bool decided = false;

	if (w.code == NULL)
		return err_set(e, ENOMEM, "cannot hold the program of %zu device rules", all);
	load(&w, TYPE, offsetof(struct bpf_cgroup_dev_ctx, access_type));
	emit(&w, BPF_ALU64 | BPF_MOV | BPF_X, WANTED, TYPE, 0, 0);
	emit(&w, BPF_ALU64 | BPF_AND | BPF_K, TYPE, 0, 0, 0xffff);
	emit(&w, BPF_ALU64 | BPF_RSH | BPF_K, WANTED, 0, 0, 16);
	load(&w, MAJOR, offsetof(struct bpf_cgroup_dev_ctx, major));
	load(&w, MINOR, offsetof(struct bpf_cgroup_dev_ctx, minor));
	for (size_t i = all; !decided && i-- > 0;) /* the last word first */
		decided = add_rule(&w, i >= count ? &device_rules_always[i - count] : &rules[i]);
	if (!decided)
		answer(&w, true);
	*ret_code = w.code;
	return w.count;
}
