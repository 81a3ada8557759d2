/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "circumstances.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ticks.h"

/* Reads the start of a small file; an empty string when that fails. */
static void read_start(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, buffer, size - 1);

	buffer[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		(void)close(fd);
}

static void read_files(struct circumstances *c)
{
	char text[256];

	/* proc(5): user nice system idle iowait irq softirq steal */
	read_start("/proc/stat", text, sizeof text);
	if (sscanf(text, "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNd64, &c->steal_ticks) != 1)
		c->steal_ticks = UNKNOWN;
	/* Documentation/scheduler/sched-stats.rst: time on a CPU, time waiting, times run */
	read_start("/proc/self/schedstat", text, sizeof text);
	if (sscanf(text, "%*u %" SCNd64, &c->run_delay_ns) != 1)
		c->run_delay_ns = UNKNOWN;
}

static void read_usage(struct circumstances *c)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u); /* cannot fail with these arguments */
	c->voluntary_switches = u.ru_nvcsw;
	c->involuntary_switches = u.ru_nivcsw;
	c->minor_faults = u.ru_minflt;
}

static void read_clocks(struct circumstances *c)
{
	struct timespec t;

	(void)syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
	c->wall_s = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
	c->wall_ns = raw_clock_ns();
	(void)syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t);
	c->cpu_time_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	c->cpu = sched_getcpu();
}

void circumstances_before(struct circumstances *c)
{
	read_files(c);
	read_usage(c);
	read_clocks(c);
}

void circumstances_after(struct circumstances *c)
{
	read_clocks(c);
	read_usage(c);
	read_files(c);
}
