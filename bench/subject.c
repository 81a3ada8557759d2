/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "subject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vdso.h"

/* Far enough not to fire, and never the first timer of the CPU to expire: re-arming it does not
 * reprogram the hardware. */
#define TIMER_S 3600

#define WARM_UP_SLEEP_NS 1000000

static struct timespec in_an_hour(const struct metric *m)
{
	struct timespec t = { 0 };

	if (m->flags & TIMER_ABSTIME)
		(void)clock_gettime(m->clock, &t);
	t.tv_sec += TIMER_S;
	return t;
}

static int open_timer(struct subject *s, struct problem *p)
{
	const struct metric *m = s->metric;
	int id;

	s->data.timer.it_value = in_an_hour(m);
	if (syscall(SYS_timer_create, m->clock, &s->event, &id) < 0)
		return problem_set(p, errno, NULL, "%s: cannot create a timer", m->name);
	s->timer = id;
	if (syscall(SYS_timer_settime, id, m->flags, &s->data.timer, NULL) < 0)
		return problem_set(p, errno, NULL, "%s: cannot arm the timer", m->name);
	s->arg0 = id;
	s->first.arg1 = m->flags;
	s->first.arg2 = (long)&s->data.timer;
	return 0;
}

static int open_timerfd(struct subject *s, struct problem *p)
{
	const struct metric *m = s->metric;

	s->data.timer.it_value = in_an_hour(m);
	s->fd = (int)syscall(SYS_timerfd_create, m->clock, 0);
	if (s->fd < 0)
		return problem_set(p, errno, NULL, "%s: cannot create a timer file", m->name);
	s->arg0 = s->fd;
	s->first.arg1 = m->flags;
	s->first.arg2 = (long)&s->data.timer;
	return 0;
}

/* The handles are read and written as longs; the kernel fills the lower half of each. */
static int open_handles(struct subject *s, uint32_t batch, struct problem *p)
{
	s->handles = calloc(batch, sizeof *s->handles);
	if (!s->handles)
		return problem_set(p, errno, NULL, "%s: a batch of %u", s->metric->name, batch);
	s->arg0 = s->metric->clock;
	s->second.arg0 = s->handles;
	s->second.arg0_step = sizeof *s->handles;
	return 0;
}

static int open_timer_pairs(struct subject *s, uint32_t batch, struct problem *p)
{
	if (open_handles(s, batch, p) < 0)
		return -1;
	s->first.number = SYS_timer_create;
	s->first.arg1 = (long)&s->event;
	s->first.arg2 = (long)s->handles;
	s->first.arg2_step = sizeof *s->handles;
	s->second.number = SYS_timer_delete;
	return 0;
}

/* A table of files that grows inside a batch would be timed with it: grow it before. */
static int grow_file_table(uint32_t batch, struct problem *p)
{
	static const char hint[] = "use a smaller --batch, or raise the limit: ulimit -n";
	const rlim_t wanted = batch + 64;
	struct rlimit limit;
	int spare, high;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
		limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit); /* fcntl() below says what is missing */
	}
	spare = (int)syscall(SYS_timerfd_create, CLOCK_MONOTONIC, 0);
	if (spare < 0)
		return problem_set(p, errno, NULL, "cannot create a timer file");
	high = fcntl(spare, F_DUPFD_CLOEXEC, wanted - 1);
	if (high < 0)
		(void)problem_set(p, errno, hint, "%u open files", batch);
	else
		(void)close(high);
	(void)close(spare);
	return high < 0 ? -1 : 0;
}

static int open_timerfd_pairs(struct subject *s, uint32_t batch, struct problem *p)
{
	if (grow_file_table(batch, p) < 0 || open_handles(s, batch, p) < 0)
		return -1;
	s->first.number = SYS_timerfd_create;
	s->first.result = s->handles;
	s->first.result_step = sizeof *s->handles;
	s->second.number = SYS_close;
	return 0;
}

/* The slack may be changed for the calling thread only, and only by itself; 1 ns is the least
 * that is not "the default". */
static int open_sleep(struct subject *s, struct problem *p)
{
	const struct timespec warm_up = { .tv_nsec = WARM_UP_SLEEP_NS };
	const struct metric *m = s->metric;

	if (prctl(PR_SET_TIMERSLACK, 1) < 0)
		return problem_set(p, errno, NULL, "%s: PR_SET_TIMERSLACK", m->name);
	s->data.time.tv_nsec = SLEEP_NS;
	if (m->number == SYS_nanosleep) {
		s->arg0 = (long)&s->data.time;
	} else {
		s->arg0 = m->clock;
		s->first.arg1 = m->flags;
		s->first.arg2 = (long)&s->data.time;
	}
	(void)nanosleep(&warm_up, NULL);
	return 0;
}

static int open_by_kind(struct subject *s, uint32_t batch, struct problem *p)
{
	switch (s->metric->subject) {
	case SUBJECT_CLOCK:
		s->arg0 = s->metric->clock;
		s->arg1 = s->first.arg1 = (long)&s->data.time;
		return 0;
	case SUBJECT_TIME_OF_DAY:
		s->arg0 = (long)&s->data.time_of_day;
		return 0;
	case SUBJECT_TIMER:
		return open_timer(s, p);
	case SUBJECT_TIMER_PAIRS:
		return open_timer_pairs(s, batch, p);
	case SUBJECT_TIMERFD:
		return open_timerfd(s, p);
	case SUBJECT_TIMERFD_PAIRS:
		return open_timerfd_pairs(s, batch, p);
	case SUBJECT_SLEEP:
		return open_sleep(s, p);
	case SUBJECT_NOTHING:
	case SUBJECT_COUNTER:
		break;
	}
	return 0;
}

int subject_open(struct subject *s, const struct metric *m, uint32_t batch, struct problem *p)
{
	*s = (struct subject){
		.metric = m,
		.first = { .number = m->number, .arg0 = &s->arg0, .result = &s->discarded },
		.second = { .arg0 = &s->arg0, .result = &s->discarded },
		.fd = -1,
		.timer = -1,
		.event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN },
	};
	if (m->route == ROUTE_VDSO) {
		s->function = vdso_function(m->symbol);
		if (!s->function)
			return problem_set(p, 0, "the raw metrics do not need it",
					   "%s: the kernel maps no vDSO with %s", m->name,
					   m->symbol);
	} else if (m->route == ROUTE_LIBC) {
		s->function = m->function;
	}
	return open_by_kind(s, batch, p);
}

void subject_close(struct subject *s)
{
	if (s->timer >= 0)
		(void)syscall(SYS_timer_delete, (int)s->timer);
	if (s->fd >= 0)
		(void)close(s->fd);
	free(s->handles);
}

long subject_run(const struct subject *s, uint32_t n)
{
	if (s->function)
		return loop_function(s->function, s->arg0, s->arg1, n);
	if (s->metric->subject == SUBJECT_COUNTER) {
		loop_counter(n);
		return 0;
	}
	return loop_syscall(&s->first, n);
}

long subject_undo(const struct subject *s, uint32_t n)
{
	return loop_syscall(&s->second, n);
}

void subject_aim(struct subject *s)
{
	if (!(s->metric->flags & TIMER_ABSTIME))
		return;
	(void)clock_gettime(s->metric->clock, &s->data.time);
	s->data.time.tv_nsec += SLEEP_NS;
	if (s->data.time.tv_nsec >= 1000000000) {
		s->data.time.tv_nsec -= 1000000000;
		s->data.time.tv_sec++;
	}
}

bool subject_failed(const struct subject *s, long results)
{
	/* Functions return an int, and leave the upper half of the register as it comes; time()
	 * alone returns a long, and cannot fail. */
	if (s->function)
		return s->metric->subject != SUBJECT_NOTHING && (int)results < 0;
	return results < 0;
}
