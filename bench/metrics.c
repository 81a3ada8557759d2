/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "metrics.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "vdso.h"

/* Batch sizes: long enough that reading the counter (27 ns, steps of 10 ns) does not show, short
 * enough that most batches end before somebody else gets the CPU.  Pairs keep their batch alive
 * at once; from 100 to 250 of them the cost of one is flat, below and above it is not. */
#define FUNCTION .batch = 1000, .calls = 100000
#define SYSCALL .batch = 200, .calls = 20000
#define TIMERS .batch = 250, .calls = 20000
#define TIMERFDS .batch = 200, .calls = 10000
#define SLEEP .batch = 1, .calls = 10, .kind = KIND_SLEEP, .subject = SUBJECT_SLEEP

#define RAW(call) .route = ROUTE_RAW, .number = SYS_##call
#define IN_VDSO(name) .route = ROUTE_VDSO, .symbol = VDSO(name)
#define LIBC(name) .route = ROUTE_LIBC, .function = (const void *)name
#define ON(id) .clock = CLOCK_##id
#define PAPER .paper = true
#define NEGATIVE .control = CONTROL_NEGATIVE
#define POSITIVE .control = CONTROL_POSITIVE

static const char first_calls[] = "one batch before, so that no page fault is timed";
static const char one_timer[] = "creation of the timer, which never comes to expire";
static const char sleep_setup[] = "timer slack 1 ns (PR_SET_TIMERSLACK), one sleep of 1 ms before";

/* clang-format off */
const struct metric metrics[] = {
	/* The paper's Table III, in its order. */
	{ .name = "clock_getres", PAPER, RAW(clock_getres), SYSCALL, ON(MONOTONIC), NEGATIVE,
	  .subject = SUBJECT_CLOCK,
	  .timed = "clock_getres(CLOCK_MONOTONIC) by system call",
	  .outside = first_calls,
	  .source = "clock_getres(2); no time namespace code on this path" },
	{ .name = "clock_gettime_monotonic", PAPER, RAW(clock_gettime), SYSCALL, ON(MONOTONIC),
	  .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_MONOTONIC) by system call",
	  .outside = first_calls,
	  .source = "kernel/time/posix-timers.c adds the offset of every task's "
		"namespace, zero or not" },
	{ .name = "vdso_clock_gettime_monotonic", PAPER, IN_VDSO("clock_gettime"), FUNCTION,
	  ON(MONOTONIC), .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_MONOTONIC) of the vDSO",
	  .outside = first_calls,
	  .source = "do_hres_timens() in lib/vdso/gettimeofday.c: the vDSO reads a second page" },
	{ .name = "clock_gettime_boottime", PAPER, RAW(clock_gettime), SYSCALL, ON(BOOTTIME),
	  .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_BOOTTIME) by system call",
	  .outside = first_calls,
	  .source = "kernel/time/posix-timers.c adds the offset of every task's "
		"namespace, zero or not" },
	{ .name = "vdso_clock_gettime_boottime", PAPER, IN_VDSO("clock_gettime"), FUNCTION,
	  ON(BOOTTIME), .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_BOOTTIME) of the vDSO",
	  .outside = first_calls,
	  .source = "do_hres_timens() in lib/vdso/gettimeofday.c: the vDSO reads a second page" },
	{ .name = "gettimeofday", PAPER, RAW(gettimeofday), SYSCALL, NEGATIVE,
	  .subject = SUBJECT_TIME_OF_DAY,
	  .timed = "gettimeofday() by system call",
	  .outside = first_calls,
	  .source = "gettimeofday(2); no time namespace code on this path" },
	{ .name = "vdso_gettimeofday", PAPER, IN_VDSO("gettimeofday"), FUNCTION,
	  .subject = SUBJECT_TIME_OF_DAY,
	  .timed = "gettimeofday() of the vDSO",
	  .outside = first_calls,
	  .source = "CLOCK_REALTIME has no offset, but the page is swapped for the whole process" },

	{ .name = "timer_create", PAPER, RAW(timer_create), TIMERS, ON(MONOTONIC),
	  .subject = SUBJECT_TIMER_PAIRS, .partner = "timer_delete",
	  .timed = "timer_create(CLOCK_MONOTONIC), a batch of timers that stay",
	  .outside = "their deletion: timer_delete is timed from the same timers",
	  .source = "timer_create(2); charged to RLIMIT_SIGPENDING in every user "
		"namespace upwards" },
	{ .name = "timer_settime", PAPER, RAW(timer_settime), SYSCALL, ON(MONOTONIC),
	  .subject = SUBJECT_TIMER,
	  .timed = "timer_settime(0, 1 h): re-arms one armed timer",
	  .outside = one_timer,
	  .source = "timer_settime(2); a relative time needs no offset" },
	{ .name = "timer_getoverrun", PAPER, RAW(timer_getoverrun), SYSCALL, ON(MONOTONIC),
	  .subject = SUBJECT_TIMER,
	  .timed = "timer_getoverrun() of one armed timer",
	  .outside = one_timer,
	  .source = "timer_getoverrun(2); no time namespace code on this path" },
	{ .name = "timer_delete", PAPER, RAW(timer_delete), TIMERS, ON(MONOTONIC),
	  .subject = SUBJECT_TIMER_PAIRS, .is_second = true, .partner = "timer_create",
	  .timed = "timer_delete(), the batch of timers just created",
	  .outside = "their creation: timer_create is timed from the same timers",
	  .source = "timer_delete(2); gives back what was charged in every user namespace "
		"upwards" },
	{ .name = "timerfd_create", PAPER, RAW(timerfd_create), TIMERFDS, ON(MONOTONIC),
	  .subject = SUBJECT_TIMERFD_PAIRS, .partner = "timerfd_close",
	  .timed = "timerfd_create(CLOCK_MONOTONIC), a batch of files that stay open",
	  .outside = "growth of the table of files; closing: see timerfd_close",
	  .source = "timerfd_create(2); allocates an inode and a file, charged to the "
		"memory cgroup" },
	{ .name = "timerfd_settime", PAPER, RAW(timerfd_settime), SYSCALL, ON(MONOTONIC),
	  .subject = SUBJECT_TIMERFD,
	  .timed = "timerfd_settime(0, 1 h): re-arms one armed timer",
	  .outside = one_timer,
	  .source = "timerfd_settime(2); a relative time needs no offset" },

	{ .name = "nanosleep", PAPER, RAW(nanosleep), SLEEP, ON(MONOTONIC),
	  .timed = "nanosleep(100 ms), every sleep on its own",
	  .outside = sleep_setup,
	  .source = "nanosleep(2); a relative time needs no offset" },
	{ .name = "clock_nanosleep", PAPER, RAW(clock_nanosleep), SLEEP, ON(MONOTONIC),
	  .timed = "clock_nanosleep(CLOCK_MONOTONIC, 0, 100 ms), every sleep on its own",
	  .outside = sleep_setup,
	  .source = "clock_nanosleep(2); a relative time needs no offset" },

	/* Controls. */
	{ .name = "getppid", RAW(getppid), SYSCALL, NEGATIVE, .subject = SUBJECT_NOTHING,
	  .timed = "getppid() by system call: entry and exit of the kernel, little else",
	  .outside = first_calls,
	  .source = "getppid(2); no clock at all" },
#if defined(__x86_64__)
	{ .name = "rdtscp", .route = ROUTE_RAW, FUNCTION, NEGATIVE, .subject = SUBJECT_COUNTER,
	  .timed = "rdtscp and lfence: the instrument itself",
	  .outside = first_calls,
	  .source = "no kernel code at all" },
#elif defined(__aarch64__)
	{ .name = "cntvct", .route = ROUTE_RAW, FUNCTION, NEGATIVE, .subject = SUBJECT_COUNTER,
	  .timed = "isb and a read of cntvct_el0: the instrument itself",
	  .outside = first_calls,
	  .source = "no kernel code at all" },
#endif
	{ .name = "vdso_clock_gettime_monotonic_coarse", IN_VDSO("clock_gettime"), FUNCTION,
	  ON(MONOTONIC_COARSE), POSITIVE, .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_MONOTONIC_COARSE) of the vDSO",
	  .outside = first_calls,
	  .source = "do_coarse_timens() in lib/vdso/gettimeofday.c: must show the "
		"namespace, it is most of the cost" },
	{ .name = "vdso_clock_gettime_realtime_coarse", IN_VDSO("clock_gettime"), FUNCTION,
	  ON(REALTIME_COARSE), POSITIVE, .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_REALTIME_COARSE) of the vDSO",
	  .outside = first_calls,
	  .source = "do_coarse_timens() in lib/vdso/gettimeofday.c: must show the "
		"namespace, it is most of the cost" },

	/* The other clocks and functions of the vDSO. */
	{ .name = "vdso_clock_getres", IN_VDSO("clock_getres"), FUNCTION, ON(MONOTONIC),
	  .subject = SUBJECT_CLOCK,
	  .timed = "clock_getres(CLOCK_MONOTONIC) of the vDSO",
	  .outside = first_calls,
	  .source = "the paper's Table II denies it; __vdso_clock_getres exists since Linux 5.3" },
	{ .name = "vdso_clock_gettime_realtime", IN_VDSO("clock_gettime"), FUNCTION, ON(REALTIME),
	  .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_REALTIME) of the vDSO",
	  .outside = first_calls,
	  .source = "no offset, but the page is swapped for the whole process" },
	{ .name = "vdso_clock_gettime_tai", IN_VDSO("clock_gettime"), FUNCTION, ON(TAI),
	  .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_TAI) of the vDSO",
	  .outside = first_calls,
	  .source = "no offset, but the page is swapped for the whole process" },
	{ .name = "vdso_clock_gettime_monotonic_raw", IN_VDSO("clock_gettime"), FUNCTION,
	  ON(MONOTONIC_RAW), .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_MONOTONIC_RAW) of the vDSO",
	  .outside = first_calls,
	  .source = "do_hres_timens() in lib/vdso/gettimeofday.c: the vDSO reads a second page" },
#if defined(__x86_64__)
	{ .name = "vdso_time", IN_VDSO("time"), FUNCTION, .subject = SUBJECT_NOTHING,
	  .timed = "time(NULL) of the vDSO",
	  .outside = first_calls,
	  .source = "no offset, but the page is swapped for the whole process" },
#endif

	/* What a program gets that calls the C library. */
	{ .name = "libc_clock_gettime_monotonic", LIBC(clock_gettime), FUNCTION, ON(MONOTONIC),
	  .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_MONOTONIC) of the C library",
	  .outside = first_calls,
	  .source = "the C library calls the vDSO, which costs it a check and a jump" },
	{ .name = "libc_gettimeofday", LIBC(gettimeofday), FUNCTION,
	  .subject = SUBJECT_TIME_OF_DAY,
	  .timed = "gettimeofday() of the C library",
	  .outside = first_calls,
	  .source = "the C library calls the vDSO, which costs it a check and a jump" },

	/* The same clocks by system call. */
	{ .name = "clock_gettime_realtime", RAW(clock_gettime), SYSCALL, ON(REALTIME),
	  .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_REALTIME) by system call",
	  .outside = first_calls,
	  .source = "clock_gettime(2); no time namespace code on this path" },
	{ .name = "clock_gettime_tai", RAW(clock_gettime), SYSCALL, ON(TAI),
	  .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_TAI) by system call",
	  .outside = first_calls,
	  .source = "clock_gettime(2); no time namespace code on this path" },
	{ .name = "clock_gettime_monotonic_raw", RAW(clock_gettime), SYSCALL, ON(MONOTONIC_RAW),
	  .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_MONOTONIC_RAW) by system call",
	  .outside = first_calls,
	  .source = "kernel/time/posix-timers.c adds the offset of every task's "
		"namespace, zero or not" },
	{ .name = "clock_gettime_monotonic_coarse", RAW(clock_gettime), SYSCALL,
	  ON(MONOTONIC_COARSE), .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_MONOTONIC_COARSE) by system call",
	  .outside = first_calls,
	  .source = "kernel/time/posix-timers.c adds the offset of every task's "
		"namespace, zero or not" },
	{ .name = "clock_gettime_realtime_coarse", RAW(clock_gettime), SYSCALL,
	  ON(REALTIME_COARSE), .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_REALTIME_COARSE) by system call",
	  .outside = first_calls,
	  .source = "clock_gettime(2); no time namespace code on this path" },
	{ .name = "clock_gettime_process_cputime", RAW(clock_gettime), SYSCALL,
	  ON(PROCESS_CPUTIME_ID), .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_PROCESS_CPUTIME_ID) by system call",
	  .outside = first_calls,
	  .source = "kernel/time/posix-cpu-timers.c; the cost has several modes, also on "
		"the host" },
	{ .name = "clock_gettime_thread_cputime", RAW(clock_gettime), SYSCALL,
	  ON(THREAD_CPUTIME_ID), .subject = SUBJECT_CLOCK,
	  .timed = "clock_gettime(CLOCK_THREAD_CPUTIME_ID) by system call",
	  .outside = first_calls,
	  .source = "kernel/time/posix-cpu-timers.c; the cost has several modes, also on "
		"the host" },
#if defined(SYS_time)
	{ .name = "time", RAW(time), SYSCALL, .subject = SUBJECT_NOTHING,
	  .timed = "time(NULL) by system call",
	  .outside = first_calls,
	  .source = "time(2); no time namespace code on this path" },
#endif

	/* Deadlines are the only timers whose path looks at the offset. */
	{ .name = "timer_settime_abs", RAW(timer_settime), SYSCALL, ON(MONOTONIC),
	  .flags = TIMER_ABSTIME, .subject = SUBJECT_TIMER,
	  .timed = "timer_settime(TIMER_ABSTIME, now + 1 h): re-arms one armed timer",
	  .outside = one_timer,
	  .source = "timens_ktime_to_host() in kernel/time/namespace.c: a deadline is converted" },
	{ .name = "timerfd_settime_abs", RAW(timerfd_settime), SYSCALL, ON(MONOTONIC),
	  .flags = TIMER_ABSTIME, .subject = SUBJECT_TIMERFD,
	  .timed = "timerfd_settime(TIMER_ABSTIME, now + 1 h): re-arms one armed timer",
	  .outside = one_timer,
	  .source = "timens_ktime_to_host() in kernel/time/namespace.c: a deadline is converted" },
	{ .name = "timerfd_close", RAW(close), TIMERFDS, ON(MONOTONIC),
	  .subject = SUBJECT_TIMERFD_PAIRS, .is_second = true, .partner = "timerfd_create",
	  .timed = "close(), the batch of timer files just created",
	  .outside = "their creation: see timerfd_create",
	  .source = "close(2); no time namespace code on this path" },
	{ .name = "clock_nanosleep_abs", RAW(clock_nanosleep), SLEEP, ON(MONOTONIC),
	  .flags = TIMER_ABSTIME,
	  .timed = "clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, now + 100 ms)",
	  .outside = "timer slack 1 ns, one sleep of 1 ms before; reading the clock for "
		"the deadline",
	  .source = "timens_ktime_to_host() in kernel/time/namespace.c: a deadline is converted" },
};
/* clang-format on */

const size_t metrics_count = sizeof metrics / sizeof *metrics;

const struct metric *metric_find(const char *name)
{
	for (size_t i = 0; i < metrics_count; i++)
		if (strcmp(metrics[i].name, name) == 0)
			return &metrics[i];
	return NULL;
}

size_t metric_index(const struct metric *m)
{
	return (size_t)(m - metrics);
}

bool metric_available(const struct metric *m)
{
	return m->route != ROUTE_VDSO || vdso_function(m->symbol) != NULL;
}

const char *route_name(enum route route)
{
	static const char *const names[] = {
		[ROUTE_VDSO] = "vdso",
		[ROUTE_LIBC] = "libc",
		[ROUTE_RAW] = "raw",
	};

	return names[route];
}

const char *kind_name(enum kind kind)
{
	return kind == KIND_SLEEP ? "sleep" : "call";
}

const char *control_name(enum control control)
{
	static const char *const names[] = {
		[CONTROL_NONE] = NULL,
		[CONTROL_NEGATIVE] = "negative",
		[CONTROL_POSITIVE] = "positive",
	};

	return names[control];
}
