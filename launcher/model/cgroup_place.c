/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/cgroup_place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

/* A piece of somebody else's text. */
struct span {
	const char *at;
	size_t len;
};

static bool span_is(struct span s, const char *word)
{
	return s.len == strlen(word) && memcmp(s.at, word, s.len) == 0;
}

/* Cuts the part before `separator` (or all) off the front of *rest. */
static struct span span_cut(struct span *rest, char separator)
{
	const char *found = rest->len > 0 ? memchr(rest->at, separator, rest->len) : NULL;
	struct span head = { rest->at, found ? (size_t)(found - rest->at) : rest->len };
	size_t used = head.len + (found ? 1 : 0);

	rest->at += used;
	rest->len -= used;
	return head;
}

static bool span_list_has(struct span list, const char *word)
{
	while (list.len > 0)
		if (span_is(span_cut(&list, ','), word))
			return true;
	return false;
}

static unsigned int octal(char digit)
{
	return (unsigned int)(digit - '0') & 7;
}

/* The kernel writes space, tab, newline and backslash as \ooo.  Returns the length, or -1 where
 * it does not fit. */
static int unescape(struct span s, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++, n++) {
		unsigned char c = (unsigned char)s.at[i];

		if (n + 1 >= size)
			return -1;
		if (c == '\\' && i + 3 < s.len) {
			c = (unsigned char)(octal(s.at[i + 1]) << 6 | octal(s.at[i + 2]) << 3 |
					    octal(s.at[i + 3]));
			i += 3;
		}
		out[n] = (char)c;
	}
	out[n] = '\0';
	return (int)n;
}

/* Finds our line, "ID:CONTROLLERS:PATH" in v1 or "0::PATH" in v2. */
static bool find_own(const char *self_cgroup, const char *controller, bool *ret_unified,
		     struct span *ret_path)
{
	struct span rest = { self_cgroup, strlen(self_cgroup) };
	bool found = false;

	while (rest.len > 0) {
		struct span line = span_cut(&rest, '\n');
		struct span id = span_cut(&line, ':');
		struct span list = span_cut(&line, ':');
		bool v1 = span_list_has(list, controller);

		if (v1 || (!found && span_is(id, "0") && list.len == 0)) {
			*ret_path = line;
			*ret_unified = !v1;
			found = true;
			if (v1)
				break;
		}
	}
	return found;
}

/* "ID PARENT MAJOR:MINOR ROOT MOUNTPOINT OPTIONS [TAG...] - TYPE SOURCE SUPEROPTIONS" */
static bool mount_matches(struct span line, bool unified, const char *controller,
			  struct span *ret_root, struct span *ret_point)
{
	struct span type, options;

	for (int i = 0; i < 3; i++)
		(void)span_cut(&line, ' ');
	*ret_root = span_cut(&line, ' ');
	*ret_point = span_cut(&line, ' ');
	while (line.len > 0 && !span_is(span_cut(&line, ' '), "-"))
		;
	type = span_cut(&line, ' ');
	(void)span_cut(&line, ' ');
	options = span_cut(&line, ' ');
	if (unified)
		return span_is(type, "cgroup2");
	return span_is(type, "cgroup") && span_list_has(options, controller);
}

/* Writes MOUNTPOINT + (PATH less ROOT); false where PATH does not lie beneath ROOT. */
static bool join(struct span root, struct span point, struct span path, struct cgroup_place *ret)
{
	char top[PATH_MAX];
	int top_len = unescape(root, top, sizeof top);
	int dir_len = unescape(point, ret->dir, sizeof ret->dir);

	if (top_len < 0 || dir_len < 0)
		return false;
	if (strcmp(top, "/") == 0)
		top_len = 0;
	if (path.len < (size_t)top_len || memcmp(path.at, top, (size_t)top_len) != 0)
		return false;
	path.at += top_len;
	path.len -= (size_t)top_len;
	if (path.len > 0 && path.at[0] != '/')
		return false;
	while (path.len > 0 && path.at[path.len - 1] == '/')
		path.len--;
	if (path.len >= 3 && memcmp(path.at, "/..", 3) == 0 && (path.len == 3 || path.at[3] == '/'))
		return false; /* above the root of our cgroup namespace */
	if ((size_t)dir_len + path.len >= sizeof ret->dir)
		return false;
	ret->mount_len = (size_t)dir_len;
	memcpy(ret->dir + dir_len, path.at, path.len);
	ret->dir[(size_t)dir_len + path.len] = '\0';
	return true;
}

int cgroup_place_find(const char *self_cgroup, const char *mountinfo, const char *controller,
		      struct cgroup_place *ret, struct err *e)
{
	struct span rest = { mountinfo, strlen(mountinfo) };
	struct span path = { 0 };

	if (!find_own(self_cgroup, controller, &ret->unified, &path))
		return err_set(e, ENOENT, "no cgroup tree has the controller '%s'", controller);
	while (rest.len > 0) {
		struct span root, point;

		if (mount_matches(span_cut(&rest, '\n'), ret->unified, controller, &root, &point) &&
		    join(root, point, path, ret))
			return 0;
	}
	return err_set(e, ENOENT, "our own cgroup is mounted nowhere, controller '%s'", controller);
}
