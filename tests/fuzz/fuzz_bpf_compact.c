/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs of any kind, each compacted and run beside the original on some numbers. */
#undef NDEBUG
#include <assert.h>
#include <linux/seccomp.h>
#include <stdbool.h>

#include "base/err.h"
#include "fuzz.h"
#include "model/bpf_compact.h"

/* False where the kernel would not take the program, or would not end in it. */
static bool run(const struct sock_fprog *program, struct seccomp_data data, uint32_t *ret)
{
	uint32_t a = 0;

	for (uint64_t pc = 0; pc < program->len; pc++) {
		const struct sock_filter *i = &program->filter[pc];
		bool jump = false;

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (i->k > sizeof data - sizeof a || i->k % sizeof a != 0)
				return false;
			memcpy(&a, (const char *)&data + i->k, sizeof a);
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			continue;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			continue;
		case BPF_RET | BPF_K:
			*ret = i->k;
			return true;
		case BPF_JMP | BPF_JEQ | BPF_K:
			jump = a == i->k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			jump = a > i->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			jump = a >= i->k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			jump = (a & i->k) != 0;
			break;
		default:
			return false;
		}
		pc += jump ? i->jt : i->jf;
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sock_fprog before = { .len = (unsigned short)(size / sizeof *before.filter) }, after;
	size_t bytes = before.len * sizeof *before.filter;
	struct err e = { 0 };

	before.filter = (struct sock_filter *)fuzz_text(data, bytes);
	after = before;
	after.filter = (struct sock_filter *)fuzz_text(data, bytes);
	assert(bpf_compact(&after, &e) == 0);
	for (size_t i = 0; i < before.len; i++)
		for (uint32_t near = 0; near < 3; near++) {
			uint32_t k = before.filter[i].k + near - 1, was, is;
			struct seccomp_data d = { .nr = (int)k, .arch = before.filter[i / 2].k };

			if (run(&before, d, &was))
				assert(run(&after, d, &is) && was == is);
		}
	free(before.filter);
	free(after.filter);
	return 0;
}
