/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clocks/probes.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/vdso.h"

#define NS_PER_S INT64_C(1000000000)
#define WAIT_NS (20 * INT64_C(1000000))

/* ---- readings ---- */

static void by_system_call(clockid_t clock, struct probe_result *r)
{
	r->low_ns = r->high_ns = clock_now_ns(clock);
}

static void by_vdso(clockid_t clock, struct probe_result *r)
{
	vdso_clock_gettime *call = vdso_find_clock_gettime();
	struct timespec t;

	if (call == NULL || call(clock, &t) != 0) {
		r->error = ENOSYS;
		return;
	}
	r->low_ns = r->high_ns = (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void by_sysinfo(clockid_t clock, struct probe_result *r)
{
	struct sysinfo info;

	(void)clock;
	if (sysinfo(&info) < 0) {
		r->error = errno;
		return;
	}
	r->low_ns = (info.uptime - 1) * NS_PER_S; /* kernel/sys.c rounds up */
	r->high_ns = info.uptime * NS_PER_S;
}

/* The text of a file in /proc from the first `key` on; NULL, and the errno, if it is not there. */
static const char *read_proc(const char *path, const char *key, char *buffer, size_t size,
			     struct probe_result *r)
{
	FILE *file = fopen(path, "re");
	const char *found = NULL;
	size_t n;

	if (file != NULL) {
		n = fread(buffer, 1, size - 1, file);
		(void)fclose(file); /* was only read */
		buffer[n] = '\0';
		found = strstr(buffer, key);
	}
	if (found == NULL)
		r->error = file != NULL ? ENODATA : errno;
	return found;
}

static void by_proc_uptime(clockid_t clock, struct probe_result *r)
{
	char text[128];
	long long s = 0;
	int hundredths = 0;

	(void)clock;
	if (read_proc("/proc/uptime", "", text, sizeof text, r) == NULL)
		return;
	if (sscanf(text, "%lld.%2d", &s, &hundredths) != 2) {
		r->error = EPROTO;
		return;
	}
	r->low_ns = s * NS_PER_S + hundredths * (NS_PER_S / 100);
	r->high_ns = r->low_ns + NS_PER_S / 100;
}

/* btime is the date at which CLOCK_BOOTTIME was zero, in whole seconds. */
static void by_proc_stat(clockid_t clock, struct probe_result *r)
{
	static char text[1 << 18]; /* one line for each processor and interrupt comes first */
	const char *line;
	int64_t before = clock_now_ns(CLOCK_REALTIME), zero_ns;

	(void)clock;
	line = read_proc("/proc/stat", "btime ", text, sizeof text, r);
	if (line == NULL)
		return;
	zero_ns = strtoll(line + strlen("btime "), NULL, 10) * NS_PER_S;
	r->low_ns = before - zero_ns - NS_PER_S;
	r->high_ns = clock_now_ns(CLOCK_REALTIME) - zero_ns;
}

/* When a process that is born now was started, in ticks of CLOCK_BOOTTIME: field 22. */
static void by_start_time(clockid_t clock, struct probe_result *r)
{
	int64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	char path[64], text[1024];
	const char *field;
	pid_t child = fork();

	(void)clock;
	if (child == 0) {
		(void)pause();
		_exit(0);
	}
	if (child < 0) {
		r->error = errno;
		return;
	}
	(void)snprintf(path, sizeof path, "/proc/%d/stat", child);
	field = read_proc(path, ")", text, sizeof text,
			  r); /* the name may hold anything but this */
	for (int i = 2; field != NULL && i < 22; i++)
		field = strchr(field + 1, ' ');
	if (field != NULL) {
		r->low_ns = strtoll(field, NULL, 10) * tick_ns;
		r->high_ns = r->low_ns + tick_ns;
	} else if (r->error == 0) {
		r->error = EPROTO;
	}
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
}

/* ---- waits for an absolute deadline ---- */

static struct timespec deadline_soon(clockid_t clock, int64_t *ret_ns)
{
	*ret_ns = clock_now_ns(clock) + WAIT_NS;
	return (struct timespec){ .tv_sec = *ret_ns / NS_PER_S, .tv_nsec = *ret_ns % NS_PER_S };
}

static void tell_wait(clockid_t clock, int64_t deadline_ns, int error, struct probe_result *r)
{
	r->error = error;
	r->low_ns = r->high_ns = clock_now_ns(clock) - deadline_ns;
}

static void by_timerfd(clockid_t clock, struct probe_result *r)
{
	autoclose int fd = timerfd_create(clock, TFD_CLOEXEC);
	struct itimerspec when = { 0 };
	int64_t deadline_ns;
	uint64_t expirations;
	bool done;

	when.it_value = deadline_soon(clock, &deadline_ns);
	done = fd >= 0 && timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL) == 0 &&
	       read(fd, &expirations, sizeof expirations) == sizeof expirations;
	tell_wait(clock, deadline_ns, done ? 0 : errno, r);
}

static void by_posix_timer(clockid_t clock, struct probe_result *r)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec when = { 0 };
	int64_t deadline_ns;
	sigset_t signals;
	timer_t timer;
	bool done;

	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGUSR1);
	(void)sigprocmask(SIG_BLOCK, &signals, NULL);
	when.it_value = deadline_soon(clock, &deadline_ns);
	done = timer_create(clock, &event, &timer) == 0 &&
	       timer_settime(timer, TIMER_ABSTIME, &when, NULL) == 0 &&
	       sigwaitinfo(&signals, NULL) == SIGUSR1;
	tell_wait(clock, deadline_ns, done ? 0 : errno, r);
}

static void by_clock_nanosleep(clockid_t clock, struct probe_result *r)
{
	int64_t deadline_ns;
	struct timespec when = deadline_soon(clock, &deadline_ns);

	tell_wait(clock, deadline_ns, clock_nanosleep(clock, TIMER_ABSTIME, &when, NULL), r);
}

static void by_futex(clockid_t clock, struct probe_result *r)
{
	int64_t deadline_ns;
	struct timespec when = deadline_soon(clock, &deadline_ns);
	uint32_t word = 0;

	(void)syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &when, NULL,
		      FUTEX_BITSET_MATCH_ANY);
	tell_wait(clock, deadline_ns, errno == ETIMEDOUT ? 0 : errno, r);
}

static void by_condition(clockid_t clock, struct probe_result *r)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_condattr_t attributes;
	pthread_cond_t condition;
	int64_t deadline_ns;
	struct timespec when = deadline_soon(clock, &deadline_ns);
	int error;

	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, clock);
	(void)pthread_cond_init(&condition, &attributes);
	(void)pthread_mutex_lock(&mutex);
	error = pthread_cond_timedwait(&condition, &mutex, &when);
	tell_wait(clock, deadline_ns, error == ETIMEDOUT ? 0 : error, r);
}

/* Submits one IORING_OP_TIMEOUT by hand and waits for it; returns 0 or an errno. */
static int wait_by_ring(const struct timespec *when, uint32_t flags)
{
	struct __kernel_timespec until = { .tv_sec = when->tv_sec, .tv_nsec = when->tv_nsec };
	struct io_uring_params p = { 0 };
	struct io_uring_sqe *entry;
	autoclose int fd = (int)syscall(SYS_io_uring_setup, 1, &p);
	char *rings;

	if (fd < 0)
		return errno;
	if ((p.features & IORING_FEAT_SINGLE_MMAP) == 0)
		return ENOSYS; /* before Linux 5.4 */
	rings = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(uint32_t), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQ_RING);
	entry = mmap(NULL, sizeof *entry, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
		     IORING_OFF_SQES);
	if (rings == MAP_FAILED || entry == MAP_FAILED)
		return errno;
	*entry = (struct io_uring_sqe){ .opcode = IORING_OP_TIMEOUT,
					.fd = -1,
					.addr = (uint64_t)(uintptr_t)&until,
					.len = 1,
					.timeout_flags = flags };
	*(uint32_t *)(rings + p.sq_off.array) = 0;
	__atomic_store_n((uint32_t *)(rings + p.sq_off.tail), 1, __ATOMIC_RELEASE);
	/* Submits, and returns when one completion is there; its result is -ETIME. */
	if (syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return errno;
	return 0;
}

static void by_ring_relative(clockid_t clock, struct probe_result *r)
{
	struct timespec length = { .tv_nsec = WAIT_NS };
	int64_t deadline_ns = clock_now_ns(clock) + WAIT_NS;

	tell_wait(clock, deadline_ns, wait_by_ring(&length, 0), r);
}

static void by_ring_absolute(clockid_t clock, struct probe_result *r)
{
	uint32_t flags = IORING_TIMEOUT_ABS;
	int64_t deadline_ns;
	struct timespec when = deadline_soon(clock, &deadline_ns);

	if (clock == CLOCK_BOOTTIME)
		flags |= IORING_TIMEOUT_BOOTTIME;
	tell_wait(clock, deadline_ns, wait_by_ring(&when, flags), r);
}

static const char ring_known[] =
	"the kernel takes the deadline for one of the host's clock; not an error of timens-run";

static const struct probe table[] = {
	{ "clock_gettime(CLOCK_MONOTONIC), system call", CLOCK_MONOTONIC, .run = by_system_call },
	{ "clock_gettime(CLOCK_MONOTONIC), vDSO", CLOCK_MONOTONIC, .run = by_vdso },
	{ "clock_gettime(CLOCK_MONOTONIC_RAW), system call", CLOCK_MONOTONIC_RAW,
	  .run = by_system_call },
	{ "clock_gettime(CLOCK_MONOTONIC_RAW), vDSO", CLOCK_MONOTONIC_RAW, .run = by_vdso },
	{ "clock_gettime(CLOCK_MONOTONIC_COARSE), system call", CLOCK_MONOTONIC_COARSE,
	  .run = by_system_call },
	{ "clock_gettime(CLOCK_MONOTONIC_COARSE), vDSO", CLOCK_MONOTONIC_COARSE, .run = by_vdso },
	{ "clock_gettime(CLOCK_BOOTTIME), system call", CLOCK_BOOTTIME, .run = by_system_call },
	{ "clock_gettime(CLOCK_BOOTTIME), vDSO", CLOCK_BOOTTIME, .run = by_vdso },
	{ "sysinfo(2)", CLOCK_BOOTTIME, .run = by_sysinfo },
	{ "/proc/uptime", CLOCK_BOOTTIME, .run = by_proc_uptime },
	{ "/proc/stat btime", CLOCK_BOOTTIME, .run = by_proc_stat },
	{ "/proc/PID/stat starttime", CLOCK_BOOTTIME, .run = by_start_time },
	{ "timerfd, CLOCK_MONOTONIC", CLOCK_MONOTONIC, true, .run = by_timerfd },
	{ "timerfd, CLOCK_BOOTTIME", CLOCK_BOOTTIME, true, .run = by_timerfd },
	{ "timer_settime, CLOCK_MONOTONIC", CLOCK_MONOTONIC, true, .run = by_posix_timer },
	{ "timer_settime, CLOCK_BOOTTIME", CLOCK_BOOTTIME, true, .run = by_posix_timer },
	{ "clock_nanosleep, CLOCK_MONOTONIC", CLOCK_MONOTONIC, true, .run = by_clock_nanosleep },
	{ "clock_nanosleep, CLOCK_BOOTTIME", CLOCK_BOOTTIME, true, .run = by_clock_nanosleep },
	{ "futex, CLOCK_MONOTONIC", CLOCK_MONOTONIC, true, .run = by_futex },
	{ "pthread_cond_timedwait, CLOCK_MONOTONIC", CLOCK_MONOTONIC, true, .run = by_condition },
	{ "io_uring timeout, relative", CLOCK_MONOTONIC, true, .run = by_ring_relative },
	{ "io_uring timeout, absolute CLOCK_MONOTONIC", CLOCK_MONOTONIC, true, ring_known,
	  by_ring_absolute },
	{ "io_uring timeout, absolute CLOCK_BOOTTIME", CLOCK_BOOTTIME, true, ring_known,
	  by_ring_absolute },
};

const struct probe *clocks_probes(size_t *ret_count)
{
	*ret_count = sizeof table / sizeof *table;
	return table;
}
