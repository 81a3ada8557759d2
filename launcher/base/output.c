/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/output.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"

int output_text(const char *text, struct err *e)
{
	if (fputs(text, stdout) == EOF) /* of a long text, a part is written out here */
		return err_set(e, errno, "cannot write to standard output");
	return output_finish(e);
}

int output_finish(struct err *e)
{
	int code = fflush(stdout) != 0 ? errno : 0;

	if (code == 0 && ferror(stdout)) /* lost earlier, when nobody looked */
		code = EIO;
	return code != 0 ? err_set(e, code, "cannot write to standard output") : 0;
}
