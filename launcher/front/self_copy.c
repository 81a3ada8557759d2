/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "front/self_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"

enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

int self_copy_enter(char **argv, struct err *e)
{
	autoclose int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	autoclose int copy = -1;
	struct stat s;

	if (self < 0 || fstat(self, &s) < 0)
		return err_set(e, errno, "cannot open our own program file");
	if (fcntl(self, F_GET_SEALS) == SEALS)
		return 0; /* we are the copy */
	copy = memfd_create("timens-oci", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (copy < 0 || sendfile(copy, self, NULL, (size_t)s.st_size) != s.st_size ||
	    fcntl(copy, F_ADD_SEALS, SEALS) < 0)
		return err_set(e, errno, "cannot make a sealed copy of our program file");
	(void)fexecve(copy, argv, environ);
	return err_set(e, errno, "cannot execute the sealed copy of our program file");
}
