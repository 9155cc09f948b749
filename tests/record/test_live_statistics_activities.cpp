// SPDX-License-Identifier: MIT
// Activities of programs in statistics (answers/live/period_activities.h): periods add up to what a recording of the
// same events says that ended with the last of them, and what finds no room is missing from no sum.
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "answers/check/statistics.h"
#include "history.h"
#include "monitor/function_table.h"
#include "reading/activities/totals.h"
#include "scratch.h"
#include "statistics_files.h"

namespace test_live_statistics_activities {

using namespace statistics_files;
using activities::Label;
using history::pair;

namespace {

constexpr unsigned a_begin = 1024, b_begin = 1026, thread_is = 5;
const std::string program_events =
    history::events + samples::event_block(thread_is, "thread", "u16_t arg; s32_t pid; s32_t tgid;") +
    samples::event_block(a_begin, "a_begin", "u16_t arg;") + samples::event_block(a_begin + 1, "a_end", "u16_t arg;") +
    samples::event_block(b_begin, "b_begin", "u16_t arg;") + samples::event_block(b_begin + 1, "b_end", "u16_t arg;") +
    samples::event_block(EDC_ID_FUNCTION_ENTRY, "function_entry", "range_t function; x64_t stack_pointer;") +
    samples::event_block(EDC_ID_FUNCTION_EXIT, "function_exit", "range_t function; x64_t stack_pointer;");

// A CPU on which threads of some processes are made, run, sleep and end; they mark activities in a stream of their
// process, within each other and their like, and call functions, of which some are left by a jump.
class Programs {
public:
	Programs(std::mt19937 &random, bool has_losses) : random_(random), has_losses_(has_losses)
	{
		streams.reserve(max_processes + 1);
		streams.emplace_back(0, 0).open(0);
	}

	void live(std::size_t steps)
	{
		for (std::size_t i = 0; i < steps; ++i) {
			time += 1 + below(20);
			step();
		}
	}

	std::vector<samples::StreamWriter> streams;
	std::uint64_t time = 100;

private:
	static constexpr std::size_t max_processes = 40;
	struct Task {
		std::int32_t tid, tgid;
		std::size_t stream;
		std::vector<unsigned> marked;                           // by the class of the begin
		std::vector<std::pair<unsigned, std::uint64_t>> called; // function, stack pointer
	};

	unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }

	void is_born()
	{
		const bool is_thread = current_ && below(3) == 0;
		if (!is_thread && streams.size() > max_processes)
			return;
		Task task{
		    next_, is_thread ? current_->tgid : next_, is_thread ? current_->stream : streams.size(), {}, {}};
		++next_;
		if (!is_thread) {
			edc_block &header = streams.emplace_back(0, EDC_LEVEL_USER).open(time);
			header.tid = header.process = static_cast<std::uint32_t>(task.tgid);
			writing_.resize(streams.size());
			writing_.back() = task.tgid;
			lost_.resize(streams.size());
		}
		char name[17] = {};
		fmt::format_to_n(name, 15, "command{}", task.tgid % 3);
		std::uint64_t comm[2];
		std::memcpy(comm, name, sizeof comm);
		streams[0].post(time, EDC_ID_SCHED_WAKEUP_NEW, 0,
				{pair(task.tid, task.tgid), pair(current_ ? current_->tid : 1, 120), comm[0], comm[1]});
		streams[0].post(++time, EDC_ID_CGROUP_ATTACH_TASK, 0,
				{pair(task.tid, 0), static_cast<std::uint64_t>(70 + task.tgid % 2), 0});
		ready_.push_back(std::move(task));
	}

	void switches(std::uint64_t state)
	{
		const std::int32_t before = current_ ? current_->tid : 0;
		if (current_ && state != history::dead)
			(state == history::sleeping ? sleeping_ : ready_).push_back(*current_);
		current_.reset();
		if (!ready_.empty()) {
			const std::size_t place = below(static_cast<unsigned>(ready_.size()));
			current_ = ready_[place];
			ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(place));
		}
		streams[0].post(time, EDC_ID_SCHED_SWITCH, static_cast<unsigned>(current_ || before ? state : 0),
				{pair(before, current_ ? current_->tid : 0)});
	}

	void marks(unsigned id)
	{
		const std::size_t stream = current_->stream;
		if (std::exchange(writing_[stream], current_->tid) != current_->tid)
			streams[stream].post(time, thread_is, 0, {pair(current_->tid, current_->tgid)}, EDC_MODE_USER);
		streams[stream].post(time, id, below(3), {}, EDC_MODE_USER);
	}

	void opens()
	{
		const std::size_t stream = current_->stream;
		edc_block &header = streams[stream].open(time, lost_[stream] += 2);
		header.tid = header.process = static_cast<std::uint32_t>(current_->tgid);
		writing_[stream] = current_->tgid;
	}

	void step()
	{
		if (!current_ || below(8) == 0)
			switch (below(8)) {
			case 0:
			case 1:
				return is_born();
			case 2:
				return switches(below(3) ? history::sleeping : history::dead);
			case 3:
			case 4:
				if (!sleeping_.empty()) {
					streams[0].post(time, EDC_ID_SCHED_WAKING, 0,
							{pair(sleeping_.front().tid, 120)});
					ready_.push_back(sleeping_.front());
					sleeping_.erase(sleeping_.begin());
				}
				return;
			default:
				return switches(current_ ? below(2) ? EDC_STATE_PREEMPTED : history::sleeping : 0);
			}
		Task &task = *current_;
		if (has_losses_ && below(60) == 0)
			return opens();
		switch (below(8)) {
		case 0:
		case 1:
			if (task.marked.size() < 5)
				marks(task.marked.emplace_back(below(2) ? a_begin : b_begin));
			return;
		case 2: // the other one's: it may have no begin, or end what is inside
			return marks(below(2) ? a_begin + 1 : b_begin + 1);
		case 3:
		case 4:
			if (!task.marked.empty()) {
				marks(task.marked.back() + 1);
				task.marked.pop_back();
			}
			return;
		case 5:
			if (task.called.size() < 6) {
				task.called.emplace_back(below(3), 0x9000 - 0x100 * task.called.size());
				streams[0].post(time, EDC_ID_FUNCTION_ENTRY, task.called.back().first,
						{task.called.back().second});
			}
			return;
		default:
			if (!task.called.empty() && below(6) == 0)
				task.called.pop_back(); // without an exit
			if (!task.called.empty()) {
				streams[0].post(time, EDC_ID_FUNCTION_EXIT, task.called.back().first,
						{task.called.back().second});
				task.called.pop_back();
			}
		}
	}

	std::mt19937 &random_;
	const bool has_losses_;
	std::int32_t next_ = 3'000'000; // not a number of this machine's
	std::optional<Task> current_;
	std::vector<Task> ready_, sleeping_;
	std::vector<std::int32_t> writing_ = {0}; // by stream: the thread
	std::vector<std::uint64_t> lost_ = {0};
};

// By activity and caller, with the command or without it.
struct Figures {
	std::map<std::string, std::vector<std::uint64_t>> rows;
	std::uint64_t begins = 0, ends = 0;
	std::size_t nested = 0, left = 0, open = 0;

	bool operator==(const Figures &other) const
	{
		return rows == other.rows && begins == other.begins && ends == other.ends;
	}
};

std::ostream &operator<<(std::ostream &to, const Figures &figures)
{
	for (const auto &[key, row] : figures.rows)
		to << fmt::format("\n{}: {}", key, fmt::join(row, " "));
	return to << fmt::format("\nunpaired {} {}", figures.begins, figures.ends);
}

struct Fold {
	Fold(trace::Trace &trace, const analyze::RecordingInfo &info, std::uint64_t from, std::uint64_t to)
	    : thread_fold(trace, info, {{from, to - 1}, {}, {}}),
	      tracker(analyze::input_of(trace, info), thread_fold, {}),
	      all({activities::ActivitySource::program, {Label::activity, Label::caller}}, thread_fold, tracker),
	      by_command({activities::ActivitySource::program, {Label::activity, Label::caller, Label::process}},
			 thread_fold, tracker)
	{
		tracker.add(all);
		tracker.add(by_command);
		thread_fold.add(tracker);
	}

	Figures figures()
	{
		thread_fold.finish();
		tracker.finish();
		Figures figures;
		for (const activities::Totals *totals : {&all, &by_command})
			for (const activities::TotalsRow &row : totals->rows()) {
				std::string key = row.parts[0].text + " in " + row.parts[1].text;
				if (totals == &by_command)
					key += " of " + row.parts[2].text.substr(0, row.parts[2].text.find(' '));
				std::vector<std::uint64_t> &sums = figures.rows[key];
				sums.resize(9);
				std::size_t i = 0;
				for (const std::uint64_t figure :
				     {row.count, row.left, row.total.ticks, row.total.cpu, row.total.waiting,
				      row.total.blocked, row.exclusive, totals == &all ? row.mean : 0})
					sums[i++] += figure;
				sums[i] = std::max(sums[i], row.max);
				figures.nested += row.parts[0].text == row.parts[1].text;
				figures.left += row.left;
			}
		figures.begins = tracker.unpaired().begins;
		figures.ends = tracker.unpaired().ends;
		figures.open = thread_fold.periods().open;
		return figures;
	}

	analyze::ThreadFold thread_fold;
	activities::Tracker tracker;
	activities::Totals all, by_command;
};

Figures read_until(trace::Trace &statistics, std::uint64_t begin, std::uint64_t to)
{
	Fold fold(statistics, analyze::recording_of(statistics), begin, to);
	trace::merge(
	    statistics, {}, [&](const trace::Event &event) { fold.thread_fold.event(event); },
	    [](const trace::StreamInfo &, std::uint64_t, std::uint64_t, std::uint64_t) {});
	return fold.figures();
}

Figures witness_until(trace::Trace &whole, std::uint64_t begin, std::uint64_t to)
{
	Fold fold(whole, history::make_info(begin, to, true, false), begin, to + 1); // what is open then has no end
	trace::merge(
	    whole, {},
	    [&](const trace::Event &event) {
		    if (event.time < to)
			    fold.thread_fold.event(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t until, std::uint64_t) {
		    if (from < to)
			    fold.thread_fold.gap(stream, from, until);
	    });
	return fold.figures();
}

} // namespace

TEST_CASE("live statistics: periods add up to the activities that a recording has that ended there")
{
	std::mt19937 random(1811);
	std::size_t rows = 0, nested = 0, left = 0, open = 0, begins = 0;
	for (int round = 0; round < 12; ++round) {
		Programs programs(random, round % 3 == 0);
		programs.live(1200);
		const Scratch scratch;
		const std::uint64_t begin = 60 + random() % 40, end = programs.time + 10;
		write_statistics(scratch.path(), programs.streams, program_events,
				 {(600 + random() % 3000) * 1'000'000, 0}, begin, end, random);
		trace::Trace whole = samples::trace(programs.streams, program_events);
		trace::Trace statistics = trace::Trace::open(scratch.path());
		for (const auto &stream : statistics.streams()) {
			INFO("round " << round << ", to " << stream->end_time());
			const Figures read = read_until(statistics, begin, stream->end_time()),
				      witness = witness_until(whole, begin, stream->end_time());
			CHECK(read == witness);
			rows += read.rows.size();
			nested += read.nested;
			left += read.left;
			open += read.open;
			begins += read.begins - read.open;
		}
		check::Statements statements;
		check::judge_statistics(statistics, analyze::recording_of(statistics), statements);
		const auto activities = std::ranges::find(statements, "activities", &check::Statement::id);
		REQUIRE(activities != statements.end());
		INFO(activities->text);
		CHECK(activities->verdict == check::Verdict::holds);
	}
	CHECK(rows > 1000);
	CHECK(nested > 100);
	CHECK(left > 100);
	CHECK(open > 100);
	CHECK(begins > 100);
}

TEST_CASE("live statistics: activities that find no room are in rows of their own, and in all sums")
{
	constexpr std::int32_t processes = 3, first = 3'000'000;
	constexpr unsigned functions = EDC_MAX_FUNCTIONS;
	std::string labels;
	for (unsigned i = 0; i < functions; ++i)
		labels += fmt::format("\"f{}\" = {}, ", i, i);
	const std::string events =
	    history::events +
	    fmt::format("typealias enum : u16_t {{ {}\"unknown\" = 65535 }} := function_t;\n", labels) +
	    samples::event_block(EDC_ID_FUNCTION_ENTRY, "function_entry", "function_t function; x64_t stack_pointer;") +
	    samples::event_block(EDC_ID_FUNCTION_EXIT, "function_exit", "function_t function; x64_t stack_pointer;");
	history::History history;
	history.cpu(0).open(0);
	std::uint64_t time = 100;
	for (std::int32_t i = 0; i < processes; ++i) {
		history.cpu(0).post(time, EDC_ID_SCHED_WAKEUP_NEW, 0,
				    {pair(first + i, first + i), pair(1, 120), 0x646e616d6d6f63, 0});
		history.switches(0, ++time, i ? first + i - 1 : 0, i ? history::sleeping : 0, first + i);
		for (unsigned function = 0; function < functions; ++function) {
			history.cpu(0).post(time += 2, EDC_ID_FUNCTION_ENTRY, function, {0x1000});
			history.cpu(0).post(time += 3, EDC_ID_FUNCTION_EXIT, function, {0x1000});
		}
	}
	const Scratch scratch;
	std::mt19937 random(1);
	write_statistics(scratch.path(), history.all(), events, {86'400'000'000'000, 0}, 90, time + 10, random);
	trace::Trace statistics = trace::Trace::open(scratch.path());
	Fold fold(statistics, analyze::recording_of(statistics), 90, time + 10);
	std::size_t records = 0;
	trace::merge(
	    statistics, {},
	    [&](const trace::Event &event) {
		    records += event.cls->name == "statistics_activities";
		    fold.thread_fold.event(event);
	    },
	    [](const trace::StreamInfo &, std::uint64_t, std::uint64_t, std::uint64_t) {});
	const Figures figures = fold.figures();
	std::uint64_t count = 0, total = 0, exclusive = 0, of_others = 0;
	for (const activities::TotalsRow &row : fold.by_command.rows()) {
		count += row.count;
		total += row.total.ticks;
		exclusive += row.exclusive;
		if (row.parts[2].text == "other" && !row.parts[2].number) {
			of_others += row.count;
			CHECK(row.parts[1].text == "other"); // who called them is not known
		}
	}
	constexpr std::size_t max_sums = live::PeriodActivities::max_sums,
			      max_others = live::PeriodActivities::max_others;
	CHECK(records == max_sums + max_others);
	CHECK(count == processes * functions);
	CHECK(total == 3 * processes * functions);
	CHECK(exclusive == total);
	CHECK(of_others == processes * functions - max_sums);
	CHECK(figures.rows.at("other in other")[0] == processes * functions - max_sums - (max_others - 1));
}

TEST_CASE("live activities: an event of a program that comes too late ends nothing")
{
	std::vector<samples::StreamWriter> streams;
	streams.reserve(3);
	streams.emplace_back(0, 0).open(0);
	streams[0].post(10, EDC_ID_SCHED_SWITCH, 0, {pair(0, 7)});
	for (const std::uint32_t cpu : {0u, 1u}) {
		edc_block &header = streams.emplace_back(cpu, EDC_LEVEL_USER).open(20);
		header.tid = header.process = 7;
	}
	streams[1].post(700, a_begin, 0, {}, EDC_MODE_USER);
	streams[2].post(500, a_begin + 1, 0, {}, EDC_MODE_USER);
	streams[1].post(1200, a_begin + 1, 0, {}, EDC_MODE_USER);
	live::LiveFold fold(1'000'000'000, [] {});
	record::LiveStart start = live_folding::start_at(5, program_events);
	start.has_more_classes = true;
	fold.start(start);
	REQUIRE(fold.tracker());
	activities::Totals totals({activities::ActivitySource::program, {Label::activity}}, fold.thread_fold(),
				  *fold.tracker());
	fold.tracker()->add(totals);
	const auto take = [&](std::uint32_t number) {
		return fold.take(number, fmt::format("s{}", number), streams[number].bytes().data());
	};
	REQUIRE((take(0) && take(1)));
	REQUIRE(fold.advance(1000));
	REQUIRE(take(2));
	REQUIRE(fold.advance(2000));
	CHECK(fold.late() == 1);
	REQUIRE(totals.rows().size() == 1);
	CHECK(totals.rows()[0].count == 1);
	CHECK(totals.rows()[0].max == 500);
}

} // namespace test_live_statistics_activities
