/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "engine/journal.h"
#include "engine/plan.h"
#include "model/container_spec.h"

/* Job control stops and continues all of us alike; faults and the size of our files are our own. */
static void forwarded(sigset_t *ret_set)
{
	static const int ours[] = { SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGSEGV, SIGBUS,
				    SIGFPE,  SIGILL,  SIGTRAP, SIGABRT, SIGSYS,  SIGXFSZ };

	(void)sigfillset(ret_set); /* neither can fail with these numbers */
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		(void)sigdelset(ret_set, ours[i]);
}

int supervise_block_signals(struct container *c, struct err *e)
{
	sigset_t set;

	forwarded(&set);
	/* Ignored, as under some parents, it would take the container's status away from us. */
	if (signal(SIGCHLD, SIG_DFL) == SIG_ERR ||
	    sigprocmask(SIG_BLOCK, &set, &c->caller_mask) < 0)
		return err_set(e, errno, "cannot block signals");
	return 0;
}

static int open_signals(int *ret_fd, struct err *e)
{
	sigset_t set;

	forwarded(&set);
	*ret_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return *ret_fd < 0 ? err_set(e, errno, "cannot open signals as a file") : 0;
}

/* True if the container has ended. */
static bool reap(struct container *c)
{
	c->ended = waitpid(c->pid, &c->status, WNOHANG) == c->pid;
	return c->ended;
}

static bool wants_signal(const struct container *c, const struct signalfd_siginfo *s)
{
	/* What the terminal sends (SI_KERNEL) reaches the payload by itself, unless it is in a
	 * session of its own. */
	return s->ssi_code != SI_KERNEL || c->spec->new_session || c->spec->terminal;
}

/* True if from now on the container has --kill-timeout to live. */
static bool pass_on(struct container *c, const struct signalfd_siginfo *s)
{
	if (s->ssi_signo == SIGWINCH && c->terminal >= 0) {
		console_copy_size(&c->console); /* which sends the signal inside */
		return false;
	}
	if (s->ssi_signo == SIGCHLD || !wants_signal(c, s))
		return false;
	(void)kill(c->pid, (int)s->ssi_signo); /* it may just have ended */
	return s->ssi_signo == SIGTERM && c->spec->kill_timeout_ms >= 0;
}

static int64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail for this clock */
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* For poll(2): -1 is "for ever". */
static int remaining_ms(int64_t deadline_ms)
{
	int64_t left = deadline_ms < 0 ? -1 : deadline_ms - now_ms();

	return (int)(deadline_ms >= 0 && left < 0 ? 0 : left);
}

int supervise_wait(struct container *c, struct err *e)
{
	struct journal *timeline = c->spec->timeline;
	autoclose int signals = -1;
	int64_t deadline_ms = -1;
	int r = open_signals(&signals, e);

	if (r < 0)
		return r;
	if (c->terminal >= 0)
		console_start(&c->console, c->terminal);
	while (!reap(c)) {
		struct pollfd fds[2 + CONSOLE_POLLS] = {
			{ .fd = signals, .events = POLLIN },
			{ .fd = timeline ? timeline->alarm : -1, .events = POLLIN },
		};
		struct signalfd_siginfo s;

		console_poll(&c->console, fds + 2);
		r = poll(fds, sizeof fds / sizeof *fds, remaining_ms(deadline_ms));
		if (fds[1].revents != 0)
			journal_tick(timeline);
		if (deadline_ms >= 0 && remaining_ms(deadline_ms) == 0) {
			(void)kill(c->pid, SIGKILL); /* it may just have ended */
			deadline_ms = -1;
		}
		if (r > 0 && c->terminal >= 0)
			console_move(&c->console, fds + 2);
		if (read(signals, &s, sizeof s) == sizeof s && pass_on(c, &s))
			deadline_ms = now_ms() + c->spec->kill_timeout_ms;
	}
	return 0;
}

int supervise_gate(struct container *c, int gate, struct err *e)
{
	autoclose int signals = -1;
	struct pollfd fds[2] = { { .fd = gate, .events = POLLIN }, { .events = POLLIN } };
	struct signalfd_siginfo s;
	int r = open_signals(&signals, e);

	if (r < 0)
		return r;
	fds[1].fd = signals;
	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return err_set(e, errno, "cannot wait for the start gate");
		if (fds[0].revents != 0)
			return 0;
		if (read(signals, &s, sizeof s) != sizeof s)
			continue;
		if (s.ssi_signo == SIGCHLD && reap(c))
			return err_set(e, EPIPE, "the container ended before its start");
		if (s.ssi_signo == SIGTERM || s.ssi_signo == SIGINT || s.ssi_signo == SIGHUP)
			return err_set(e, EINTR, "%s before the start",
				       s.ssi_signo == SIGTERM  ? "TERM"
				       : s.ssi_signo == SIGINT ? "INT"
							       : "HUP");
	}
}
