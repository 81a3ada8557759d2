/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Profiles, compiled and then run by a small interpreter: no kernel is asked. */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"
#include "front/seccomp_default.h"
#include "front/seccomp_profile.h"
#include "model/bpf_compact.h"
#include "model/capability.h"

#define ERRNO(code) (SECCOMP_RET_ERRNO | (code))

/* What the kernel would answer. */
static uint32_t answer(const struct sock_fprog *program, uint32_t arch, int nr, uint64_t arg0)
{
	struct seccomp_data data = { .arch = arch, .nr = nr, .args = { arg0 } };
	uint32_t a = 0;

	for (unsigned int pc = 0; pc < program->len; pc++) {
		const struct sock_filter *i = &program->filter[pc];

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			assert(i->k <= sizeof data - sizeof a);
			memcpy(&a, (const char *)&data + i->k, sizeof a);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			break;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			pc += a > i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= i->k ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K:
			return i->k;
		default:
			assert(!"an instruction that nobody writes");
		}
	}
	assert(!"ran off the end");
	return 0;
}

static uint32_t by_name(const struct seccomp_filter *f, const char *name, uint64_t arg0)
{
	int nr = seccomp_syscall_resolve_name(name);

	assert(nr >= 0);
	return answer(&f->program, seccomp_arch_native(), nr, arg0);
}

static void the_default_allows_what_programs_do(void)
{
	static const char *const allowed[] = {
		"read",          "openat",          "mmap",          "execve",
		"futex",         "statx",           "clock_gettime", "clock_nanosleep",
		"timer_settime", "timerfd_settime", "adjtimex",      "chroot",
		"ptrace"
	};

	for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
		assert(by_name(&seccomp_default_filter, allowed[i], 0) == SECCOMP_RET_ALLOW);
	assert(by_name(&seccomp_default_filter, "socket", AF_INET) == SECCOMP_RET_ALLOW);
	assert(by_name(&seccomp_default_filter, "clone", SIGCHLD) == SECCOMP_RET_ALLOW);
	assert(by_name(&seccomp_default_filter, "personality", 0xffffffff) == SECCOMP_RET_ALLOW);
}

static void the_default_refuses_what_reaches_the_host(void)
{
	static const char *const refused[] = {
		"clock_settime",
		"settimeofday",
		"mount",
		"umount2",
		"setns",
		"unshare",
		"bpf",
		"reboot",
		"init_module",
		"kexec_load",
		"keyctl",
		"swapon",
		"syslog",
		"open_by_handle_at",
		"io_uring_setup",
		"perf_event_open",
		"userfaultfd",
		"sethostname",
		"pivot_root",
		"iopl",
	};

	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		assert(by_name(&seccomp_default_filter, refused[i], 0) == ERRNO(EPERM));
	assert(by_name(&seccomp_default_filter, "socket", AF_ALG) == ERRNO(ENOSYS));
	assert(by_name(&seccomp_default_filter, "socket", AF_VSOCK) == ERRNO(ENOSYS));
	/* The kernel looks at 32 bits of it: more must not help. */
	assert(by_name(&seccomp_default_filter, "socket", UINT64_C(1) << 32 | AF_VSOCK) ==
	       ERRNO(ENOSYS));
	assert(by_name(&seccomp_default_filter, "clone", CLONE_NEWUSER) == ERRNO(EPERM));
	assert(by_name(&seccomp_default_filter, "clone", CLONE_NEWNS | SIGCHLD) == ERRNO(EPERM));
	assert(by_name(&seccomp_default_filter, "personality", 0x40000) == ERRNO(ENOSYS));
}

static void what_is_unknown_does_not_exist(void)
{
	/* ENOSYS, so that C libraries fall back to what they did before. */
	assert(by_name(&seccomp_default_filter, "clone3", 0) == ERRNO(ENOSYS));
	assert(answer(&seccomp_default_filter.program, seccomp_arch_native(), 9999, 0) ==
	       ERRNO(ENOSYS));
	assert(answer(&seccomp_default_filter.program, AUDIT_ARCH_M68K, 0, 0) == ERRNO(ENOSYS));
}

static int compile(const char *text, uint64_t capabilities, struct seccomp_filter *ret,
		   struct err *e)
{
	struct profile_facts facts = { .capabilities = capabilities, .kernel_version = { 5, 10 } };

	*e = (struct err){ 0 };
	return seccomp_profile_compile(text, strlen(text), &facts, ret, e);
}

static void capabilities_open_their_part_of_the_default(void)
{
	struct seccomp_filter f;
	struct err e;

	assert(compile(seccomp_default_profile, CAPABILITY_BIT(21), &f, &e) == 0);
	assert(by_name(&f, "mount", 0) == SECCOMP_RET_ALLOW);
	assert(by_name(&f, "clone3", 0) == SECCOMP_RET_ALLOW);
	assert(by_name(&f, "clone", CLONE_NEWUSER) == SECCOMP_RET_ALLOW);
	assert(by_name(&f, "clock_settime", 0) == ERRNO(EPERM));
	free(f.program.filter);
	assert(compile(seccomp_default_profile, CAPABILITY_BIT(25), &f, &e) == 0);
	assert(by_name(&f, "clock_settime", 0) == SECCOMP_RET_ALLOW);
	assert(by_name(&f, "mount", 0) == ERRNO(EPERM));
	free(f.program.filter);
}

static void a_profile_of_an_engine_is_read(void)
{
	static const char text[] =
		"{ \"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrnoRet\": 38,"
		"  \"architectures\": [\"SCMP_ARCH_X86\"], \"flags\": "
		"[\"SECCOMP_FILTER_FLAG_LOG\"],"
		"  \"syscalls\": ["
		"  { \"names\": [\"read\", \"no_such_call\"], \"action\": \"SCMP_ACT_ALLOW\" },"
		"  { \"name\": \"write\", \"action\": \"SCMP_ACT_ERRNO\" },"
		"  { \"names\": [\"close\"], \"action\": \"SCMP_ACT_ERRNO\", \"errno\": \"ENOENT\" "
		"},"
		"  { \"names\": [\"dup\"], \"action\": \"SCMP_ACT_ALLOW\", \"args\": ["
		"    { \"index\": 0, \"value\": 5, \"op\": \"SCMP_CMP_EQ\" },"
		"    { \"index\": 0, \"value\": 7, \"op\": \"SCMP_CMP_EQ\" } ] },"
		"  { \"names\": [\"pipe2\"], \"action\": \"SCMP_ACT_ALLOW\","
		"    \"includes\": { \"minKernel\": \"5.11\" } },"
		"  { \"names\": [\"tee\"], \"action\": \"SCMP_ACT_ALLOW\","
		"    \"includes\": { \"minKernel\": \"5.10\", \"caps\": [\"CAP_CHOWN\"] } },"
		"  { \"names\": [\"splice\"], \"action\": \"SCMP_ACT_ALLOW\","
		"    \"excludes\": { \"caps\": [\"CAP_CHOWN\", \"CAP_FUTURE\"] } },"
		"  { \"names\": [\"sync\"], \"action\": \"SCMP_ACT_ALLOW\","
		"    \"includes\": { \"arches\": [\"mips\"] } } ] }";
	struct seccomp_filter f;
	struct err e;

	assert(compile(text, CAPABILITY_BIT(0), &f, &e) == 0);
	assert(f.flags == SECCOMP_FILTER_FLAG_LOG);
	assert(by_name(&f, "read", 0) == SECCOMP_RET_ALLOW);
	assert(by_name(&f, "write", 0) == ERRNO(EPERM));
	assert(by_name(&f, "close", 0) == ERRNO(ENOENT));
	assert(by_name(&f, "dup", 5) == SECCOMP_RET_ALLOW);
	assert(by_name(&f, "dup", 6) == ERRNO(ENOSYS));
	assert(by_name(&f, "dup", 7) == SECCOMP_RET_ALLOW);
	assert(by_name(&f, "pipe2", 0) == ERRNO(ENOSYS));
	assert(by_name(&f, "tee", 0) == SECCOMP_RET_ALLOW);
	assert(by_name(&f, "splice", 0) == ERRNO(ENOSYS));
	assert(by_name(&f, "sync", 0) == ERRNO(ENOSYS));
	free(f.program.filter);
}

static void what_is_wrong_in_a_profile_is_named(void)
{
	static const struct {
		int code;
		const char *text, *why;
	} table[] = {
		{ EINVAL, "", "line 1: '[' or '{' expected near end of file" },
		{ EINVAL, "[]", "not a JSON object" },
		{ EINVAL, "{\"a\":1,\"a\":2}", "line 1: duplicate object key near '\"a\"'" },
		{ EINVAL, "{}", "profile: defaultAction is missing" },
		{ EINVAL, "{\"defaultAction\":\"ALLOW\"}", "profile: unknown action 'ALLOW'" },
		{ EINVAL, "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":4096}",
		  "profile: defaultErrnoRet is not a number from 0 to 4095" },
		{ EINVAL, "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrno\":\"ENOTHING\"}",
		  "profile: unknown errno 'ENOTHING'" },
		{ ENOTSUP, "{\"defaultAction\":\"SCMP_ACT_NOTIFY\"}",
		  "profile: SCMP_ACT_NOTIFY needs an agent" },
		{ EINVAL, "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"architectures\":[\"Z80\"]}",
		  "unknown architecture 'Z80'" },
		{ EINVAL, "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"flags\":[7]}",
		  "unknown flag ''" },
#define ENTRY(text) "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{" text "}]}"
#define KILL "\"names\":[\"read\"],\"action\":\"SCMP_ACT_KILL\","
		{ EINVAL, ENTRY(""), "syscalls[0]: names are missing" },
		{ EINVAL, ENTRY("\"names\":[\"read\"]"), "syscalls[0]: action is missing" },
		{ EINVAL, ENTRY("\"names\":[5],\"action\":\"SCMP_ACT_KILL\""),
		  "syscalls[0]: a name is no text" },
		{ EINVAL, ENTRY(KILL "\"includes\":{\"minKernel\":\"new\"}"),
		  "syscalls[0]: minKernel 'new' is not like 4.8" },
		{ EINVAL, ENTRY(KILL "\"args\":[{\"index\":6,\"value\":0,\"op\":\"SCMP_CMP_EQ\"}]"),
		  "syscalls[0]: args: index 6 is not 0 to 5" },
		{ EINVAL, ENTRY(KILL "\"args\":[{\"index\":0,\"value\":0,\"op\":\"==\"}]"),
		  "syscalls[0]: unknown operator '=='" },
		{ EINVAL, ENTRY(KILL "\"args\":[{\"index\":0,\"op\":\"SCMP_CMP_EQ\"}]"),
		  "syscalls[0]: args: Object item not found: value" },
	};
	struct seccomp_filter f;
	struct err e;

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		int r = compile(table[i].text, 0, &f, &e);

		if (r != -table[i].code || strcmp(e.text, table[i].why) != 0)
			fprintf(stderr, "%s: %d, %s\n", table[i].text, r, e.text);
		assert(r == -table[i].code && strcmp(e.text, table[i].why) == 0);
	}
}

/* The same rules from libseccomp alone, and after bpf_compact(): equal for every number. */
static void compact_programs_give_the_same_answers(void)
{
	static const uint64_t args[] = { 0, 1, 8, 38, 40, 0x20000, UINT32_MAX, UINT64_C(1) << 32 };
	struct sock_fprog before, after;
	struct err e;

	for (unsigned int seed = 1; seed <= 12; seed++) {
		scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
		FILE *file = tmpfile();

		srandom(seed);
		assert(filter != NULL && file != NULL);
		if (seed % 2 == 0)
			assert(seccomp_arch_add(filter, SCMP_ARCH_X86) <= 0);
		if (seed % 3 == 0)
			assert(seccomp_arch_add(filter, SCMP_ARCH_X32) <= 0);
		(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, seed % 4 == 0 ? 1 : 2);
		for (int nr = 0; nr < 400; nr++) {
			uint32_t action =
				nr / 8 * seed % 3 ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM);
			scmp_datum_t value = args[(size_t)random() % 8];

			if (random() % 20 == 0)
				(void)seccomp_rule_add(filter, action, nr, 1,
						       SCMP_A0(SCMP_CMP_GE, value));
			else if (random() % 50 != 0)
				(void)seccomp_rule_add(filter, action, nr, 0);
		}
		assert(seccomp_export_bpf(filter, fileno(file)) == 0);
		assert(fseek(file, 0, SEEK_END) == 0);
		before.len = (unsigned short)((size_t)ftell(file) / sizeof *before.filter);
		rewind(file);
		before.filter = malloc(before.len * sizeof *before.filter);
		after = before;
		after.filter = malloc(before.len * sizeof *before.filter);
		assert(fread(before.filter, sizeof *before.filter, before.len, file) == before.len);
		memcpy(after.filter, before.filter, before.len * sizeof *before.filter);
		assert(bpf_compact(&after, &e) == 0);
		assert(after.len < before.len);
		for (int nr = -2; nr < 600; nr++)
			for (size_t a = 0; a < 8; a++)
				for (int x32 = 0; x32 < 2; x32++) {
					int n = x32 ? nr | 0x40000000 : nr;

					assert(answer(&before, AUDIT_ARCH_X86_64, n, args[a]) ==
					       answer(&after, AUDIT_ARCH_X86_64, n, args[a]));
					assert(answer(&before, AUDIT_ARCH_I386, n, args[a]) ==
					       answer(&after, AUDIT_ARCH_I386, n, args[a]));
					assert(answer(&before, AUDIT_ARCH_M68K, n, args[a]) ==
					       answer(&after, AUDIT_ARCH_M68K, n, args[a]));
				}
		free(before.filter);
		free(after.filter);
		seccomp_release(filter);
		(void)fclose(file);
	}
}

static void programs_of_others_are_left_alone(void)
{
	struct sock_filter code[] = {
		{ BPF_LD | BPF_IMM, 0, 0, 1 },
		{ BPF_RET | BPF_A, 0, 0, 0 },
	};
	struct sock_fprog program = { 2, code };
	struct err e;

	assert(bpf_compact(&program, &e) == 0);
	assert(program.len == 2 && code[0].code == (BPF_LD | BPF_IMM));
	program.len = 0;
	assert(bpf_compact(&program, &e) == 0 && program.len == 0);
}

int main(void)
{
	the_default_allows_what_programs_do();
	the_default_refuses_what_reaches_the_host();
	what_is_unknown_does_not_exist();
	capabilities_open_their_part_of_the_default();
	a_profile_of_an_engine_is_read();
	what_is_wrong_in_a_profile_is_named();
	compact_programs_give_the_same_answers();
	programs_of_others_are_left_alone();
	return 0;
}
