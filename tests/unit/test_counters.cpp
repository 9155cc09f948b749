// SPDX-License-Identifier: MIT
// The fold of counters, and what recording.json says of them: small hand-made histories, and to whom their counts go.
#include <algorithm>
#include <cstring>

#include <catch2/catch.hpp>

#include "answers/check/check.h"
#include "answers/report/measurements_table.h"
#include "counter_history.h"

namespace test_counters {

using namespace monitor;
using namespace counter_history;

namespace {

// Of one CPU, from 100 to 500: 7 runs, then 8, then nobody, then 7 again.
History turns_of_two()
{
	History history;
	history.start = {reading(0, 100, {1000, 10})};
	history.turns(0, 200, {1500, 100}, 7, 8);
	history.turns(0, 260, {1600, 160}, 8, 0);
	history.turns(0, 300, {1605, 161}, 0, 7);
	history.end = {reading(0, 500, {1905, 361})};
	return history;
}

std::vector<check::Statement> statements(History &history)
{
	trace::Trace trace = trace_of(history);
	std::vector<check::Statement> all = check::judge(trace, recording(history.counters()));
	std::erase_if(all, [](const check::Statement &statement) { return statement.id != "counters"; });
	return all;
}

} // namespace

TEST_CASE("counters: what lies between two readings belongs to the thread that ran")
{
	History history = turns_of_two();
	Folded folded(history);
	CHECK(folded.thread(7).counts == Values{500 + 300, 90 + 200, 0});
	CHECK(folded.thread(8).counts == Values{100, 60, 0});
	CHECK(folded.thread(0).counts == Values{5, 1, 0});
	CHECK(folded.thread(7).ticks == Values{100 + 200, 0});
	CHECK(folded.thread(8).ticks == Values{60, 0});
	CHECK(folded.thread(0).ticks == Values{40, 0});
	CHECK(folded.thread(7).occurrences == 2);
	CHECK(folded.thread(8).occurrences == 1);
	CHECK(folded.unknown().ticks == Values{0, 0});
	CHECK(folded.balances({905, 351, 0}));
	CHECK(folded.fold.contradictions() == 0);
}

TEST_CASE("counters: each CPU and each set has readings of its own")
{
	History history(2);
	history.start = {reading(0, 10, {100, 1}), reading(1, 10, {7000, 2}), reading(1, 10, {40}, 1)};
	history.turns(0, 100, {150, 2}, 7, 0);
	history.reads(1, 110, {50}, 1);
	history.turns(1, 110, {8000, 3}, 7, 9);
	history.end = {reading(0, 200, {151, 2}), reading(1, 200, {8100, 5}), reading(1, 200, {90}, 1)};
	Folded folded(history);
	CHECK(folded.thread(7).counts == Values{50 + 1000, 2, 10});
	CHECK(folded.thread(9).counts == Values{100, 2, 40});
	CHECK(folded.thread(9).ticks == Values{90, 90});
	CHECK(folded.balances({51 + 1100, 1 + 3, 50}));
	REQUIRE(folded.fold.parts().size() == 1);
	const auto &cpus = folded.fold.parts().begin()->second.cpus;
	REQUIRE(cpus.size() == 2);
	CHECK(cpus.at(0).counts == Values{51, 1, 0});
	CHECK(cpus.at(1).counts == Values{1100, 3, 50});
	CHECK(cpus.at(1).ticks == Values{190, 190});
}

TEST_CASE("counters: after a loss the sum is unknown, and nothing is missing")
{
	History history;
	history.start = {reading(0, 100, {1000, 10})};
	history.turns(0, 200, {1500, 20}, 7, 8);
	history.open(0, 400, 3, 9); // thread 9 runs after the loss; who ran during it is unknown
	history.turns(0, 400, {4500, 50}, 9, 7);
	history.turns(0, 450, {4600, 60}, 7, 0);
	history.end = {reading(0, 500, {4601, 61})};
	Folded folded(history);
	CHECK(folded.thread(7).counts == Values{500 + 100, 20, 0});
	CHECK(folded.thread(8).counts == Values{0, 0, 0});
	CHECK(folded.thread(9).counts == Values{0, 0, 0});
	CHECK(folded.unknown().counts == Values{3000, 30, 0});
	CHECK(folded.unknown().ticks == Values{200, 0});
	CHECK(folded.balances({3601, 51, 0}));
	CHECK(folded.fold.contradictions() == 0);
}

TEST_CASE("counters: a loss on one CPU leaves what the others count known")
{
	History history(2);
	history.start = {reading(0, 100, {0, 0}), reading(1, 100, {0, 0})};
	history.turns(0, 200, {10, 1}, 7, 8);
	history.turns(1, 210, {20, 1}, 7, 6);
	history.open(0, 300, 1, 8);
	history.turns(0, 310, {30, 2}, 8, 0);
	history.turns(1, 320, {50, 2}, 6, 0);
	history.end = {reading(0, 400, {30, 2}), reading(1, 400, {50, 2})};
	Folded folded(history);
	CHECK(folded.unknown().counts == Values{20, 1, 0});
	CHECK(folded.thread(6).counts == Values{30, 1, 0});
	CHECK(folded.balances({80, 4, 0}));
}

TEST_CASE("counters: readings before the start's or after the end's do not count")
{
	History history;
	history.start = {reading(0, 100, {1000, 10})};
	history.end = {reading(0, 300, {1300, 40})};
	history.turns(0, 50, {400, 4}, 7, 8);
	history.turns(0, 100, {990, 9}, 8, 7); // at the same time, so it may be older
	history.turns(0, 200, {1100, 20}, 7, 8);
	history.turns(0, 280, {1290, 38}, 8, 7);
	history.reads(0, 310, {9000, 50});
	Folded folded(history);
	CHECK(folded.thread(7).counts == Values{100 + 10, 10 + 2, 0});
	CHECK(folded.thread(8).counts == Values{190, 18, 0});
	CHECK(folded.all_cpus().ticks == Values{200, 0});
	CHECK(folded.balances({300, 30, 0}));
	CHECK(folded.fold.contradictions() == 0);
}

// The last thread there is the one that stops the CPU. What is read since is what its counters had then.
TEST_CASE("counters: what runs on a CPU that was offline is not counted, and that is said")
{
	const std::string description =
	    events + samples::event_block(
			 EDC_ID_SCHED_WAKEUP_NEW, "sched_wakeup_new",
			 "u16_t target_cpu; s32_t pid; s32_t tgid; s32_t parent_pid; s32_t prio; text_t comm[16];");
	std::uint64_t name[2] = {};
	std::memcpy(name, "migration/1", 11);
	History history(2);
	history.start = {reading(0, 10, {100, 1}), reading(1, 10, {7000, 2})};
	history.streams[0].post(20, EDC_ID_SCHED_WAKEUP_NEW, 1, {15 | 15ull << 32, 2, name[0], name[1]});
	history.turns(0, 100, {150, 2}, 7, 0);
	history.turns(1, 100, {7100, 3}, 7, 0);
	history.turns(1, 150, {7110, 4}, 0, 15);
	history.turns(1, 400, {7115, 4}, 0, 8);
	history.turns(1, 450, {7115, 4}, 8, 0);
	history.end = {reading(0, 500, {170, 5}), reading(1, 500, {7115, 4})};

	Folded folded(history, 0, 0, description);
	CHECK(folded.thread(7).counts == Values{50 + 100, 1 + 1, 0});
	CHECK(folded.thread(15).counts == Values{5, 0, 0});
	for (const auto &[number, part] : folded.fold.parts())
		CHECK(std::ranges::none_of(part.threads, [](const auto &row) { return row.first->tid == 8; }));
	CHECK(folded.fold.uncounted() == std::set<std::uint32_t>{1});
	CHECK(report::uncounted_text(folded.fold).starts_with("unknown: what ran on CPU 1 since it came online"));

	trace::Trace trace = trace_of(history, description);
	unsigned compared = 0, late = 0;
	for (const check::Statement &statement : check::judge(trace, recording(history.counters()))) {
		INFO(statement.text);
		if (statement.id == "counters" && ++compared)
			CHECK(statement.verdict == check::Verdict::holds);
		if (statement.id == "late_cpu" && ++late)
			CHECK(statement.verdict == check::Verdict::not_witnessed);
	}
	CHECK(compared == 3);
	CHECK(late == 1);
}

TEST_CASE("counters: without a reading at the start the first token's is the first, without one at the end the last")
{
	History history;
	history.turns(0, 200, {1100, 20}, 7, 8);
	history.turns(0, 280, {1290, 38}, 8, 7);
	Folded folded(history);
	CHECK(folded.balances({190, 18, 0}));
	CHECK(folded.thread(8).ticks == Values{80, 0});
	const auto said = statements(history);
	REQUIRE(said.size() == 1);
	CHECK(said[0].verdict == check::Verdict::not_checked);
}

// What runs when the window ends may have come after the reading: the counts are not its own.
TEST_CASE("counters: up to the reading at the end counts what ran then, not what came later")
{
	History history;
	history.start = {reading(0, 100, {0, 0})};
	history.turns(0, 150, {10, 1}, 7, 8);
	history.turns(0, 310, {99, 9}, 8, 9); // after the reading, within the window
	history.end = {reading(0, 300, {90, 8})};
	Folded folded(history);
	CHECK(folded.balances({90, 8, 0}));
	CHECK(folded.thread(8).counts == Values{80, 7, 0});
}

TEST_CASE("counters: short and long tokens say for how long a set was enabled, and for how long it was missed")
{
	History history;
	history.start = {reading(0, 100, {0, 0}, 0, 5000, 5000)};
	history.turns(0, 200, {10, 1}, 7, 8);            // short: all the time
	history.reads_long(0, 300, {5200, 5140, 20, 2}); // since the start 200 enabled, in 60 of them not counting
	history.switches(0, 300, 8, 9);
	history.reads_long(0, 400, {5300, 5165, 30, 3});
	history.switches(0, 400, 9, 7);
	history.end = {reading(0, 500, {40, 4}, 0, 5400, 5265)};
	Folded folded(history);
	CHECK(folded.thread(8).enabled_ns == Values{100, 0});
	CHECK(folded.thread(8).missed_ns == Values{60, 0});
	CHECK(folded.thread(9).enabled_ns == Values{100, 0});
	CHECK(folded.thread(9).missed_ns == Values{75, 0});
	CHECK(folded.thread(7).enabled_ns == Values{100 + 100, 0});
	CHECK(folded.thread(7).missed_ns == Values{0, 0});
	CHECK(folded.balances({40, 4, 0}));
}

TEST_CASE("counters: what the short token does not say is reckoned in ns, whatever a tick is")
{
	History history;
	history.start = {reading(0, 100, {0, 0})};
	history.turns(0, 300, {10, 1}, 7, 8);
	std::string metadata = samples::description_text(events), why;
	metadata.replace(metadata.find("1000000000"), 10, "2000000000");
	std::vector<std::unique_ptr<trace::Stream>> streams;
	streams.push_back(samples::stream("s0", history.streams[0].bytes()));
	trace::Trace trace(trace::read_description(metadata, why), std::move(streams));
	const analyze::RecordingInfo info = recording(history.counters());
	analyze::ThreadFold thread_fold(trace, info);
	analyze::CounterFold fold(trace.description(), info.counters.value());
	thread_fold.add(fold);
	analyze::feed(trace, thread_fold);
	REQUIRE(fold.parts().size() == 1);
	const analyze::CounterPart &part = fold.parts().begin()->second;
	const analyze::CounterSums sums = part.of(*part.threads.begin()->first);
	CHECK(sums.ticks[0] == 200);
	CHECK(sums.enabled_ns[0] == 100);
}

TEST_CASE("counters: parts add up to the whole, and those that a reading reaches back over are said")
{
	History history = turns_of_two();
	Folded whole(history), parts(history, 50, 100);
	CHECK(parts.thread(7).counts == whole.thread(7).counts);
	CHECK(parts.thread(8).counts == whole.thread(8).counts);
	CHECK(parts.thread(0).ticks == whole.thread(0).ticks);
	CHECK(parts.balances({905, 351, 0}));
	std::vector<std::uint64_t> numbers;
	for (const auto &[number, part] : parts.fold.parts())
		numbers.push_back(number);
	CHECK(numbers == Values{2, 3, 4, 8}); // of 200, 260, 300 and 500: a reading belongs to the part it was made in
	CHECK(parts.fold.parts().at(2).cpus.at(0).counts == Values{500, 90, 0});
	CHECK(parts.fold.parts().at(8).cpus.at(0).counts == Values{300, 200, 0});
	CHECK(parts.fold.reaching_back() == 4);
	CHECK(whole.fold.reaching_back() == 0);
	Folded long_parts(history, 400, 100);
	CHECK(long_parts.fold.reaching_back() == 1); // only the end's, which is the first of the next part
	CHECK(long_parts.fold.parts().size() == 2);
}

// With --every a thread is read while it goes on running.
TEST_CASE("counters: a reading without a switch is no further occurrence")
{
	History history;
	history.start = {reading(0, 100, {0, 0})};
	history.reads(0, 150, {10, 1});
	history.reads(0, 200, {20, 2});
	history.turns(0, 250, {30, 3}, 7, 8);
	history.end = {reading(0, 300, {40, 4})};
	Folded folded(history);
	CHECK(folded.thread(7).counts == Values{30, 3, 0});
	CHECK(folded.thread(7).occurrences == 1);
	CHECK(folded.fold.parts().at(0).cpus.at(0).occurrences == 2); // and the one that came after
}

TEST_CASE("counters: readings that step back are contradictions, and check says so")
{
	History history;
	history.start = {reading(0, 100, {1000, 10})};
	history.turns(0, 200, {900, 20}, 7, 8);
	history.turns(0, 300, {950, 19}, 8, 7);
	history.end = {reading(0, 400, {2000, 30})};
	Folded folded(history);
	CHECK(folded.fold.contradictions() == 2);
	CHECK(folded.balances({1000, 20, 0}));
	const auto said = statements(history);
	CHECK(std::ranges::count_if(said, [](const check::Statement &statement) {
		      return statement.verdict == check::Verdict::fails &&
			     statement.text.starts_with("2 readings of counters step back");
	      }) == 1);
}

TEST_CASE("counters: check compares each counter with what the recorder read")
{
	History history = turns_of_two();
	const auto said = statements(history);
	REQUIRE(said.size() == 3);
	for (const check::Statement &statement : said)
		CHECK(statement.verdict == check::Verdict::holds);
	CHECK(said[0].text == "instructions: the recorder read 905 on all CPUs, threads, idle and unknown have 905");
	history.end.push_back(reading(0, 510, {1950, 361})); // of one CPU twice
	CHECK(statements(history)[0].verdict == check::Verdict::not_checked);
	history.end.pop_back();
	history.end.back()["values"][0] = 7;
	CHECK(statements(history)[0].verdict == check::Verdict::fails);
}

} // namespace test_counters
