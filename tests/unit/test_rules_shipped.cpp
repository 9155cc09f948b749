// SPDX-License-Identifier: MIT
// The shipped rules hold on a small trace of two CPUs, and for each there is a damage that breaks it and no other.
#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "answers/rules/run.h"
#include "monitor/card.h"
#include "samples.h"

namespace test_rules_shipped {

using namespace monitor;

namespace {

constexpr std::uint32_t recorder = EDC_CPU_UNKNOWN, user = 100; // "CPUs" of other streams
constexpr std::uint64_t second = 1'000'000'000;
enum : unsigned { begin_a = 500, end_a, begin_b, end_b };

const std::string classes =
    "typealias enum : u16_t { \"R\" = 0, \"S\" = 1, \"X\" = 16, \"Z\" = 32 } := state_t;\n" +
    samples::event_block(EDC_ID_SYNC, "sync", "u16_t cpu; u64_t width;") +
    samples::event_block(EDC_ID_THREAD_STATE, "thread_state", "u16_t state; s32_t pid; u32_t flags;") +
    samples::event_block(EDC_ID_WRITER_THREAD, "thread", "u16_t reserved; s32_t pid; s32_t tgid;") +
    samples::event_block(EDC_ID_SCHED_SWITCH, "sched_switch", "state_t prev_state; s32_t prev_pid; s32_t next_pid;") +
    samples::event_block(EDC_ID_SCHED_WAKING, "sched_waking", "u16_t target_cpu; s32_t pid; s32_t prio;") +
    samples::event_block(EDC_ID_SCHED_WAKEUP_NEW, "sched_wakeup_new", "u16_t target_cpu; s32_t pid; s32_t tgid;") +
    samples::event_block(EDC_ID_SCHED_PROCESS_EXEC, "sched_process_exec", "u16_t cpu; s32_t pid; s32_t old_pid;") +
    samples::event_block(EDC_ID_SCHED_PROCESS_EXIT, "sched_process_exit", "u16_t group_dead; s32_t pid; s32_t tgid;") +
    samples::event_block(EDC_ID_IRQ_HANDLER_ENTRY, "irq_handler_entry", "u16_t irq;") +
    samples::event_block(EDC_ID_IRQ_HANDLER_EXIT, "irq_handler_exit", "u16_t irq;") +
    samples::event_block(EDC_ID_SOFTIRQ_ENTRY, "softirq_entry", "u16_t vec;") +
    samples::event_block(EDC_ID_SOFTIRQ_EXIT, "softirq_exit", "u16_t vec;") +
    samples::event_block(EDC_ID_LOCAL_TIMER_ENTRY, "local_timer_entry", "u16_t vector;") +
    samples::event_block(EDC_ID_LOCAL_TIMER_EXIT, "local_timer_exit", "u16_t vector;") +
    samples::event_block(EDC_ID_RESCHEDULE_ENTRY, "reschedule_entry", "u16_t vector;") +
    samples::event_block(EDC_ID_RESCHEDULE_EXIT, "reschedule_exit", "u16_t vector;") +
    samples::event_block(EDC_ID_CALL_FUNCTION_ENTRY, "call_function_entry", "u16_t vector;") +
    samples::event_block(EDC_ID_CALL_FUNCTION_EXIT, "call_function_exit", "u16_t vector;") +
    samples::event_block(EDC_ID_CALL_FUNCTION_SINGLE_ENTRY, "call_function_single_entry", "u16_t vector;") +
    samples::event_block(EDC_ID_CALL_FUNCTION_SINGLE_EXIT, "call_function_single_exit", "u16_t vector;") +
    samples::event_block(EDC_ID_IRQ_WORK_ENTRY, "irq_work_entry", "u16_t vector;") +
    samples::event_block(EDC_ID_IRQ_WORK_EXIT, "irq_work_exit", "u16_t vector;") +
    samples::event_block(EDC_ID_SYS_ENTER, "sys_enter", "u16_t id;") +
    samples::event_block(EDC_ID_SYS_EXIT, "sys_exit", "s16_t ret;") +
    samples::event_block(EDC_ID_BLOCK_RQ_ISSUE, "block_rq_issue",
			 "x16_t op; u32_t dev; u32_t nr_bytes; u64_t sector;") +
    samples::event_block(EDC_ID_BLOCK_RQ_COMPLETE, "block_rq_complete",
			 "s16_t error; u32_t dev; u32_t nr_bytes; u64_t sector;") +
    samples::event_block(500, "a_begin", "u16_t arg;") + samples::event_block(501, "a_end", "u16_t arg;") +
    samples::event_block(502, "b_begin", "u16_t arg;") + samples::event_block(503, "b_end", "u16_t arg;");

struct Posted {
	std::uint64_t time;
	std::uint32_t cpu;
	unsigned id, arg;
	std::vector<std::uint64_t> words;
	std::uint32_t level = 0;
};
using Events = std::vector<Posted>;

std::uint64_t two(std::uint32_t low, std::uint32_t high)
{
	return low | static_cast<std::uint64_t>(high) << 32;
}

Posted switches(std::uint64_t time, std::uint32_t cpu, std::uint32_t from, std::uint32_t to, unsigned state = 1)
{
	return {time, cpu, EDC_ID_SCHED_SWITCH, state, {two(from, to)}};
}

Events sound()
{
	Events events = {
	    {1000, recorder, EDC_ID_THREAD_STATE, 1, {two(10, 0)}},
	    {1001, recorder, EDC_ID_THREAD_STATE, 1, {two(11, 0)}},
	    {1002, recorder, EDC_ID_THREAD_STATE, 1, {two(12, 0)}},
	    {1003, recorder, EDC_ID_THREAD_STATE, 1, {two(66, 16)}}, // hidden
	    switches(2000, 0, 0, 10),
	    {2100, 0, EDC_ID_SYS_ENTER, 39, {}},
	    {2200, 0, EDC_ID_SYS_EXIT, 0, {}},
	    {2300, 0, EDC_ID_SYS_ENTER, 39, {}},
	    {2350, 0, EDC_ID_SCHED_WAKING, 1, {two(11, 120)}},
	    switches(2360, 1, 0, 11),
	    {2400, 0, EDC_ID_SYS_EXIT, 0, {}},
	    switches(2450, 1, 11, 0),
	    {2500, 0, EDC_ID_IRQ_HANDLER_ENTRY, 5, {}},
	    {2505, 0, EDC_ID_IRQ_HANDLER_EXIT, 5, {}},
	    {2510, 0, EDC_ID_IRQ_HANDLER_ENTRY, 5, {}},
	    {2515, 0, EDC_ID_IRQ_HANDLER_EXIT, 5, {}},
	    {2520, 0, EDC_ID_SOFTIRQ_ENTRY, 1, {}},
	    {2525, 0, EDC_ID_SOFTIRQ_EXIT, 1, {}},
	    {2530, 0, EDC_ID_SOFTIRQ_ENTRY, 1, {}},
	    {2535, 0, EDC_ID_SOFTIRQ_EXIT, 1, {}},
	    {2540, 0, EDC_ID_LOCAL_TIMER_ENTRY, 236, {}},
	    {2550, 0, EDC_ID_RESCHEDULE_ENTRY, 253, {}},
	    {2560, 0, EDC_ID_RESCHEDULE_EXIT, 253, {}},
	    {2570, 0, EDC_ID_LOCAL_TIMER_EXIT, 236, {}},
	    {2600, 0, EDC_ID_SCHED_WAKEUP_NEW, 0, {two(20, 20)}},
	    switches(2700, 0, 10, 20),
	    {2750, 0, EDC_ID_SCHED_PROCESS_EXIT, 1, {two(20, 20)}},
	    switches(2800, 0, 20, 0, 16),
	    {2900, 0, EDC_ID_BLOCK_RQ_ISSUE, 1, {two(8, 4096), 77}},
	    {2950, 0, EDC_ID_BLOCK_RQ_COMPLETE, 0, {two(8, 4096), 77}},
	    switches(3000, 0, 0, 10),
	    {3100, 0, EDC_ID_SYS_ENTER, 39, {}},
	    {3200, 0, EDC_ID_SYS_EXIT, 0, {}},
	    switches(3300, 0, 10, 0),
	    switches(3400, 0, 0, 12),
	    switches(3500, 0, 12, 0),
	    switches(3600, 1, 0, 66), // nobody sees its way out
	    switches(3700, 1, 11, 0),
	    {3000, user, EDC_ID_WRITER_THREAD, 0, {two(10, 10)}},
	    {3001, user, begin_a, 0, {}},
	    {3002, user, begin_b, 0, {}},
	    {3003, user, end_b, 0, {}},
	    {3004, user, end_a, 0, {}},
	    switches(20 * second, 0, 0, 10),
	    switches(20 * second + 100, 0, 10, 0),
	};
	for (std::uint64_t i = 0; i < 22; ++i)
		events.push_back({900 + i * second * 9 / 10, recorder, EDC_ID_SYNC, 0, {100}});
	return events;
}

std::set<std::string> broken(Events events)
{
	std::stable_sort(events.begin(), events.end(),
			 [](const Posted &a, const Posted &b) { return a.time < b.time; });
	std::vector<samples::StreamWriter> writers;
	for (const auto &[cpu, level] : {std::pair(recorder, 0U), {0U, 0U}, {1U, 0U}, {0U, 13U}, {user, 0U}}) {
		const bool is_user = cpu == user;
		samples::StreamWriter writer(is_user ? 0 : cpu, is_user ? EDC_LEVEL_USER : level);
		std::uint64_t opened = 0;
		for (const Posted &posted : events) {
			if (posted.cpu != cpu || posted.level != level)
				continue;
			if (!opened || posted.time > opened + second || writer.room() < 100)
				writer.open(opened = posted.time);
			std::vector<std::uint64_t> words = posted.words;
			writer.post(posted.time, posted.id, posted.arg, {}, is_user ? EDC_MODE_USER : EDC_MODE_KERNEL);
			for (const std::uint64_t word : words)
				writer.put_word(word);
		}
		if (opened)
			writers.push_back(std::move(writer));
	}
	trace::Trace trace = samples::trace(writers, classes);
	std::vector<rules::RuleText> texts = rules::load_rules("kernel");
	for (rules::RuleText &text : rules::load_rules("user"))
		texts.push_back(text);
	std::set<std::string> names;
	std::size_t not_checked = 0;
	for (const rules::Outcome &outcome : rules::run(trace, texts, {})) {
		INFO(outcome.text);
		if (outcome.verdict == rules::Outcome::Verdict::fails) {
			names.insert(outcome.name);
			CHECK(!outcome.shown.empty());
			CHECK(!outcome.shown.front().events.front().empty());
		}
		not_checked += outcome.verdict == rules::Outcome::Verdict::not_checked;
		UNSCOPED_INFO(outcome.text);
	}
	CHECK(not_checked <= 1);
	CHECK(trace.problems().empty());
	return names;
}

Events without(Events events, std::uint64_t time)
{
	REQUIRE(std::erase_if(events, [time](const Posted &each) { return each.time == time; }) == 1);
	return events;
}

Events with(Events events, std::initializer_list<Posted> more)
{
	events.insert(events.end(), more);
	return events;
}

Events changed(Events events, std::uint64_t time, const std::function<void(Posted &)> &change)
{
	for (Posted &each : events)
		if (each.time == time)
			change(each);
	return events;
}

} // namespace

TEST_CASE("rules: the shipped ones hold on a sound trace")
{
	CHECK(broken(sound()) == std::set<std::string>{});
}

TEST_CASE("rules: a block request may grow after its issue")
{
	CHECK(broken(changed(sound(), 2950, [](Posted &posted) {
		      posted.words = {two(8, 8192), 77};
	      })) == std::set<std::string>{});
}

// A thread 31 of process 30 executes a program while the first thread, 30, dies on the other CPU.
TEST_CASE("rules: an exec that takes the number of a leader on its CPU breaks none")
{
	const Events before = with(sound(), {{4000, 0, EDC_ID_SCHED_WAKEUP_NEW, 0, {two(30, 30)}},
					     {4010, 0, EDC_ID_SCHED_WAKEUP_NEW, 0, {two(31, 30)}},
					     switches(4100, 0, 0, 30),
					     switches(4110, 1, 0, 31),
					     {4200, 0, EDC_ID_SCHED_PROCESS_EXIT, 0, {two(30, 30)}}});
	const Posted exec{4400, 1, EDC_ID_SCHED_PROCESS_EXEC, 1, {two(30, 31)}};
	const Posted leader_is_late = switches(4300, 0, 31, 0, 16), in_time = switches(4300, 0, 30, 0, 16);
	CHECK(broken(with(before, {leader_is_late, exec, switches(4500, 1, 30, 0)})) == std::set<std::string>{});
	CHECK(broken(with(before, {leader_is_late, switches(4350, 1, 30, 0), switches(4360, 1, 0, 30), exec,
				   switches(4500, 1, 30, 0)})) == std::set<std::string>{});
	CHECK(broken(with(before, {in_time, exec, switches(4500, 1, 30, 0)})) == std::set<std::string>{});
	// A thread of the process that was executed runs twice at a time.
	CHECK(broken(with(before, {in_time, exec, switches(4500, 1, 30, 0), switches(4600, 0, 0, 30),
				   switches(4610, 1, 0, 30), switches(4620, 1, 30, 0), switches(4630, 0, 30, 0)})) ==
	      std::set<std::string>{"a thread runs on one CPU only"});
}

TEST_CASE("rules: what a hidden thread hides breaks none")
{
	// thread 10 enters a call that nobody sees, and is seen again when it gives the CPU back
	CHECK(broken(with(sound(), {switches(5000, 0, 0, 66),
				    switches(5100, 0, 10, 0),
				    switches(5200, 0, 0, 10),
				    {5300, 0, EDC_ID_SYS_EXIT, 0, {}},
				    switches(5400, 0, 10, 0)})) == std::set<std::string>{});
}

TEST_CASE("rules: each shipped one is broken by a damage, and no other is")
{
	const std::pair<const char *, Events> damages[] = {
	    {"a system call returns before the next one enters", without(sound(), 2200)},
	    {"a system call returns only once", without(sound(), 2300)},
	    {"a CPU switches from the thread that it switched to",
	     changed(sound(), 3400, [](Posted &posted) { posted.words = {two(11, 12)}; })},
	    {"a switch is to another thread", with(sound(), {switches(3150, 0, 10, 10, 0)})},
	    {"a thread runs on one CPU only", with(sound(), {switches(3120, 1, 0, 10), switches(3180, 1, 10, 0)})},
	    {"a thread that was woken or created runs soon",
	     with(sound(), {{4000, 0, EDC_ID_SCHED_WAKING, 0, {two(12, 120)}}})},
	    {"a thread that ended does not run again",
	     with(sound(), {switches(3550, 1, 0, 20), switches(3560, 1, 20, 0)})},
	    {"a thread that says it exits ends", changed(sound(), 2800, [](Posted &posted) { posted.arg = 1; })},
	    {"interrupt handlers pair", without(sound(), 2505)},
	    {"softirqs pair", without(sound(), 2525)},
	    {"interrupts of vectors pair and nest",
	     changed(changed(sound(), 2570, [](Posted &posted) { posted.time = 2555; }), 2560,
		     [](Posted &posted) { posted.arg = 253; })},
	    {"a block request completes once",
	     with(sound(), {{2960, 0, EDC_ID_BLOCK_RQ_COMPLETE, 0, {two(8, 4096), 77}}})},
	    {"the recorder proves the clock every second", without(sound(), 900 + 9 * second)},
	    {"levels are those of a card",
	     with(sound(), {{5000, 0, EDC_ID_SOFTIRQ_ENTRY, 1, {}, 13}, {5010, 0, EDC_ID_SOFTIRQ_EXIT, 1, {}, 13}})},
	    {"the activity that a thread ends is the one it began last", without(sound(), 3003)},
	};
	std::set<std::string> all;
	for (const auto &[rule, events] : damages) {
		INFO(rule);
		CHECK(broken(events) == std::set<std::string>{rule});
		all.insert(rule);
	}
	std::vector<rules::RuleText> texts = rules::load_rules("kernel");
	for (rules::RuleText &text : rules::load_rules("user"))
		texts.push_back(text);
	for (const rules::RuleText &text : texts)
		CHECK(all.contains(text.name));
}

} // namespace test_rules_shipped
