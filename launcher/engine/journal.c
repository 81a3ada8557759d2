/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"

enum { ENTRY_EVERY_S = 5, RETRY_AFTER_S = 1, LEASE_MARGIN_S = 1 };

#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"

static int read_moment(struct timeline_moment *ret_now, struct err *e)
{
	struct timeline_moment now = { 0 };
	char id[TIMELINE_BOOT_ID_SIZE + 1]; /* with its newline */
	int r = file_read(BOOT_ID_FILE, id, sizeof id, e);

	if (r < 0)
		return r;
	memcpy(now.boot_id, id, strcspn(id, "\n"));
	now.realtime = clock_offset_from_ns(clock_now_ns(CLOCK_REALTIME));
	now.clocks.monotonic = clock_offset_from_ns(clock_now_ns(CLOCK_MONOTONIC));
	now.clocks.boottime = clock_offset_from_ns(clock_now_ns(CLOCK_BOOTTIME));
	*ret_now = now;
	return 0;
}

/* ---- the file and its lock ---- */

static int open_folder(struct journal *j, struct err *e)
{
	const char *slash = strrchr(j->path, '/');
	char folder[4096];

	j->name = slash != NULL ? slash + 1 : j->path;
	(void)snprintf(folder, sizeof folder, "%.*s",
		       slash != NULL ? (int)(slash - j->path) + 1 : 1,
		       slash != NULL ? j->path : ".");
	if (j->name[0] == '\0' || strlen(j->name) > 250 || strlen(j->path) >= sizeof folder)
		return err_set(e, EINVAL, "'%.100s' cannot be the name of a file", j->path);
	(void)snprintf(j->next_name, sizeof j->next_name, "%s.new", j->name);
	j->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return j->folder < 0 ? err_set(e, errno, "cannot open the folder %s", folder) : 0;
}

static int lock(int file, const char *path, struct err *e)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat s;

	if (fstat(file, &s) < 0 || !S_ISREG(s.st_mode))
		return err_set(e, EINVAL, "%s is not a regular file", path);
	if (fcntl(file, F_OFD_SETLK, &whole) == 0)
		return 0;
	if (errno != EAGAIN && errno != EACCES)
		return err_set(e, errno, "cannot lock %s", path);
	(void)err_set(e, EBUSY, "%s is in use by another run", path);
	return err_hint(e,
			"a timeline belongs to one service: give the other one a FILE of its own");
}

/* Is this the file that has the name now?  Each entry is a new file: while we waited for one, the
 * next may have taken its place. */
static bool is_named(const struct journal *j, int file, const char *name)
{
	struct stat ours, named;

	return fstat(file, &ours) == 0 &&
	       fstatat(j->folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

/* Opens and locks FILE (flags 0) or FILE.new (O_CREAT).  *ret_file is -1 if there is none. */
static int open_locked(const struct journal *j, const char *name, int flags, int *ret_file,
		       struct err *e)
{
	for (int tries = 0; tries < 10; tries++) {
		autoclose int file =
			openat(j->folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0644);
		int r;

		*ret_file = -1;
		if (file < 0 && errno == ENOENT)
			return 0;
		if (file < 0 && errno == ELOOP) {
			(void)err_set(e, ELOOP, "%s is a symbolic link", j->path);
			return err_hint(e, "entries are renamed over FILE: name the file itself");
		}
		if (file < 0)
			return err_set(e, errno, "cannot open %s%s", j->path, flags ? ".new" : "");
		r = lock(file, j->path, e);
		if (r < 0)
			return r;
		if (is_named(j, file, name)) {
			*ret_file = take_fd(&file);
			return 0;
		}
	}
	return err_set(e, EBUSY, "%s is in use by another run", j->path);
}

static int write_next(const struct journal *j, int next, const char *text, size_t length,
		      struct err *e)
{
	ssize_t n = ftruncate(next, 0);

	/* The next write says why the one before it was short. */
	for (size_t done = 0; n >= 0 && done < length; done += (size_t)n)
		n = pwrite(next, text + done, length - done, (off_t)done);
	if (n >= 0 && fsync(next) == 0)
		return 0;
	(void)err_set(e, errno, "cannot write %s.new", j->path);
	if (e->code == ENOSPC || e->code == EDQUOT)
		return err_hint(e, "make room there, or keep FILE on another file system");
	return e->code == EFBIG ? err_hint(e, "raise the limit on files, ulimit -f") : -e->code;
}

/* The first entry must not replace a timeline that somebody has begun just now. */
static int put_in_place(const struct journal *j, struct err *e)
{
	unsigned int flags = j->file < 0 ? RENAME_NOREPLACE : 0;
	int r = renameat2(j->folder, j->next_name, j->folder, j->name, flags);

	/* NFS knows no flags; there the moment between these two calls is left open. */
	if (r < 0 && errno == EINVAL && faccessat(j->folder, j->name, F_OK, 0) < 0)
		r = renameat(j->folder, j->next_name, j->folder, j->name);
	if (r < 0 && errno == EEXIST)
		return err_set(e, EEXIST, "another run has begun %s in the meantime", j->path);
	return r < 0 ? err_set(e, errno, "cannot rename %s.new to %s", j->path, j->path) : 0;
}

/* Puts the entry on disk under the name of the timeline; the lock goes over to it. */
static int write_entry(struct journal *j, const struct timeline_entry *entry, struct err *e)
{
	char text[TIMELINE_TEXT_SIZE];
	size_t length = timeline_format(entry, text);
	autoclose int next = -1, old = -1;
	int r = open_locked(j, j->next_name, O_CREAT, &next, e);

	if (r < 0)
		return r;
	r = write_next(j, next, text, length, e);
	if (r == 0)
		r = put_in_place(j, e);
	if (r < 0) {
		(void)unlinkat(j->folder, j->next_name, 0); /* the error above is the one to tell */
		return r;
	}
	if (fsync(j->folder) < 0 && errno != EINVAL) /* some filesystems cannot, fsync(2) */
		return err_set(e, errno, "cannot sync the folder of %s", j->path);
	old = j->file;
	j->file = take_fd(&next);
	return 0;
}

/* ---- the parts of a run ---- */

static void set_timer(int fd, int flags, struct clock_offset when)
{
	struct itimerspec spec = { .it_value = { .tv_sec = when.s, .tv_nsec = when.ns } };

	(void)timerfd_settime(fd, flags, &spec, NULL); /* cannot fail with these values */
}

static int record(struct journal *j, bool running, struct err *e)
{
	struct clock_offset lease = { .s = TIMELINE_RESERVE_S - LEASE_MARGIN_S };
	struct timeline_moment now;
	struct timeline_entry entry;
	int r = read_moment(&now, e);

	if (r < 0)
		return r;
	entry = timeline_record(&j->shift, j->starts, running, &now);
	r = write_entry(j, &entry, e);
	if (r < 0)
		return r;
	set_timer(j->lease, TFD_TIMER_ABSTIME, clock_offset_add(now.clocks.monotonic, lease));
	set_timer(j->alarm, 0, (struct clock_offset){ .s = ENTRY_EVERY_S });
	return 0;
}

static int read_entry(int file, const char *path, struct timeline_entry *ret_entry, struct err *e)
{
	char text[TIMELINE_TEXT_SIZE + 1];
	struct err reason;
	ssize_t n = pread(file, text, sizeof text, 0);
	int r;

	if (n < 0)
		return err_set(e, errno, "cannot read %s", path);
	r = timeline_parse(text, (size_t)n, ret_entry, &reason);
	if (r == 0)
		return 0;
	(void)err_set(e, reason.code, "%.100s: %.140s", path, reason.text);
	return err_hint(e, "restore it from a copy, or move it away: a new timeline then begins");
}

int journal_open(const char *path, enum timeline_mode mode, struct clock_targets *targets,
		 struct journal *ret_journal, struct err *e)
{
	struct journal j = { .path = path, .file = -1, .starts = 1 };
	struct timeline_moment now = { 0 };
	struct timeline_entry last = { 0 };
	struct clock_offsets start;
	int r;

	r = open_folder(&j, e);
	if (r == 0)
		r = open_locked(&j, j.name, 0, &j.file, e);
	if (r == 0 && j.file >= 0)
		r = read_entry(j.file, path, &last, e);
	if (r == 0)
		r = read_moment(&now, e);
	if (r < 0)
		return r;
	j.lease = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	/* Goes off as soon as a host that has slept wakes, as its time inside went on. */
	j.alarm = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (j.lease < 0 || j.alarm < 0)
		return err_set(e, errno, "cannot create a timer");

	/* Shifts, and no readings, so that this side knows them as well as the child. */
	if (j.file >= 0) {
		j.starts = last.starts + 1;
		start = timeline_resume(&last, mode, &now);
	} else {
		start = clock_targets_start(targets, &now.clocks);
	}
	j.shift.monotonic = clock_offset_sub(start.monotonic, now.clocks.monotonic);
	j.shift.boottime = clock_offset_sub(start.boottime, now.clocks.boottime);
	*targets = (struct clock_targets){ { CLOCK_SHIFTED, j.shift.monotonic },
					   { CLOCK_SHIFTED, j.shift.boottime } };
	*ret_journal = j;
	return 0;
}

int journal_begin(struct journal *j, struct err *e)
{
	int r = record(j, true, e);

	j->begun = r == 0;
	return r;
}

void journal_tick(struct journal *j)
{
	struct err e = { 0 };

	if (record(j, true, &e) == 0)
		return;
	log_warning("timeline: %s: %s; the container is ended if this lasts", e.text,
		    strerror(e.code));
	set_timer(j->alarm, 0, (struct clock_offset){ .s = RETRY_AFTER_S });
}

void journal_end(struct journal *j)
{
	struct err e = { 0 };

	if (j->begun && !j->ran && j->starts == 1)
		(void)unlinkat(j->folder, j->name, 0); /* it then goes on from its first entry */
	else if (j->begun && record(j, false, &e) < 0)
		log_warning("timeline: %s: %s; the next start goes on from what was reserved",
			    e.text, strerror(e.code));
	j->begun = false;
}

int journal_read(const char *path, struct timeline_entry *ret_entry, bool *ret_in_use,
		 struct err *e)
{
	autoclose int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct flock whole = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	if (file < 0)
		return err_set(e, errno, "cannot open %s", path);
	/* Only asks: to take the lock, even for a moment, could get in the way of a start. */
	*ret_in_use = fcntl(file, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
	return read_entry(file, path, ret_entry, e);
}
