/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* compile.c - build-time program: the default profile in, C arrays with its filter out
 *
 * usage: compile-seccomp PROFILE.json OUTPUT.c
 *
 * Built for and run on the machine that builds, so it writes for that machine's architecture.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "front/seccomp_profile.h"

enum { TEXT_MAX = 1 << 20, BYTES_A_LINE = 16 };

static void write_program(FILE *out, const struct sock_fprog *program)
{
	fprintf(out, "static const struct sock_filter code[] = {\n");
	for (size_t i = 0; i < program->len; i++) {
		const struct sock_filter *line = &program->filter[i];

		fprintf(out, "\t{ 0x%02x, %u, %u, 0x%08" PRIx32 " },\n", line->code, line->jt,
			line->jf, line->k);
	}
	fprintf(out, "};\n\n"
		     "const struct seccomp_filter seccomp_default_filter = {\n"
		     "\t.program = { sizeof code / sizeof *code, (struct sock_filter *)code },\n"
		     "};\n\n");
}

static void write_text(FILE *out, const char *text, size_t length)
{
	fprintf(out, "const char seccomp_default_profile[] = {");
	for (size_t i = 0; i <= length; i++)
		fprintf(out, "%s0x%02x,", i % BYTES_A_LINE == 0 ? "\n\t" : " ",
			(unsigned char)text[i]);
	fprintf(out, "\n};\n");
}

int main(int argc, char **argv)
{
	/* No capability and no kernel version: what the default container has. */
	const struct profile_facts facts = { 0 };
	autofree char *text = malloc(TEXT_MAX);
	struct seccomp_filter filter;
	struct err e = { 0 };
	FILE *out;

	if (argc != 3 || text == NULL)
		return EXIT_FAILURE;
	if (file_read(argv[1], text, TEXT_MAX, &e) < 0 ||
	    seccomp_profile_compile(text, strlen(text), &facts, &filter, &e) < 0) {
		fprintf(stderr, "compile-seccomp: %s: %s: %s\n", argv[1], e.text, strerror(e.code));
		return EXIT_FAILURE;
	}
	out = fopen(argv[2], "we");
	if (out == NULL) {
		perror(argv[2]);
		return EXIT_FAILURE;
	}
	fprintf(out,
		"/* Made from %s by compile-seccomp: %u instructions. */\n"
		"#include \"front/seccomp_default.h\"\n\n",
		argv[1], filter.program.len);
	write_program(out, &filter.program);
	write_text(out, text, strlen(text));
	free(filter.program.filter);
	return fclose(out) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
