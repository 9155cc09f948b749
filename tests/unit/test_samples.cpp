// SPDX-License-Identifier: MIT
// The sample fold: what CPUs answer when all are asked, by process, and how far apart the answers are.
#include <catch2/catch.hpp>

#include "answers/report/idle_table.h"
#include "answers/report/samples_table.h"
#include "monitor/card.h"
#include "reading/analyze/samples.h"
#include "samples.h"

namespace test_samples {

using namespace monitor;

namespace {

const std::string switches =
    samples::event_block(EDC_ID_SCHED_SWITCH, "sched_switch", "u16_t prev_state; s32_t prev_pid; s32_t next_pid;");
const std::string events =
    switches + samples::event_block(EDC_ID_SAMPLE, "sample", "u16_t doing; s32_t pid; s32_t tgid; u64_t number;");

struct Contradictions : analyze::Observer {
	unsigned count = 0;
	void contradiction(analyze::Contradiction, std::uint64_t, std::uint32_t, const analyze::Thread &) override
	{
		++count;
	}
};

struct History {
	std::vector<samples::StreamWriter> cpus = {{0, 0}, {1, 0}};

	History()
	{
		for (samples::StreamWriter &cpu : cpus)
			cpu.open(0);
	}
	void switches(unsigned cpu, std::uint64_t time, std::uint64_t prev, std::uint64_t next)
	{
		cpus[cpu].post(time, EDC_ID_SCHED_SWITCH, 0, {prev | next << 32});
	}
	void answers(unsigned cpu, std::uint64_t time, unsigned doing, std::uint64_t tid, std::uint64_t number)
	{
		cpus[cpu].post(time, EDC_ID_SAMPLE, doing, {tid | tid << 32, number});
	}
};

struct Sampled {
	explicit Sampled(History &history)
	    : trace(samples::trace(history.cpus, events)), thread_fold(trace, whole()), fold(thread_fold)
	{
		thread_fold.add(fold);
		thread_fold.add(contradictions);
		analyze::feed(trace, thread_fold);
		fold.finish();
	}

	static analyze::RecordingInfo whole()
	{
		analyze::RecordingInfo info;
		info.state = "complete";
		info.start.time = 0;
		info.end.time = 2000;
		return info;
	}

	trace::Trace trace;
	analyze::ThreadFold thread_fold;
	analyze::SampleFold fold;
	Contradictions contradictions;
};

} // namespace

TEST_CASE("samples: by process, and apart in time")
{
	History history;
	history.switches(0, 10, 0, 7);
	history.answers(0, 100, EDC_DOING_USER, 7, 1);
	history.answers(1, 103, EDC_DOING_IDLE, 0, 1);
	history.answers(1, 200, EDC_DOING_IDLE, 0, 2);
	history.answers(0, 205, EDC_DOING_KERNEL, 7, 2);
	history.answers(0, 300, EDC_DOING_USER, 7, 3); // the other CPU did not answer
	const Sampled sampled(history);
	CHECK(sampled.contradictions.count == 0);
	CHECK(sampled.fold.samples() == 5);
	CHECK(sampled.fold.rounds() == 3);
	CHECK(sampled.fold.complete() == 2);
	CHECK(sampled.fold.spreads().min == 3);
	CHECK(sampled.fold.spreads().max == 5);
	CHECK(sampled.fold.spreads().histogram.total() == 2); // alone, a CPU has none
	CHECK(sampled.fold.missing() == 0);                   // a recording may end within a round
	const auto processes = sampled.fold.processes();
	REQUIRE(processes.size() == 2);
	CHECK(processes[0].leader->tid == 7);
	CHECK(processes[0].user == 2);
	CHECK(processes[0].kernel == 1);
	CHECK(processes[1].leader->tid == 0);
	CHECK(processes[1].samples() == 2);
	const report::Table table = report::samples_table(sampled.fold);
	CHECK(std::get<double>(table.rows[0][table.column("share%")]) == 60);
	CHECK(report::samples_json(sampled.fold, sampled.trace.description().clock) ==
	      R"({"taken": 3, "complete": 2, "missing": 0, "spread_ns": {"min": 3, "median": 3, "p99": 5, "max": 5}})");
}

TEST_CASE("samples: another thread than the switches tell is a contradiction")
{
	History history;
	history.switches(0, 10, 0, 7);
	history.answers(0, 100, EDC_DOING_USER, 8, 1);
	history.answers(1, 101, EDC_DOING_IDLE, 0, 1);
	CHECK(Sampled(history).contradictions.count == 1);
}

TEST_CASE("samples: many that not all answer cost no memory, and are counted")
{
	History history;
	for (unsigned number = 1; number <= 100; ++number)
		history.answers(0, 10 * number, EDC_DOING_IDLE, 0, number);
	history.answers(1, 1002, EDC_DOING_IDLE, 0, 100);
	const Sampled sampled(history);
	CHECK(sampled.fold.rounds() == 100);
	CHECK(sampled.fold.complete() == 1);
	CHECK(sampled.fold.missing() == 98); // not those of the first round and the last one
}

TEST_CASE("samples: numbers that a CPU has none of are missing, also those that no CPU has")
{
	History history;
	for (const unsigned number : {3, 4, 7, 8, 9}) {
		history.answers(0, 100 * number, EDC_DOING_IDLE, 0, number);
		if (number != 8)
			history.answers(1, 100 * number + 1, EDC_DOING_USER, 5, number);
	}
	history.answers(0, 901, EDC_DOING_IDLE, 0, 9); // late, it answers again: not another CPU
	const Sampled sampled(history);
	CHECK(sampled.fold.samples() == 10);
	CHECK(sampled.fold.rounds() == 5);
	CHECK(sampled.fold.complete() == 4);
	CHECK(sampled.fold.missing() == 5);
	REQUIRE(sampled.fold.cpu(0));
	CHECK(sampled.fold.missing(*sampled.fold.cpu(0)) == 2); // 5 and 6
	CHECK(sampled.fold.missing(*sampled.fold.cpu(1)) == 3);
	CHECK(sampled.fold.cpu(1)->idle == 0);
	CHECK_FALSE(sampled.fold.cpu(2));
	CHECK(
	    report::samples_text(sampled.fold, sampled.trace.description().clock).find("5 times a CPU has no sample") !=
	    std::string::npos);
}

TEST_CASE("samples: one CPU alone has no spread")
{
	History history;
	for (unsigned number = 1; number <= 3; ++number)
		history.answers(0, 10 * number, EDC_DOING_IDLE, 0, number);
	const Sampled sampled(history);
	CHECK(report::samples_json(sampled.fold, sampled.trace.description().clock) ==
	      R"({"taken": 3, "complete": 3, "missing": 0, "spread_ns": null})");
}

TEST_CASE("samples: the 95 % interval of a share")
{
	const auto is_about = [](const report::ShareInterval &found, double low, double high) {
		CHECK(found.low == Approx(low).margin(1e-4));
		CHECK(found.high == Approx(high).margin(1e-4));
	};
	// Figures of tables of Wilson's interval.
	is_about(report::share_interval(5, 10, 0), 0.2366, 0.7634);
	is_about(report::share_interval(0, 10, 0), 0, 0.2775);
	is_about(report::share_interval(10, 10, 0), 0.7225, 1);
	is_about(report::share_interval(81, 263, 0), 0.2553, 0.3662);
	is_about(report::share_interval(0, 0, 0), 0, 1);
	for (std::uint64_t samples = 1; samples < 2000; ++samples) {
		CHECK(report::share_interval(0, samples, 0).low == 0); // not a little more
		CHECK(report::share_interval(samples, samples, 0).high == 1);
	}
	is_about(report::share_interval(5, 8, 2), 0.2366, 0.8922); // 5 to 7 of 10
}

TEST_CASE("samples: idle by count beside idle by time")
{
	History history;
	history.switches(0, 0, 7, 0); // idle until 1200, of 2000
	history.switches(1, 0, 0, 8);
	history.answers(0, 100, EDC_DOING_IDLE, 0, 1);
	history.answers(1, 100, EDC_DOING_USER, 8, 1);
	history.answers(0, 500, EDC_DOING_IDLE, 0, 2);
	history.switches(0, 1200, 0, 7);
	history.answers(0, 1900, EDC_DOING_USER, 7, 3);
	history.answers(1, 1900, EDC_DOING_USER, 8, 3);
	const Sampled sampled(history);
	const report::Table table = report::idle_table(sampled.fold, sampled.thread_fold);
	const auto cell = [&](std::size_t row, const char *column) { return table.rows[row][table.column(column)]; };
	REQUIRE(table.rows.size() == 2);
	CHECK(std::get<std::uint64_t>(cell(0, "samples")) == 3);
	CHECK(std::get<std::uint64_t>(cell(0, "idle")) == 2);
	CHECK(std::get<double>(cell(0, "sampled%")) == Approx(66.667).margin(0.01));
	CHECK(std::get<double>(cell(0, "time%")) == Approx(60));
	CHECK(std::get<std::string>(cell(0, "agrees")) == "yes");
	CHECK(std::get<double>(cell(1, "time%")) == 0);
	CHECK(std::get<std::uint64_t>(cell(1, "missing")) == 1);
}

TEST_CASE("samples: without switches the time is unknown, and a CPU without samples has no share")
{
	std::vector<samples::StreamWriter> cpus = {{0, 0}, {1, 0}};
	cpus[0].open(0);
	cpus[1].open(0);
	cpus[0].post(10, EDC_ID_SAMPLE, EDC_DOING_IDLE, {0, 1});
	cpus[1].post(10, EDC_ID_SAMPLE + 1, 0, {});
	trace::Trace trace = samples::trace(
	    cpus, samples::event_block(EDC_ID_SAMPLE, "sample", "u16_t doing; s32_t pid; s32_t tgid; u64_t number;") +
		      samples::event_block(EDC_ID_SAMPLE + 1, "other", "u16_t nothing;"));
	analyze::ThreadFold thread_fold(trace, {});
	analyze::SampleFold fold(thread_fold);
	thread_fold.add(fold);
	analyze::feed(trace, thread_fold);
	fold.finish();
	const report::Table table = report::idle_table(fold, thread_fold);
	REQUIRE(table.rows.size() == 2);
	CHECK(table.rows[0][table.column("time%")].index() == 0);
	CHECK(table.rows[0][table.column("agrees")].index() == 0);
	CHECK(std::get<double>(table.rows[0][table.column("sampled%")]) == 100);
	CHECK(table.rows[1][table.column("sampled%")].index() == 0);
}

TEST_CASE("samples: none in a recording without them")
{
	std::vector<samples::StreamWriter> cpus = {{0, 0}};
	cpus[0].open(0);
	const trace::Trace trace = samples::trace(cpus, switches);
	const analyze::ThreadFold thread_fold(trace, {});
	CHECK_THROWS_WITH(analyze::SampleFold(thread_fold), Catch::Contains("--sample-every"));
}

} // namespace test_samples
