// SPDX-License-Identifier: MIT
// record --count-only: from the counts that probes left in a card's memory to periods, and what is read from these.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "answers/check/check.h"
#include "fake_card.h"
#include "reading/analyze/feed.h"
#include "reading/analyze/thread_fold.h"
#include "recording/periods/counted_periods.h"
#include "samples.h"
#include "scratch.h"

namespace test_counted_periods {

using namespace monitor;
using monitor::card::BpfCard;
using record::ClassCountReader;
using record::CountedPeriods;
using record::CountsByClass;
using record::Sync;

namespace {

constexpr unsigned waking = EDC_ID_SCHED_WAKING - EDC_ID_KERNEL_FIRST, entry = EDC_ID_SYS_ENTER - EDC_ID_KERNEL_FIRST;
constexpr std::uint64_t second = 1'000'000'000, real_start = 1'700'000'000 * second + second / 4;

const std::string counted_events =
    samples::event_block(EDC_ID_STATISTICS_PERIOD, "statistics_period",
			 "x16_t flags; u64_t end; u64_t lost; u64_t late; u64_t recorder_ns;") +
    samples::event_block(EDC_ID_STATISTICS_EVENTS, "statistics_events", "u16_t event_id; u64_t number;") +
    samples::event_block(EDC_ID_SCHED_WAKING, "sched_waking", "u16_t target_cpu; s32_t pid; s32_t prio;") +
    samples::event_block(EDC_ID_SYS_ENTER, "sys_enter", "u12_t id; abi_t abi;");

void add(BpfCard &card, unsigned cpu, unsigned level, unsigned slot, std::uint64_t seen, std::uint64_t filtered = 0)
{
	card.area(cpu).level[level].filtered[slot] += filtered;
	card.area(cpu).level[level].seen[slot] += seen;
}

// A tick is a nanosecond since the start.
Sync at(std::uint64_t ns)
{
	Sync sync;
	sync.time = 1000 + ns;
	sync.monotonic_ns = 77 * second + ns;
	sync.realtime_ns = real_start + ns;
	return sync;
}

struct Counting {
	Scratch scratch;
	BpfCard card{fake::options(2, 128)};
	Sync now = at(0);
	CountedPeriods periods;

	explicit Counting(std::uint64_t keep_ns = 0)
	    : periods(
		  card, {second, keep_ns, true}, samples::uuid, [this] { return now; },
		  [] { return samples::description_text(counted_events); })
	{
	}

	// Without recording.json these are files of a trace.
	void complete(std::uint64_t end, const std::string &classes = "")
	{
		std::filesystem::create_directory(scratch.path() + "/.monitor");
		std::ofstream(scratch.path() + "/.monitor/recording.json")
		    << fmt::format(R"({{"state": "complete", "card": "bpf", "programs": ["sched_waking", "sys_enter"],
			"start": {{"time": 1000}}, "end": {{"time": {}}}, "statistics": {{"period_ns": 1000000000,
			"keep_ns": 0, "counts_only": true, "hidden_threads": 0}}, "classes": [{}]}})",
				   1000 + end, classes);
	}
	analyze::Periods read(trace::TimeRange range = {})
	{
		trace::Trace trace = trace::Trace::open(scratch.path());
		analyze::ThreadFold fold(trace, analyze::recording_of(trace), {range, {}, {}});
		analyze::feed(trace, fold);
		return fold.periods();
	}
	std::vector<std::string> files() const
	{
		std::vector<std::string> names;
		for (const auto &entry : std::filesystem::directory_iterator(scratch.path()))
			if (const std::string name = entry.path().filename(); name.starts_with("statistics_"))
				names.push_back(name);
		std::ranges::sort(names);
		return names;
	}
	std::map<std::string, check::Verdict> judged()
	{
		trace::Trace trace = trace::Trace::open(scratch.path());
		std::map<std::string, check::Verdict> worst;
		for (const check::Statement &statement : check::judge(trace, analyze::recording_of(trace))) {
			auto &verdict = worst.try_emplace(statement.id, statement.verdict).first->second;
			if (statement.verdict == check::Verdict::fails)
				verdict = statement.verdict;
		}
		return worst;
	}
};

using Events = std::map<std::uint32_t, std::uint64_t>;

} // namespace

TEST_CASE("count only: a reader sums CPUs and levels, and never counts what was rejected")
{
	fake::set_misses(3);
	BpfCard card{fake::options(2, 128)};
	ClassCountReader reader(card);
	add(card, 0, 0, waking, 10);
	add(card, 1, 2, waking, 5, 2);
	add(card, 1, 0, entry, 7, 7);
	CHECK(reader.read().number[waking] == 13);
	CHECK(reader.read().number[entry] == 0);
	CHECK(reader.read().lost == 0);
	// It looks between what a probe counted as rejected and as seen.
	add(card, 1, 2, waking, 0, 1);
	CHECK(reader.read().number[waking] == 13);
	add(card, 1, 2, waking, 1);
	CHECK(reader.read().number[waking] == 13);
	card.area(0).too_deep[entry] = 4;
	fake::set_misses(5);
	CHECK(reader.read().lost == 6);
	CHECK(reader.read().number[entry] == 0);
	fake::set_misses(0);
}

TEST_CASE("count only: what is read while probes count never steps back and never exceeds what passed")
{
	BpfCard card{fake::options(1, 128)};
	ClassCountReader reader(card);
	edc_level &level = card.area(0).level[0];
	std::atomic<std::uint64_t> passed{0};
	std::atomic<bool> is_over{false};
	std::thread probe([&] {
		for (std::uint64_t i = 0; i < 3'000'000; ++i) {
			if (i % 3)
				__atomic_store_n(&level.filtered[waking], level.filtered[waking] + 1, __ATOMIC_RELEASE);
			else
				passed.fetch_add(1); // may be counted from here on
			__atomic_store_n(&level.seen[waking], level.seen[waking] + 1, __ATOMIC_RELEASE);
		}
		is_over = true;
	});
	std::uint64_t before = 0, wrong = 0;
	while (!is_over) {
		const std::uint64_t read = reader.read().number[waking];
		wrong += read < before || read > passed;
		before = read;
	}
	probe.join();
	CHECK(wrong == 0);
	CHECK(reader.read().number[waking] == 1'000'000);
}

TEST_CASE("count only: periods have what was added in them, at the multiples of their length")
{
	Counting counting;
	add(counting.card, 0, 0, waking, 100); // before all probes were attached
	counting.periods.start(counting.scratch.path(), at(0));
	CHECK(counting.periods.due() ==
	      std::chrono::steady_clock::time_point(std::chrono::nanoseconds(77 * second + second * 3 / 4)));
	add(counting.card, 0, 0, waking, 11);
	add(counting.card, 1, 1, entry, 5);
	counting.now = at(second * 3 / 4 + 300);
	counting.periods.end_period(at(second * 3 / 4 + 200)); // a little late
	add(counting.card, 0, 0, waking, 1);
	// A recorder that stood still ends two periods as one.
	counting.now = at(second * 11 / 4 + 150);
	counting.periods.end_period(at(second * 11 / 4 + 100));
	add(counting.card, 0, 0, waking, 4);
	counting.now = at(3 * second + 10);
	counting.periods.end(at(3 * second));
	add(counting.card, 1, 0, waking, 30); // after the end
	counting.periods.finish();
	CHECK(counting.periods.reads().max_late_ns == 200);
	CHECK(counting.periods.reads().max_width_ns == 100);
	const std::vector<std::string> names = counting.files();
	REQUIRE(names.size() == 3);
	CHECK(names[0].ends_with("20.250Z"));
	CHECK(names[1].ends_with("21Z"));
	CHECK(names[2].ends_with("23Z"));

	counting.complete(3 * second);
	const analyze::Periods all = counting.read();
	CHECK(all.count == 3);
	CHECK(all.ticks == 3 * second);
	CHECK(all.lossy == 0);
	CHECK(all.events == Events{{EDC_ID_SCHED_WAKING, 16}, {EDC_ID_SYS_ENTER, 5}});
	CHECK(all.outside == Events{{EDC_ID_SCHED_WAKING, 130}});
	const std::uint64_t first_end = 1000 + second * 3 / 4 + 200;
	CHECK(counting.read({0, first_end - 1}).events == Events{{EDC_ID_SCHED_WAKING, 11}, {EDC_ID_SYS_ENTER, 5}});
	CHECK(counting.read({first_end, first_end}).events == Events{{EDC_ID_SCHED_WAKING, 1}});
	CHECK(counting.judged()["periods"] == check::Verdict::holds);
	CHECK(counting.judged()["losses"] == check::Verdict::holds);
}

TEST_CASE("count only: the sums over all periods are what the probes counted, and losses are told")
{
	Counting counting;
	counting.periods.start(counting.scratch.path(), at(0));
	add(counting.card, 0, 0, waking, 20, 5);
	counting.card.area(1).too_deep[waking] = 2;
	fake::set_misses(1);
	counting.periods.end_period(at(second * 3 / 4));
	add(counting.card, 0, 0, waking, 10);
	counting.periods.end(at(second));
	counting.periods.finish();
	fake::set_misses(0);
	const auto complete = [&](std::uint64_t seen) {
		counting.complete(second, fmt::format(R"({{"id": {}, "name": "sched_waking", "family": "sched",
			"seen": {}, "refused": 0, "too_deep": 2, "filtered": 5}})",
						      +EDC_ID_SCHED_WAKING, seen));
	};
	complete(32);
	CHECK(counting.read().lost == 3);
	CHECK(counting.read().lossy == 1);
	CHECK(counting.judged()["conservation"] == check::Verdict::holds);
	CHECK(counting.judged()["losses"] == check::Verdict::fails); // recording.json says nothing of the refused one
	complete(33);
	CHECK(counting.judged()["conservation"] == check::Verdict::fails);
}

TEST_CASE("count only: older periods go")
{
	Counting counting(2 * second);
	counting.periods.start(counting.scratch.path(), at(0));
	for (std::uint64_t i = 0; i < 10; ++i)
		counting.periods.end_period(at(second * 3 / 4 + i * second));
	counting.periods.end(at(second * 10));
	counting.periods.finish();
	CHECK(counting.files().size() <= 4);
	CHECK(counting.files().back().ends_with("30Z"));
}

} // namespace test_counted_periods
