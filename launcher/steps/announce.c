/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps/announce.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "model/clock_offset.h"
#include "model/namespaces.h"

int announce_take_name(const char *name, int *ret_lock, struct err *e)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	autoclose int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "timens-run/%u/%s",
			      geteuid(), name);

	if (s < 0)
		return err_set(e, errno, "cannot open a socket");
	if (bind(s, (struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) < 0) {
		(void)err_set(e, errno, "cannot take the name '%s'", name);
		if (e->code == EADDRINUSE)
			return err_hint(e, "a container of yours with this name is running");
		return -e->code;
	}
	*ret_lock = take_fd(&s);
	return 0;
}

int announce_pid_file(const char *path, pid_t pid, struct err *e)
{
	autoclose int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0) {
		(void)err_set(e, errno, "cannot make %s", path);
		if (e->code == EEXIST)
			return err_hint(e, "a launcher that was killed leaves it: remove it if "
					   "nothing runs");
		return -e->code;
	}
	if (dprintf(fd, "%d\n", pid) >= 0)
		return 0;
	(void)err_set(e, errno, "cannot write %s", path);
	(void)unlink(path); /* an empty one would be taken for ours */
	return -e->code;
}

static int format_info(pid_t pid, char *text, size_t size, struct err *e)
{
	char path[64], link[64], lines[160];
	struct clock_offsets o;
	size_t at = (size_t)snprintf(text, size, "{\"pid\": %d, \"namespaces\": {", pid);
	int r;

	for (enum namespace_kind k = 0; k < NS_COUNT; k++) {
		ssize_t n;

		snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, namespaces[k].name);
		n = readlink(path, link, sizeof link);
		if (n < 0)
			return err_set(e, errno, "cannot read %s", path);
		at += (size_t)snprintf(text + at, size - at, "%s\"%s\": \"%.*s\"",
				       k > 0 ? ", " : "", namespaces[k].name, (int)n, link);
	}
	snprintf(path, sizeof path, "/proc/%d/timens_offsets", pid);
	r = file_read(path, lines, sizeof lines, e);
	if (r < 0)
		return r;
	if (!clock_offsets_parse(lines, &o))
		return err_set(e, EPROTO, "%s has an unknown form", path);
	at += (size_t)snprintf(text + at, size - at,
			       "}, \"offsets\": {\"monotonic\": {\"s\": %" PRId64
			       ", \"ns\": %" PRIu32 "}, \"boottime\": {\"s\": %" PRId64
			       ", \"ns\": %" PRIu32 "}}}\n",
			       o.monotonic.s, o.monotonic.ns, o.boottime.s, o.boottime.ns);
	return (int)at;
}

int announce_info(int fd, pid_t pid, struct err *e)
{
	char text[1024];
	int length = format_info(pid, text, sizeof text, e);

	if (length < 0)
		return length;
	if (write(fd, text, (size_t)length) != length)
		return err_set(e, errno, "cannot write to descriptor %d", fd);
	close(fd); /* so that a reader of a pipe sees the end */
	return 0;
}
