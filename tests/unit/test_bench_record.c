/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * When a record is flagged.
 */
#undef NDEBUG
#include <assert.h>

#include "record.h"

/* A record of 100 batches in 10 ms, to which nothing happened. */
static struct record quiet(void)
{
	return (struct record){
		.metric = metric_find("getppid"),
		.batch_count = 100,
		.before = { .cpu = 1, .wall_ns = 5000000 },
		.after = { .cpu = 1, .wall_ns = 15000000 },
		.canary_before = { .multiply = 36, .empty = 1 },
		.canary_after = { .multiply = 36, .empty = 2 },
	};
}

static void a_quiet_record_has_no_flag(void)
{
	struct record r = quiet();

	assert(record_flags(&r) == 0);
}

static void waiting_for_more_than_a_fifth_of_the_time_is_preemption(void)
{
	struct record r = quiet();

	r.after.run_delay_ns = 2000000;
	assert(record_flags(&r) == 0);
	r.after.run_delay_ns = 2000001;
	assert(record_flags(&r) == FLAG_PREEMPTED);
	r.before.run_delay_ns = UNKNOWN;
	assert(record_flags(&r) == 0);
}

static void who_takes_turns_waits_without_being_preempted(void)
{
	struct record r = quiet();

	r.turn = 1;
	r.after.run_delay_ns = 9000000;
	r.after.involuntary_switches = 20;
	assert(record_flags(&r) == 0);
	r.after.involuntary_switches = 21;
	assert(record_flags(&r) == FLAG_PREEMPTED);
}

static void a_sleep_is_never_preempted(void)
{
	struct record r = quiet();

	r.metric = metric_find("nanosleep");
	r.after.run_delay_ns = 9000000;
	assert(record_flags(&r) == 0);
}

static void steal_migration_and_frequency_are_told_apart(void)
{
	struct record r = quiet();

	r.after.steal_ticks = 1;
	assert(record_flags(&r) == FLAG_STEAL);
	r.before.steal_ticks = UNKNOWN;
	r.after.cpu = 0;
	assert(record_flags(&r) == FLAG_MIGRATED);
	r.after.cpu = 1;
	r.canary_after.multiply = 36 * 1.011;
	assert(record_flags(&r) == FLAG_FREQUENCY);
	r.canary_after.multiply = 36 * 0.989;
	assert(record_flags(&r) == FLAG_FREQUENCY);
	r.canary_after.multiply = 36 * 1.009;
	assert(record_flags(&r) == 0);
}

int main(void)
{
	a_quiet_record_has_no_flag();
	waiting_for_more_than_a_fifth_of_the_time_is_preemption();
	who_takes_turns_waits_without_being_preempted();
	a_sleep_is_never_preempted();
	steal_migration_and_frequency_are_told_apart();
	return 0;
}
