/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/bpf_compact.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"

enum {
	LOAD = BPF_LD | BPF_W | BPF_ABS,
	MASK = BPF_ALU | BPF_AND | BPF_K,
	RETURN = BPF_RET | BPF_K,
	JUMP = BPF_JMP | BPF_JA,
	JUMP_EQ = BPF_JMP | BPF_JEQ | BPF_K,
	JUMP_GT = BPF_JMP | BPF_JGT | BPF_K,
	JUMP_GE = BPF_JMP | BPF_JGE | BPF_K,
	JUMP_SET = BPF_JMP | BPF_JSET | BPF_K,
	NR = offsetof(struct seccomp_data, nr),
	ARCH = offsetof(struct seccomp_data, arch),
	FAR = 255,    /* the longest conditional jump */
	RETURNS = 16, /* different answers that are shared; more are written again */
	MARKS = 3 * BPF_MAXINSNS,
	OUT_MAX = 4 * BPF_MAXINSNS,
	NOWHERE = -1,
};

/* Numbers from `from` to the next range's are answered at old->filter[pc]: a RETURN, or the first
 * instruction that looks at an argument. */
struct range {
	uint32_t from;
	int pc;
};

/* The new program is written from its end, so that every jump has a known aim: positions count
 * from the last instruction, 0. */
struct compactor {
	const struct sock_filter *old;
	int old_len;
	uint32_t marks[MARKS]; /* numbers where the answer may change, sorted */
	int mark_count;
	uint32_t arches[BPF_MAXINSNS];
	int arch_count;
	struct range ranges[MARKS];
	int range_count;
	int placed[BPF_MAXINSNS]; /* where an old instruction is now, or NOWHERE */
	struct {
		uint32_t answer;
		int position;
	} returns[RETURNS];
	struct sock_filter out[OUT_MAX];
	int out_len;
};

static bool is_known(const struct sock_filter *i)
{
	switch (i->code) {
	case LOAD:
	case MASK:
	case RETURN:
	case JUMP:
	case JUMP_EQ:
	case JUMP_GT:
	case JUMP_GE:
	case JUMP_SET:
		return true;
	default:
		return false;
	}
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Does every jump land inside the program?  The kernel would refuse it otherwise. */
static bool stays_inside(const struct compactor *c, int pc)
{
	const struct sock_filter *i = &c->old[pc];
	uint32_t room = (uint32_t)(c->old_len - pc - 1);

	if (i->code == JUMP)
		return i->k < room;
	return i->code == RETURN || (i->jt < room && i->jf < room);
}

/* Every constant that a jump compares with is taken for a number and for an architecture: too
 * many marks do no harm, ranges with one answer are joined later. */
static bool find_marks(struct compactor *c)
{
	c->marks[c->mark_count++] = 0;
	for (const struct sock_filter *i = c->old; i < c->old + c->old_len; i++) {
		if (!is_known(i) || !stays_inside(c, (int)(i - c->old)))
			return false;
		if (i->code == JUMP_EQ || i->code == JUMP_GT || i->code == JUMP_GE) {
			c->marks[c->mark_count++] = i->k;
			if (i->k != UINT32_MAX)
				c->marks[c->mark_count++] = i->k + 1;
		}
	}
	qsort(c->marks, (size_t)c->mark_count, sizeof *c->marks, compare_numbers);
	return true;
}

static bool jumps(const struct sock_filter *i, uint32_t a)
{
	switch (i->code) {
	case JUMP_EQ:
		return a == i->k;
	case JUMP_GT:
		return a > i->k;
	case JUMP_GE:
		return a >= i->k;
	default:
		return (a & i->k) != 0;
	}
}

/* Runs the old program up to its answer, or to the first look at an argument. */
static int run(const struct compactor *c, uint32_t arch, uint32_t nr)
{
	uint32_t a = 0;

	for (int pc = 0; pc < c->old_len;) {
		const struct sock_filter *i = &c->old[pc];

		if (i->code == RETURN || (i->code == LOAD && i->k != NR && i->k != ARCH))
			return pc;
		if (i->code == LOAD)
			a = i->k == NR ? nr : arch;
		else if (i->code == MASK)
			a &= i->k;
		if (i->code == JUMP)
			pc += (int)i->k;
		else if (i->code != LOAD && i->code != MASK)
			pc += jumps(i, a) ? i->jt : i->jf;
		pc++;
	}
	return NOWHERE;
}

static bool same_answer(const struct compactor *c, int pc, int other)
{
	return pc == other || (c->old[pc].code == RETURN && c->old[other].code == RETURN &&
			       c->old[pc].k == c->old[other].k);
}

static bool find_ranges(struct compactor *c, uint32_t arch)
{
	c->range_count = 0;
	for (int m = 0; m < c->mark_count; m++) {
		struct range r = { c->marks[m], run(c, arch, c->marks[m]) };

		if (r.pc == NOWHERE)
			return false;
		if (c->range_count == 0 || !same_answer(c, r.pc, c->ranges[c->range_count - 1].pc))
			c->ranges[c->range_count++] = r;
	}
	return true;
}

static int emit(struct compactor *c, struct sock_filter i)
{
	if (c->out_len < OUT_MAX)
		c->out[c->out_len] = i;
	return c->out_len++;
}

/* A position to jump to from the next instruction: itself, or a long jump to it. */
static int bring_near(struct compactor *c, int position, int reserve)
{
	if (c->out_len + reserve - position - 1 <= FAR)
		return position;
	return emit(c, (struct sock_filter){ JUMP, 0, 0, (uint32_t)(c->out_len - position - 1) });
}

static int emit_test(struct compactor *c, uint16_t code, uint32_t k, int yes, int no)
{
	yes = bring_near(c, yes, 1); /* the second long jump may come in between */
	no = bring_near(c, no, 0);
	return emit(c, (struct sock_filter){ code, (uint8_t)(c->out_len - yes - 1),
					     (uint8_t)(c->out_len - no - 1), k });
}

static int place_return(struct compactor *c, uint32_t answer)
{
	int i = 0;

	while (i < RETURNS - 1 && c->returns[i].position != NOWHERE &&
	       c->returns[i].answer != answer)
		i++;
	if (c->returns[i].position == NOWHERE || c->returns[i].answer != answer ||
	    c->out_len - c->returns[i].position > FAR / 2) {
		c->returns[i].answer = answer;
		c->returns[i].position = emit(c, (struct sock_filter){ RETURN, 0, 0, answer });
	}
	return c->returns[i].position;
}

/* Copies an old instruction and all that can follow it; what follows lies further on, so this
 * ends.  Returns its new position. */
static int place(struct compactor *c, int pc)
{
	const struct sock_filter *i = &c->old[pc];
	int next;

	if (i->code == RETURN)
		return place_return(c, i->k);
	if (c->placed[pc] != NOWHERE)
		return c->placed[pc];
	if (i->code == JUMP)
		return c->placed[pc] = place(c, pc + 1 + (int)i->k);
	if (i->code == LOAD || i->code == MASK) {
		next = place(c, pc + 1);
		if (next != c->out_len - 1)
			(void)emit(c, (struct sock_filter){ JUMP, 0, 0,
							    (uint32_t)(c->out_len - next - 1) });
		return c->placed[pc] = emit(c, *i);
	}
	next = place(c, pc + 1 + i->jt);
	return c->placed[pc] = emit_test(c, i->code, i->k, next, place(c, pc + 1 + i->jf));
}

static int place_tree(struct compactor *c, int first, int end)
{
	int middle = first + (end - first) / 2, right, left;

	if (end - first == 1)
		return place(c, c->ranges[first].pc);
	right = place_tree(c, middle, end);
	left = place_tree(c, first, middle);
	return emit_test(c, JUMP_GE, c->ranges[middle].from, right, left);
}

/* The part for one architecture: load the number, search. */
static int place_arch(struct compactor *c, uint32_t arch)
{
	int tree;

	if (!find_ranges(c, arch))
		return NOWHERE;
	tree = place_tree(c, 0, c->range_count);
	if (c->range_count == 1)
		return tree;
	if (tree != c->out_len - 1)
		(void)emit(c,
			   (struct sock_filter){ JUMP, 0, 0, (uint32_t)(c->out_len - tree - 1) });
	return emit(c, (struct sock_filter){ LOAD, 0, 0, NR });
}

/* The program begins with a chain of comparisons of the architecture.  Returns the answer for all
 * others, at the end of the chain, or NOWHERE where the program is not like that. */
static int find_arches(struct compactor *c)
{
	int pc = 1;

	if (c->old[0].code != LOAD || c->old[0].k != ARCH)
		return NOWHERE;
	while (pc < c->old_len && c->old[pc].code == JUMP_EQ) {
		c->arches[c->arch_count++] = c->old[pc].k;
		pc += 1 + c->old[pc].jf;
		while (pc < c->old_len && c->old[pc].code == JUMP)
			pc += 1 + (int)c->old[pc].k;
	}
	return pc < c->old_len && c->old[pc].code == RETURN ? pc : NOWHERE;
}

/* Writes c->out; false where the old program is beyond us. */
static bool rewrite(struct compactor *c)
{
	int parts[BPF_MAXINSNS], other, next;

	if (!find_marks(c))
		return false;
	other = find_arches(c);
	if (other == NOWHERE)
		return false;
	for (int i = 0; i < c->old_len; i++)
		c->placed[i] = NOWHERE;
	for (int i = 0; i < RETURNS; i++)
		c->returns[i].position = NOWHERE;
	for (int i = c->arch_count - 1; i >= 0; i--) {
		parts[i] = place_arch(c, c->arches[i]);
		if (parts[i] == NOWHERE)
			return false;
	}
	next = place(c, other);
	for (int i = c->arch_count - 1; i >= 0; i--)
		next = emit_test(c, JUMP_EQ, c->arches[i], parts[i], next);
	(void)emit(c, (struct sock_filter){ LOAD, 0, 0, ARCH });
	return c->arch_count > 0 && c->out_len < c->old_len;
}

int bpf_compact(struct sock_fprog *program, struct err *e)
{
	autofree struct compactor *c = calloc(1, sizeof *c);

	if (c == NULL)
		return err_set(e, ENOMEM, "cannot compact the filter");
	c->old = program->filter;
	c->old_len = program->len;
	if (c->old_len == 0 || c->old_len > BPF_MAXINSNS || !rewrite(c))
		return 0;
	for (int i = 0; i < c->out_len; i++)
		program->filter[i] = c->out[c->out_len - 1 - i];
	program->len = (unsigned short)c->out_len;
	return 0;
}
