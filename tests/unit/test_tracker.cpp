// SPDX-License-Identifier: MIT
// The fold of programs' activities: small hand-made histories of instrumented threads, and what their activities must
// come to. One tick is one nanosecond.
#include <catch2/catch.hpp>

#include "activity_history.h"
#include "answers/report/activities_table.h"
#include "monitor/card.h"
#include "reading/activities/totals.h"
#include "reading/analyze/thread_fold.h"
#include "samples.h"

namespace test_tracker {

using namespace monitor;
using namespace activity_history;
using activities::Label;

namespace {

struct Folded {
	explicit Folded(trace::Trace all, Label by = Label::process, analyze::Scope scope = {},
			std::vector<analyze::FunctionLeftOut> left_out = {})
	    : info(make_info(std::move(left_out))), trace(std::move(all)), fold(trace, info, std::move(scope)),
	      tracker(analyze::input_of(trace, info), fold, {by == Label::argument, nullptr}),
	      totals({activities::ActivitySource::program, {Label::activity, by}}, fold, tracker)
	{
		tracker.add(totals);
		fold.add(tracker);
		analyze::feed(trace, fold);
		tracker.finish();
		rows = totals.rows();
	}
	explicit Folded(History &history, Label by = Label::process, const std::string &description = events,
			analyze::Scope scope = {})
	    : Folded(samples::trace(history.streams, description), by, std::move(scope))
	{
	}
	static analyze::RecordingInfo make_info(std::vector<analyze::FunctionLeftOut> left_out)
	{
		analyze::RecordingInfo info;
		info.functions.budget.left_out = std::move(left_out);
		info.present = true;
		info.state = "complete";
		info.start.time = 0;
		info.end.time = 1'000'000;
		info.programs = {"sched_switch", "sched_waking"};
		return info;
	}
	const activities::TotalsRow &row(const std::string &activity, std::uint64_t number = 7) const
	{
		for (const activities::TotalsRow &row : rows)
			if (row.parts[0].text == activity && row.parts[1].number == number)
				return row;
		throw std::runtime_error("no such row");
	}
	std::pair<std::uint64_t, std::uint64_t> unpaired() const
	{
		return {tracker.unpaired().begins, tracker.unpaired().ends};
	}

	analyze::RecordingInfo info;
	trace::Trace trace;
	analyze::ThreadFold fold;
	activities::Tracker tracker;
	activities::Totals totals;
	std::vector<activities::TotalsRow> rows;
};

using Counts = std::pair<std::uint64_t, std::uint64_t>;

} // namespace

TEST_CASE("activities: activities inside of another are not in its exclusive time")
{
	History history;
	history.posts(100, a_begin);
	history.posts(110, b_begin);
	history.posts(140, b_end);
	history.posts(150, b_begin);
	history.posts(160, plain); // no activity: it has no end
	history.posts(170, b_end);
	history.posts(200, a_end);
	Folded folded(history);
	CHECK(folded.rows.size() == 2);
	CHECK(folded.row("a").count == 1);
	CHECK(folded.row("a").total.ticks == 100);
	CHECK(folded.row("a").exclusive == 50);
	CHECK(folded.row("b").count == 2);
	CHECK(folded.row("b").total.ticks == 50);
	CHECK(folded.row("b").exclusive == 50);
	CHECK(folded.row("b").mean == 25);
	CHECK(folded.row("b").max == 30);
	CHECK(folded.unpaired() == Counts(0, 0));
	CHECK(report::unpaired_text(folded.totals).empty());
}

TEST_CASE("activities: the window in which one ends has all of it")
{
	History history;
	history.switches(90, 0, 0, 7);
	history.posts(100, a_begin);
	history.posts(110, b_begin);
	history.posts(130, b_end);
	history.switches(140, 7, 1, 0);
	history.wakes(180, 7);
	history.switches(190, 0, 0, 7);
	history.posts(200, a_end);
	history.posts(210, b_end); // ends nothing
	history.posts(220, a_begin);
	const auto in_window = [&](std::uint64_t from, std::uint64_t to) {
		return Folded(history, Label::process, events, {{from, to}, {}, {}});
	};
	const Folded first = in_window(0, 119), second = in_window(120, 199), third = in_window(200, ~0ull);
	CHECK(first.rows.empty());
	CHECK(first.unpaired() == Counts(0, 0));
	CHECK(second.rows.size() == 1);
	CHECK(second.row("b").total.ticks == 20);
	CHECK(third.rows.size() == 1);
	CHECK(third.row("a").total.ticks == 100);
	CHECK(third.row("a").total.blocked == 40);
	CHECK(third.row("a").total.waiting == 10);
	CHECK(third.row("a").total.cpu == 50);
	CHECK(third.row("a").exclusive == 80);
	CHECK(third.unpaired() == Counts(1, 1));
}

TEST_CASE("activities: time inside one that never ends belongs to the window in which it was spent")
{
	History history;
	history.posts(100, a_begin);
	history.posts(110, a_begin);
	history.posts(130, a_end);
	history.posts(300, a_begin); // never ends, as the first one
	history.posts(310, a_begin);
	history.posts(315, a_end);
	const Folded early(history, Label::process, events, {{0, 199}, {}, {}});
	CHECK(early.row("a").count == 1);
	CHECK(early.row("a").total.ticks == 20);
	const Folded late(history, Label::process, events, {{200, ~0ull}, {}, {}});
	CHECK(late.row("a").count == 1);
	CHECK(late.row("a").total.ticks == 5);
	CHECK(Folded(history).row("a").total.ticks == 25);
}

TEST_CASE("activities: what recurs is counted each time, its total is that of the outermost")
{
	History history;
	history.posts(100, a_begin, 1);
	history.posts(110, b_begin);
	history.posts(120, a_begin, 2);
	history.posts(130, a_begin, 1);
	history.posts(150, a_end, 1);
	history.posts(160, a_end_long, 2); // the other layout of the same name; its word is the next token
	history.streams[1].put_word(0);
	history.posts(170, b_end);
	history.posts(200, a_end, 1);
	Folded folded(history);
	CHECK(folded.row("a").count == 3);
	CHECK(folded.row("a").total.ticks == 100);
	CHECK(folded.row("a").exclusive == 40 + 20 + 20); // all but what is b's alone
	CHECK(folded.totals.uncertain() == 2);            // which of those with 1 ended first
	CHECK(folded.row("a").mean == (100 + 40 + 20) / 3);
	CHECK(folded.row("b").exclusive == 20);

	Folded by_argument(history, Label::argument);
	CHECK(by_argument.row("a", 1).count == 2);
	CHECK(by_argument.row("a", 1).total.ticks == 100);
	CHECK(by_argument.row("a", 2).total.ticks == 40); // lies in no other with its argument
}

TEST_CASE("activities: what has no partner is counted and costs nothing else")
{
	History history;
	history.posts(50, a_end);
	history.posts(100, a_begin);
	history.posts(110, b_begin); // its end never comes
	history.posts(120, b_begin, 1);
	history.posts(130, b_end, 1);
	history.posts(200, a_end);
	history.posts(210, b_end);
	history.posts(300, a_begin, 1); // still open at the end
	history.posts(310, a_begin, 2);
	history.posts(330, a_end, 2);
	Folded folded(history);
	CHECK(folded.unpaired() == Counts(2, 2));
	CHECK(folded.row("a").count == 2);
	CHECK(folded.row("a").total.ticks == 100 + 20); // the outer one of the last two is not known
	CHECK(folded.row("a").exclusive == 90 + 20);    // the lost b's inner b is still one
	CHECK(folded.row("b").total.ticks == 10);
	CHECK(report::unpaired_text(folded.totals) ==
	      "unpaired: 2 begins without an end, 2 ends without a begin; they are in no row\n");
	CHECK(report::unpaired_json(folded.totals) == R"({"begins": 2, "ends": 2, "left_out": 0})");
}

TEST_CASE("activities: an end with the argument of an open begin ends that one")
{
	History history;
	for (unsigned i = 0; i < 40; ++i)
		history.posts(100 + 10 * i, a_begin, i);
	for (unsigned i = 0; i < 40; ++i) {
		history.posts(1000 + 10 * i, b_begin, i);
		history.posts(1005 + 10 * i, b_end, i);
		history.posts(1006 + 10 * i, a_end, i);
	}
	Folded folded(history, Label::argument);
	CHECK(folded.unpaired() == Counts(0, 0));
	CHECK(folded.totals.uncertain() == 0);
	for (unsigned i = 0; i < 40; ++i) {
		CHECK(folded.row("a", i).total.ticks == 906);
		CHECK(folded.row("b", i).total.ticks == 5);
	}
	Folded together(history);
	CHECK(together.row("a").count == 40);
	CHECK(together.row("a").max == 906);
	CHECK(together.row("a").total.ticks == 1396 - 100); // each moment once
}

TEST_CASE("activities: two that overlap share no time of their row, and one around them has it once")
{
	History history;
	history.posts(90, b_begin, 9);
	history.posts(100, a_begin, 1);
	history.posts(110, a_begin, 2);
	history.posts(115, a_begin, 3);
	history.posts(118, a_end, 3); // inside both
	history.posts(120, a_end, 1);
	history.posts(130, a_begin, 4);
	history.posts(135, a_end, 4);
	history.posts(150, a_end, 2);
	history.posts(160, b_end, 9);
	Folded folded(history);
	CHECK(folded.row("a").count == 4);
	CHECK(folded.row("a").total.ticks == 50);
	CHECK(folded.row("a").max == 40);
	CHECK(folded.row("b").exclusive == 20);
	CHECK(folded.unpaired() == Counts(0, 0));
}

TEST_CASE("activities: of what overlaps without arguments only the sum of times is known")
{
	History history;
	for (unsigned i = 0; i < 3; ++i)
		history.posts(100 + 10 * i, a_begin);
	for (unsigned i = 0; i < 3; ++i)
		history.posts(200 + 10 * i, a_end);
	history.posts(300, a_begin);
	history.posts(307, a_end);
	Folded folded(history);
	const activities::TotalsRow &row = folded.row("a");
	CHECK(row.count == 4);
	CHECK(row.total.ticks == 127);
	CHECK(row.mean == 307 / 4);
	CHECK(row.max == 7);
	CHECK(folded.totals.uncertain() == 3);
	CHECK(report::unpaired_text(folded.totals).starts_with("3 overlap: "));
}

TEST_CASE("activities: what began before the recording is not taken for what is open")
{
	History history;
	history.posts(100, a_begin, 1);
	history.posts(110, a_begin, 2);
	history.posts(120, a_end, 1);
	history.posts(130, a_end, 2); // it outlived one around it: ends have the arguments of their begins
	history.posts(140, a_begin, 3);
	history.posts(150, a_end, 7);
	history.posts(160, a_end, 3);
	Folded folded(history, Label::argument);
	CHECK(folded.unpaired() == Counts(0, 1));
	CHECK(folded.row("a", 3).total.ticks == 20);
}

TEST_CASE("activities: one that outlives those around it and has no end is replaced by the next with its argument")
{
	History history;
	history.posts(100, a_begin, 1);
	history.posts(110, b_begin, 2); // its end is lost
	history.posts(120, a_end, 1);
	history.posts(200, b_begin, 2);
	history.posts(210, b_end, 2);
	Folded folded(history);
	CHECK(folded.unpaired() == Counts(1, 0));
	CHECK(folded.row("b").total.ticks == 10);
	CHECK(folded.totals.uncertain() == 0);
}

TEST_CASE("activities: an event loop may have more open than are kept")
{
	History history;
	constexpr unsigned levels = activities::OpenActivities::max_depth;
	const auto post = [&](std::uint64_t time, unsigned id, unsigned argument) {
		if (history.streams[1].room() < 8)
			history.open(0, time, 7);
		history.posts(time, id, argument);
	};
	for (unsigned i = 1; i <= levels; ++i)
		post(1000 + i, a_begin, i);
	post(2000, a_end, 1);
	for (unsigned i = 1; i <= 10; ++i)
		post(3000 + i, a_begin, levels + i);
	for (unsigned i = levels; i <= levels + 10; ++i)
		post(4000 + i, a_end, i);
	Folded folded(history);
	CHECK(folded.row("a").count == 12);
	CHECK(folded.unpaired() == Counts(levels - 2, 0));
}

TEST_CASE("activities: threads have stacks of their own, and rows if asked for")
{
	History history;
	history.posts(100, a_begin, 0, 8);
	history.posts(110, a_begin, 0, 7);
	history.posts(160, a_end, 0, 7);
	history.posts(180, a_end, 0, 8);
	CHECK(Folded(history).row("a").total.ticks == 50 + 80);
	CHECK(Folded(history).rows.size() == 1); // of the process, though nothing names its threads
	Folded by_thread(history, Label::thread);
	CHECK(by_thread.row("a", 7).total.ticks == 50);
	CHECK(by_thread.row("a", 8).total.ticks == 80);
	CHECK(by_thread.unpaired() == Counts(0, 0));
}

TEST_CASE("activities: a loss in one stream of a process ends what it had open in all")
{
	History history(3);
	history.open(2, 0, 9); // another process: its ring is whole
	history.posts(90, a_begin, 0, 9, 2);
	history.posts(100, a_begin);
	history.posts(110, a_begin, 0, 8, 1);
	history.open(0, 200, 7, 5); // 5 lost between 100 and 200
	history.posts(150, b_begin, 0, 8, 1);
	history.posts(210, a_end);
	history.posts(220, b_end, 0, 8, 1);
	history.posts(230, a_end, 0, 8, 1);
	history.posts(240, a_begin);
	history.posts(250, a_end);
	history.posts(260, a_end, 0, 9, 2);
	Folded folded(history, Label::thread);
	CHECK(folded.row("a", 7).count == 1);
	CHECK(folded.row("a", 7).total.ticks == 10);
	CHECK(folded.row("a", 9).total.ticks == 170);
	CHECK(folded.rows.size() == 2);
	CHECK(folded.unpaired() == Counts(3, 3));
}

TEST_CASE("activities: shares are what the scheduler's tokens say of the thread meanwhile")
{
	History history;
	history.switches(50, 0, 0, 7);
	history.posts(100, a_begin); // 20 on the CPU
	history.switches(120, 7, 1, 0);
	history.wakes(160, 7);          // 40 blocked
	history.switches(170, 0, 0, 7); // 10 waiting
	history.switches(175, 7, 0, 0); // 5 on the CPU, then 15 waiting
	history.switches(190, 0, 0, 7);
	history.posts(200, a_end); // 10 on the CPU
	Folded folded(history);
	const activities::Span &total = folded.row("a").total;
	CHECK(total.ticks == 100);
	CHECK(total.cpu == 35);
	CHECK(total.waiting == 25);
	CHECK(total.blocked == 40);
	CHECK(total.unknown() == 0);

	const auto percents = [&](const report::KnownShares &known) {
		const report::Table table = report::activities_table(folded.totals, folded.totals.rows(),
								     folded.trace.description().clock, known);
		return std::vector<report::Cell>(table.rows.at(0).end() - 4, table.rows.at(0).end());
	};
	CHECK(percents({true, true}) == std::vector<report::Cell>{35.0, 25.0, 40.0, 0.0});
	CHECK(percents({true, false}) == std::vector<report::Cell>{35.0, {}, {}, 65.0});
	CHECK(percents({false, false}) == std::vector<report::Cell>(4));
	folded.info.programs = {"sched_switch"};
	CHECK(report::known_shares(folded.info).cpu);
	CHECK_FALSE(report::known_shares(folded.info).waiting);
	folded.info.programs.clear();
	CHECK_FALSE(report::known_shares(folded.info).cpu);
}

TEST_CASE("activities: the parts never exceed the whole, what no token tells is unknown")
{
	History history; // no token says that 7 runs until 190: all of the CPU's time is then given to it
	history.streams[0].header().tid = 7;
	history.posts(100, a_begin);
	history.switches(190, 7, 0, 0);
	history.switches(195, 0, 0, 7);
	history.posts(200, a_end);
	const activities::Span late = Folded(history).row("a").total;
	CHECK(late.cpu == 100);
	CHECK(late.cpu + late.waiting + late.blocked + late.unknown() == 100);

	History silent;
	silent.posts(100, a_begin);
	silent.posts(200, a_end);
	CHECK(Folded(silent).row("a").total.unknown() == 100);
}

TEST_CASE("activities: too deep is unpaired, and what lies within the bound is whole")
{
	History history;
	constexpr unsigned levels = activities::OpenActivities::max_depth + 44;
	static_assert(2 * levels * 8 < EDC_BLOCK_SIZE * 2);
	const auto post = [&](std::uint64_t time, unsigned id) {
		if (history.streams[1].room() < 8)
			history.open(0, time, 7);
		history.posts(time, id);
	};
	for (unsigned i = 0; i < levels; ++i)
		post(1000 + i, a_begin);
	for (unsigned i = 0; i < levels; ++i)
		post(2000 + i, a_end);
	Folded folded(history);
	CHECK(folded.unpaired() == Counts(44, 44));
	CHECK(folded.row("a").count == activities::OpenActivities::max_depth);
	CHECK(folded.row("a").total.ticks == 1000 + levels - 1);
}

TEST_CASE("activities: an argument is shown by its label, or as a number")
{
	History history;
	std::uint64_t time = 100;
	for (const unsigned argument : {1u, 0xfffeu, 20u}) {
		history.posts(time += 10, b_begin, argument);
		history.posts(time += 10, b_end, argument + 1); // the begin's counts
	}
	Folded folded(history, Label::argument);
	CHECK(folded.row("b", 1).parts[1].text == "one");
	CHECK(folded.row("b", 0xfffe).parts[1].text == "minus");
	CHECK(folded.row("b", 20).parts[1].text == "20");
	CHECK(folded.rows.size() == 3);
}

TEST_CASE("activities: there is a most of groups, and the rest is said")
{
	History history;
	std::uint64_t time = 1;
	const auto post = [&](unsigned id, unsigned argument) {
		if (history.streams[1].room() < 8)
			history.open(0, time, 7);
		history.posts(time++, id, argument);
	};
	for (unsigned i = 0; i <= 0xffff; ++i) {
		post(a_begin, i);
		post(a_end, i);
	}
	post(b_begin, 1);
	post(b_end, 1);
	Folded folded(history, Label::argument);
	CHECK(folded.rows.size() == activities::Totals::max_rows);
	CHECK(folded.totals.left_out() == 1);
	CHECK(folded.unpaired() == Counts(0, 0));
}

TEST_CASE("activities: those of the kernel's events are not the programs'")
{
	History history;
	CHECK(Folded(history).tracker.names() == std::vector<std::string>{"a", "b"});
	CHECK(Folded(history, Label::process, kernel_events).tracker.names().empty());
}

TEST_CASE("activities: a loss in a stream of many processes concerns all that are told in such")
{
	History history(2);
	history.open(1, 0, 9);
	history.posts(100, a_begin);
	history.posts(110, a_begin, 0, 9, 1);
	history.open(0, 200, 7, 1);
	history.posts(210, b_begin);
	history.posts(220, b_end);
	history.posts(230, a_end, 0, 9, 1);
	std::vector<std::unique_ptr<trace::Stream>> streams;
	const char *other = GENERATE("user_merged_cpu1", "user_shared");
	for (const char *name : {"kernel_cpu0", "user_merged_cpu0", other})
		streams.push_back(samples::stream(name, history.streams[streams.size()].bytes()));
	Folded folded(trace::Trace(samples::description(events), std::move(streams)));
	CHECK(folded.unpaired() == Counts(2, 1));
	CHECK(folded.rows.size() == 1);
}

namespace {

const std::string function_events =
    events +
    samples::event_block(EDC_ID_SCHED_PROCESS_EXEC, "sched_process_exec",
			 "u16_t compat; s32_t pid; s32_t old_pid; text_t comm[16];") +
    samples::event_block(EDC_ID_FUNCTION_ENTRY, "function_entry", "range_t function; x64_t stack_pointer;") +
    samples::event_block(EDC_ID_FUNCTION_EXIT, "function_exit", "range_t function; x64_t stack_pointer;");
constexpr unsigned zero = 0, one = 1, more = 2; // the functions

struct Calls : History {
	Calls() { switches(1, 0, 0, 7); }
	void enters(std::uint64_t time, unsigned function, std::uint64_t stack_pointer)
	{
		streams[0].post(time, EDC_ID_FUNCTION_ENTRY, function, {stack_pointer});
	}
	void exits(std::uint64_t time, unsigned function, std::uint64_t stack_pointer)
	{
		streams[0].post(time, EDC_ID_FUNCTION_EXIT, function, {stack_pointer});
	}
	Folded fold(std::vector<analyze::FunctionLeftOut> left_out = {})
	{
		return Folded(samples::trace(streams, function_events), Label::process, {}, std::move(left_out));
	}
};

} // namespace

TEST_CASE("activities: a function that another one called is inside of it")
{
	Calls calls;
	calls.enters(100, zero, 0x900);
	calls.enters(110, one, 0x800);
	calls.exits(130, one, 0x800);
	calls.exits(140, zero, 0x900);
	const Folded folded = calls.fold();
	CHECK(folded.row("zero").total.ticks == 40);
	CHECK(folded.row("zero").exclusive == 20);
	CHECK(folded.row("one").total.ticks == 20);
	CHECK(folded.row("zero").left == 0);
	CHECK(folded.unpaired() == Counts(0, 0));
}

TEST_CASE("activities: functions that an exception left are over at the next token further out")
{
	Calls calls;
	calls.enters(100, zero, 0x900);
	calls.enters(110, one, 0x800);
	calls.enters(120, more, 0x700);
	SECTION("an exit")
	{
		calls.exits(150, zero, 0x900);
		const Folded folded = calls.fold();
		CHECK(folded.row("zero").left == 0);
		CHECK(folded.row("zero").total.ticks == 50);
		CHECK(folded.row("one").left == 1);
		CHECK(folded.row("one").total.ticks == 40);
		CHECK(folded.row("some more").left == 1);
		CHECK(folded.unpaired() == Counts(0, 0));
	}
	SECTION("a call from the frame that caught it")
	{
		calls.enters(130, one, 0x800);
		calls.exits(140, one, 0x800);
		calls.exits(150, zero, 0x900);
		const Folded folded = calls.fold();
		CHECK(folded.row("one").count == 2);
		CHECK(folded.row("one").left == 1);
		CHECK(folded.row("one").max == 20);
		CHECK(folded.row("some more").max == 10);
		CHECK(folded.unpaired() == Counts(0, 0));
	}
}

TEST_CASE("activities: functions of fibers end by their own exits, once it is known that there are several stacks")
{
	Calls calls;
	calls.enters(100, zero, 0x900); // it goes from fiber to fiber
	calls.enters(110, one, 0x300);
	calls.enters(120, more, 0x600); // as if `one` had been left
	calls.exits(130, one, 0x300);   // it had not
	calls.enters(140, one, 0x300);
	calls.exits(150, more, 0x600);
	calls.enters(160, more, 0x600);
	calls.exits(170, one, 0x300);
	calls.exits(190, more, 0x600);
	calls.enters(200, one, 0x300);
	calls.enters(220, more, 0x300); // where another is, so that one was left
	calls.exits(230, more, 0x300);
	calls.exits(300, zero, 0x900);
	const Folded folded = calls.fold();
	CHECK(folded.row("zero").total.ticks == 200);
	CHECK(folded.row("one").count == 3);
	CHECK(folded.row("one").max == 30);
	CHECK(folded.row("one").left == 2);
	CHECK(folded.row("some more").max == 30);
	CHECK(folded.row("some more").left == 0);
	CHECK(folded.unpaired() == Counts(0, 1));
	CHECK(report::unpaired_text(folded.totals).find("1 functions went on") != std::string::npos);
}

TEST_CASE("activities: a function that nothing follows is left when its thread ends")
{
	Calls calls;
	calls.enters(100, zero, 0x900);
	calls.enters(110, one, 0x800);
	calls.switches(150, 7, 16, 0); // dead
	const Folded folded = calls.fold();
	CHECK(folded.row("zero").left == 1);
	CHECK(folded.row("one").left == 1);
	CHECK(folded.row("one").total.ticks == 40);
	CHECK(folded.unpaired() == Counts(0, 0));
}

TEST_CASE("activities: a function is left when its thread executes another program under another number")
{
	Calls calls;
	calls.switches(50, 7, 16, 8); // the first of the process is dead
	calls.enters(100, zero, 0x900);
	calls.streams[0].post(150, EDC_ID_SCHED_PROCESS_EXEC, 0, {pair(7, 8), 0x63, 0});
	const Folded folded = calls.fold();
	CHECK(folded.unpaired() == Counts(0, 0));
	CHECK(folded.row("zero", 8).left == 1);
	CHECK(folded.row("zero", 8).total.ticks == 50);
}

TEST_CASE("activities: a function that ends with a jump to another is over, the other has its stack pointer")
{
	Calls calls;
	calls.enters(100, zero, 0x900);
	calls.exits(110, zero, 0x900);
	calls.enters(111, one, 0x900);
	calls.exits(131, one, 0x900);
	const Folded folded = calls.fold();
	CHECK(folded.row("zero").total.ticks == 10);
	CHECK(folded.row("one").total.ticks == 20);
	CHECK(folded.row("zero").left + folded.row("one").left == 0);
}

TEST_CASE("activities: levels of a recursion are counted each, their time once")
{
	Calls calls;
	for (unsigned level = 0; level < 3; ++level)
		calls.enters(100 + 10 * level, one, 0x900 - 0x10 * level);
	for (unsigned level = 3; level-- > 0;)
		calls.exits(200 - 10 * level, one, 0x900 - 0x10 * level);
	const Folded folded = calls.fold();
	CHECK(folded.row("one").count == 3);
	CHECK(folded.row("one").total.ticks == 100);
}

TEST_CASE("activities: an exit without its entry, and an entry without its exit, are unpaired")
{
	Calls calls;
	calls.exits(100, one, 0x900);
	calls.enters(110, zero, 0x900);
	calls.exits(120, one, 0x900);
	calls.exits(130, zero, 0x880);
	const Folded folded = calls.fold();
	CHECK(folded.unpaired() == Counts(1, 3));
	CHECK(folded.rows.empty());
}

TEST_CASE("activities: a function that the budget left out is not left by an exception")
{
	Calls calls;
	calls.enters(100, zero, 0x900);
	calls.enters(110, one, 0x800);
	calls.exits(120, one, 0x800);
	calls.enters(130, one, 0x800); // its exit is not recorded any more
	calls.exits(145, one, 0x700);  // its entry was not, either
	calls.enters(146, one, 0x600);
	calls.exits(150, zero, 0x900);
	const Folded folded = calls.fold({{one, 140, 1, 100, 50}});
	CHECK(folded.row("one").count == 1);
	CHECK(folded.row("one").left == 0);
	CHECK(folded.row("zero").total.ticks == 50);
	CHECK(folded.unpaired() == Counts(1, 0));
}

TEST_CASE("activities: what was called before a loss of events did not end by an exception")
{
	Calls calls;
	calls.enters(100, zero, 0x900);
	calls.enters(110, one, 0x800);
	calls.streams[0].open(120, 3);
	calls.switches(121, 1, 0, 7);
	calls.exits(150, zero, 0x900);
	const Folded folded = calls.fold();
	CHECK(folded.rows.empty());
	CHECK(folded.unpaired().first + folded.unpaired().second > 0);
}

} // namespace test_tracker
