/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a request means in calls and batches.  Wrong ones: tests/bench/test_measure.py.
 */
#undef NDEBUG
#include <assert.h>
#include <string.h>

#include "circumstances.h"
#include "request.h"

static struct request request(void)
{
	struct request r;

	request_init(&r);
	r.ticks = TICKS_RDTSCP; /* nothing is measured here */
	return r;
}

static void amounts(const struct request *r, const char *name, uint32_t batch, uint32_t count)
{
	uint32_t ret_batch, ret_count;
	struct problem p;

	assert(request_amount(r, metric_find(name), &ret_batch, &ret_count, &p) == 0);
	assert(ret_batch == batch);
	assert(ret_count == count);
}

static void without_words_the_table_decides(void)
{
	const struct metric *m = metric_find("getppid");
	struct request r = request();

	amounts(&r, "getppid", m->batch, m->calls / m->batch);
	assert(r.cpu == UNKNOWN && r.block == UNKNOWN && r.repeat == 1 && r.turn == 0);
}

static void calls_are_rounded_up_to_whole_batches(void)
{
	struct request r = request();
	struct problem p;

	assert(request_calls(&r, "getppid=1001", &p) == 0);
	assert(request_batch(&r, "getppid=100", &p) == 0);
	amounts(&r, "getppid", 100, 11);
	assert(request_calls(&r, "getppid=1", &p) == 0);
	amounts(&r, "getppid", 100, 1);
}

static void what_is_asked_for_one_half_of_a_pair_holds_for_both(void)
{
	struct request r = request();
	struct problem p;

	assert(request_calls(&r, "timer_delete=300", &p) == 0);
	assert(request_batch(&r, "timer_create=100", &p) == 0);
	amounts(&r, "timer_create", 100, 3);
	amounts(&r, "timer_delete", 100, 3);
}

static void a_slow_counter_gets_longer_batches_where_none_were_asked_for(void)
{
	struct request r = request();
	struct problem p;

	r.ticks = TICKS_CLOCK_MONOTONIC_RAW;
	amounts(&r, "getppid", 10000, 10);
	amounts(&r, "timer_create", 250, 80);
	amounts(&r, "nanosleep", 1, 10);
	assert(request_batch(&r, "getppid=10", &p) == 0);
	assert(request_calls(&r, "getppid=20", &p) == 0);
	amounts(&r, "getppid", 10, 2);
}

static void numbers_are_plain_decimal_digits(void)
{
	unsigned long n = 7;

	assert(request_number("", 10, &n) < 0);
	assert(request_number("-1", 10, &n) < 0);
	assert(request_number("+1", 10, &n) < 0);
	assert(request_number(" 1", 10, &n) < 0);
	assert(request_number("0x1", 10, &n) < 0);
	assert(request_number("11", 10, &n) < 0);
	assert(request_number("99999999999999999999", 10, &n) < 0);
	assert(n == 7);
	assert(request_number("010", 10, &n) == 0 && n == 10);
}

static void partners_name_each_other_and_one_is_the_second(void)
{
	for (size_t i = 0; i < metrics_count; i++) {
		const struct metric *m = &metrics[i], *partner;

		assert(metric_index(m) == i && metric_find(m->name) == m);
		assert(i < REQUEST_MAX);
		if (!m->partner)
			continue;
		partner = metric_find(m->partner);
		assert(partner && strcmp(partner->partner, m->name) == 0);
		assert(partner->is_second != m->is_second);
		assert(partner->batch == m->batch && partner->calls == m->calls);
	}
}

int main(void)
{
	without_words_the_table_decides();
	calls_are_rounded_up_to_whole_batches();
	what_is_asked_for_one_half_of_a_pair_holds_for_both();
	a_slow_counter_gets_longer_batches_where_none_were_asked_for();
	numbers_are_plain_decimal_digits();
	partners_name_each_other_and_one_is_the_second();
	return 0;
}
