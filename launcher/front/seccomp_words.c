/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/seccomp_words.h"

#include <linux/seccomp.h>
#include <seccomp.h>
#include <string.h>

const struct word seccomp_actions[] = {
	{ "SCMP_ACT_ALLOW", SCMP_ACT_ALLOW, NULL },
	{ "SCMP_ACT_ERRNO", SCMP_ACT_ERRNO(0), NULL },
	{ "SCMP_ACT_KILL", SCMP_ACT_KILL_THREAD, NULL },
	{ "SCMP_ACT_KILL_PROCESS", SCMP_ACT_KILL_PROCESS, NULL },
	{ "SCMP_ACT_KILL_THREAD", SCMP_ACT_KILL_THREAD, NULL },
	{ "SCMP_ACT_LOG", SCMP_ACT_LOG, NULL },
	{ "SCMP_ACT_NOTIFY", SCMP_ACT_NOTIFY, NULL },
	{ "SCMP_ACT_TRACE", SCMP_ACT_TRACE(0), NULL },
	{ "SCMP_ACT_TRAP", SCMP_ACT_TRAP, NULL },
	{ NULL, 0, NULL },
};

const struct word seccomp_operators[] = {
	{ "SCMP_CMP_EQ", SCMP_CMP_EQ, NULL }, { "SCMP_CMP_GE", SCMP_CMP_GE, NULL },
	{ "SCMP_CMP_GT", SCMP_CMP_GT, NULL }, { "SCMP_CMP_LE", SCMP_CMP_LE, NULL },
	{ "SCMP_CMP_LT", SCMP_CMP_LT, NULL }, { "SCMP_CMP_MASKED_EQ", SCMP_CMP_MASKED_EQ, NULL },
	{ "SCMP_CMP_NE", SCMP_CMP_NE, NULL }, { NULL, 0, NULL },
};

const struct word seccomp_architectures[] = {
	{ "SCMP_ARCH_AARCH64", SCMP_ARCH_AARCH64, "arm64" },
	{ "SCMP_ARCH_ARM", SCMP_ARCH_ARM, "arm" },
	{ "SCMP_ARCH_MIPS", SCMP_ARCH_MIPS, "mips" },
	{ "SCMP_ARCH_MIPS64", SCMP_ARCH_MIPS64, "mips64" },
	{ "SCMP_ARCH_MIPS64N32", SCMP_ARCH_MIPS64N32, "mips64n32" },
	{ "SCMP_ARCH_MIPSEL", SCMP_ARCH_MIPSEL, "mipsel" },
	{ "SCMP_ARCH_MIPSEL64", SCMP_ARCH_MIPSEL64, "mipsel64" },
	{ "SCMP_ARCH_MIPSEL64N32", SCMP_ARCH_MIPSEL64N32, "mipsel64n32" },
	{ "SCMP_ARCH_PARISC", SCMP_ARCH_PARISC, "parisc" },
	{ "SCMP_ARCH_PARISC64", SCMP_ARCH_PARISC64, "parisc64" },
	{ "SCMP_ARCH_PPC", SCMP_ARCH_PPC, "ppc" },
	{ "SCMP_ARCH_PPC64", SCMP_ARCH_PPC64, "ppc64" },
	{ "SCMP_ARCH_PPC64LE", SCMP_ARCH_PPC64LE, "ppc64le" },
	{ "SCMP_ARCH_RISCV64", SCMP_ARCH_RISCV64, "riscv64" },
	{ "SCMP_ARCH_S390", SCMP_ARCH_S390, "s390" },
	{ "SCMP_ARCH_S390X", SCMP_ARCH_S390X, "s390x" },
	{ "SCMP_ARCH_X32", SCMP_ARCH_X32, "x32" },
	{ "SCMP_ARCH_X86", SCMP_ARCH_X86, "x86" },
	{ "SCMP_ARCH_X86_64", SCMP_ARCH_X86_64, "amd64" },
	{ NULL, 0, NULL },
};

const struct word seccomp_flags[] = {
	{ "SECCOMP_FILTER_FLAG_LOG", SECCOMP_FILTER_FLAG_LOG, NULL },
	{ "SECCOMP_FILTER_FLAG_SPEC_ALLOW", SECCOMP_FILTER_FLAG_SPEC_ALLOW, NULL },
	/* The payload has one thread when it is loaded: nothing to bring in step. */
	{ "SECCOMP_FILTER_FLAG_TSYNC", 0, NULL },
	{ "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV", SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, NULL },
	{ NULL, 0, NULL },
};

const struct word *word_find(const struct word *words, const char *name)
{
	while (words->name != NULL && (name == NULL || strcmp(words->name, name) != 0))
		words++;
	return words->name != NULL ? words : NULL;
}
