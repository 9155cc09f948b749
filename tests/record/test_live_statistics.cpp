// SPDX-License-Identifier: MIT
// Statistics instead of a trace (answers/live/live_statistics.h): what is read from their files, period by period, is
// what a recording of the same events has that ended there.
#include <functional>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <malloc.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "answers/live/live_statistics.h"
#include "reading/activities/totals.h"
#include "scratch.h"
#include "statistics_files.h"
#include "window_figures.h"

namespace test_live_statistics {

using namespace windows;
using namespace statistics_files;
using analyze::Observer;
using analyze::Thread;
using analyze::Waker;

namespace {

// What is compared: times and counts by command, calls and sleeps by who made them, and CPUs.
struct Answers {
	using Sums = std::vector<std::uint64_t>;
	std::map<std::string, Sums> commands, calls, sleeps, cpus;
	std::map<std::string, Sums> transfers; // by who slept, and in which call: number, total, the longest
};

// What is in one and not in the other.
std::vector<std::string> differences(const std::map<std::string, Answers::Sums> &read,
				     const std::map<std::string, Answers::Sums> &witness)
{
	std::vector<std::string> found;
	for (const auto &[of, other, sign] :
	     {std::tuple(&read, &witness, "read"), std::tuple(&witness, &read, "witness")})
		for (const auto &[key, sums] : *of)
			if (const auto same = other->find(key); same == other->end() || same->second != sums)
				found.push_back(fmt::format("{} {}: {}", sign, key, fmt::join(sums, " ")));
	return found;
}

// `has_longest`: the last number is no sum.
void add(std::vector<std::uint64_t> &sums, const std::vector<std::uint64_t> &more, bool has_longest = false)
{
	sums.resize(more.size());
	const std::uint64_t longest = std::max(sums.back(), more.back());
	std::ranges::transform(sums, more, sums.begin(), std::plus());
	if (has_longest)
		sums.back() = longest;
}

// Without who it was.
std::map<std::string, Answers::Sums> of_all(const std::map<std::string, Answers::Sums> &sums)
{
	std::map<std::string, Answers::Sums> all;
	for (const auto &[key, more] : sums) {
		const std::size_t space = key.find(' '), end = key.find(' ', space + 1);
		Answers::Sums counts = more;
		if (space != std::string::npos)
			counts.pop_back(); // the longest
		add(all[space == std::string::npos ? "" : key.substr(space, end - space)], counts);
	}
	return all;
}

struct Asked : Observer {
	explicit Asked(const ThreadFold &thread_fold) : thread_fold(thread_fold) {}

	std::string who(const Thread &thread) const { return thread_fold.leader(thread).name; }
	std::string who(const Waker &waker) const
	{
		if (waker.interrupt >= 0)
			return thread_fold.kinds().interrupt_label(static_cast<std::uint32_t>(waker.interrupt),
								   waker.number);
		return waker.thread ? who(*waker.thread) : "nobody";
	}
	static void add_length(std::vector<std::uint64_t> &sums, std::uint64_t count, std::uint64_t failed,
			       std::uint64_t total, std::uint64_t longest)
	{
		sums.resize(4);
		sums[0] += count;
		sums[1] += failed;
		sums[2] += total;
		sums[3] = std::max(sums[3], longest);
	}
	void system_call(const Thread &thread, std::uint32_t number, std::uint64_t begin, std::uint64_t end,
			 std::int64_t result) override
	{
		add_length(answers.calls[fmt::format("{} {}", who(thread), number)], 1, result < 0, end - begin,
			   end - begin);
	}
	void blocked(const Thread &thread, std::uint64_t from, std::uint64_t to, const Waker &waker) override
	{
		add_length(answers.sleeps[fmt::format("{} {} {}", who(thread), thread.syscall, who(waker))], 1, 0,
			   to - from, to - from);
		woken[&thread] = {thread.syscall, to};
	}
	void got_cpu(const Thread &thread, std::uint64_t from, std::uint64_t to) override
	{
		const auto found = woken.find(&thread);
		if (found == woken.end())
			return;
		const auto [call, time] = found->second;
		woken.erase(found);
		if (time == from)
			add(answers.transfers[fmt::format("{} {}", who(thread), call)], {1, to - from, to - from},
			    true);
	}
	void system_calls(const Thread &thread, std::uint32_t number, const analyze::Summed &summed) override
	{
		add_length(answers.calls[fmt::format("{} {}", who(thread), number)], summed.count, summed.failed,
			   summed.total, summed.longest);
		check_lengths(summed);
	}
	void sleeps(const Thread &thread, std::uint32_t call, const Waker &waker,
		    const analyze::Summed &summed) override
	{
		if (summed.count) // else only the one of a sleep before was over
			add_length(answers.sleeps[fmt::format("{} {} {}", who(thread), call, who(waker))], summed.count,
				   0, summed.total, summed.longest);
		check_lengths(summed);
		CHECK(summed.transfer_longest <= summed.transfer_total);
		CHECK(summed.transfer_longest * summed.transfers >= summed.transfer_total);
		if (summed.transfers)
			add(answers.transfers[fmt::format("{} {}", who(thread), call)],
			    {summed.transfers, summed.transfer_total, summed.transfer_longest}, true);
	}
	// The buckets hold all, and their ends are not more than an eighth above what is in them.
	static void check_lengths(const analyze::Summed &summed)
	{
		std::uint64_t count = 0, most = 0, least = 0;
		for (const auto &[length, number] : summed.lengths) {
			count += number;
			most += length * number;
			least += length * number * 8 / 9;
		}
		CHECK(count == summed.count);
		CHECK(most >= summed.total);
		CHECK(least <= summed.total);
	}
	void finish()
	{
		for (const Thread &thread : thread_fold.threads())
			if (const auto sums = figures(thread.usage);
			    thread.tid != 0 && std::ranges::count(sums, 0u) < std::ssize(sums))
				add(answers.commands[who(thread)], sums);
		for (const analyze::Cpu &cpu : thread_fold.cpus()) {
			auto sums = figures(cpu.usage);
			sums.push_back(cpu.idle);
			sums.push_back(cpu.runner_unknown);
			answers.cpus.emplace(std::to_string(cpu.number), std::move(sums));
		}
	}

	const ThreadFold &thread_fold;
	Answers answers;
	std::map<const Thread *, std::pair<std::uint32_t, std::uint64_t>> woken; // in which call it slept, and when
};

// Of what was read from files.
Answers read_answers(trace::Trace &trace, std::uint64_t from, std::uint64_t to)
{
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	ThreadFold thread_fold(trace, info, {{from, to - 1}, {}, {}});
	Asked asked(thread_fold);
	thread_fold.add(asked);
	feed(trace, thread_fold);
	asked.finish();
	CHECK(thread_fold.periods().count == 1);
	CHECK(thread_fold.periods().ticks == to - from);
	return asked.answers;
}

// Of the events before `to`, as windows.h's cut_off().
Answers answers_until(trace::Trace &trace, std::uint64_t begin, std::uint64_t from, std::uint64_t to)
{
	analyze::RecordingInfo info = make_info(begin, to, true, false);
	ThreadFold thread_fold(trace, info, {{from, to - 1}, {}, {}});
	Asked asked(thread_fold);
	thread_fold.add(asked);
	trace::merge(
	    trace, {},
	    [&](const trace::Event &event) {
		    if (event.time < to)
			    thread_fold.event(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t gap_from, std::uint64_t until, std::uint64_t) {
		    if (gap_from < to)
			    thread_fold.gap(stream, gap_from, until);
	    });
	const auto calls = asked.answers.calls;
	const auto sleeps = asked.answers.sleeps;
	thread_fold.finish();
	asked.answers.calls = calls; // what goes on has not ended
	asked.answers.sleeps = sleeps;
	asked.finish();
	return asked.answers;
}

// Processes of one or two threads that are made, run, call, sleep and end, in three cgroups; each number is used once.
class Life {
public:
	Life(std::mt19937 &random, bool has_losses) : random_(random), has_losses_(has_losses) { history.cpu(1); }
	// For a day.
	Life(std::mt19937 &random, std::size_t most_at_once, std::int32_t per_cgroup) : Life(random, false)
	{
		most_at_once_ = most_at_once;
		per_cgroup_ = per_cgroup;
	}

	void live(std::size_t steps, unsigned pause = 30)
	{
		for (std::size_t i = 0; i < steps; ++i) {
			time += below(pause);
			step(below(2));
		}
	}
	std::int32_t born() const { return next_ - first; }

	History history;
	std::uint64_t time = 100;

private:
	struct Task {
		std::int32_t tid, tgid;
		bool sleeps = false;
	};

	unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }

	void is_born(std::uint32_t on)
	{
		if (ready_.size() + sleeping_.size() >= most_at_once_)
			return;
		const bool is_thread = current_[on] && below(3) == 0;
		const std::int32_t tid = next_++;
		const std::int32_t tgid = is_thread ? current_[on]->tgid : tid;
		char name[17] = {};
		fmt::format_to_n(name, 15, "command{}", tgid % 5);
		std::uint64_t comm[2];
		std::memcpy(comm, name, sizeof comm);
		history.cpu(on).post(
		    time, EDC_ID_SCHED_WAKEUP_NEW, on,
		    {pair(tid, tgid), pair(current_[on] ? current_[on]->tid : 1, 120), comm[0], comm[1]});
		history.cpu(on).post(++time, EDC_ID_CGROUP_ATTACH_TASK, 0,
				     {pair(tid, 0),
				      static_cast<std::uint64_t>(70 + (per_cgroup_ ? born() / per_cgroup_ : tgid % 3)),
				      0});
		ready_.push_back({tid, tgid});
	}

	void switches(std::uint32_t on, std::uint64_t state)
	{
		const std::int32_t before = current_[on] ? current_[on]->tid : 0;
		if (current_[on] && state == sleeping)
			sleeping_.push_back(*current_[on]);
		else if (current_[on] && state != dead)
			ready_.push_back(*current_[on]);
		current_[on].reset();
		if (!ready_.empty()) {
			const std::size_t place = below(static_cast<unsigned>(ready_.size()));
			current_[on] = ready_[place];
			ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(place));
		}
		history.switches(on, time, before, state, current_[on] ? current_[on]->tid : 0);
		is_in_call_[on] = false;
	}

	void step(std::uint32_t on)
	{
		switch (below(10)) {
		case 0:
			return is_born(on);
		case 1:
			return switches(on, !current_[on]           ? 0
					    : current_[on]->tid % 3 ? EDC_STATE_PREEMPTED
								    : EDC_STATE_PREEMPTED | throttled);
		case 2:
			return switches(on, current_[on] ? sleeping : 0);
		case 3:
			return switches(on, current_[on] && below(2) ? dead : current_[on] ? sleeping : 0);
		case 4:
		case 5:
			if (sleeping_.empty())
				return;
			if (below(3) == 0)
				history.posts(on, time, EDC_ID_SOFTIRQ_ENTRY, 1);
			history.wakes(on, ++time, sleeping_.front().tid);
			ready_.push_back(sleeping_.front());
			sleeping_.erase(sleeping_.begin());
			return history.posts(on, ++time, EDC_ID_SOFTIRQ_EXIT, 1);
		case 6:
			if (has_losses_ && below(20) == 0)
				history.cpu(on).open(time, lost_[on] += 3);
			return;
		default:
			if (current_[on])
				history.posts(on, time, is_in_call_[on] ? EDC_ID_SYS_EXIT : EDC_ID_SYS_ENTER,
					      is_in_call_[on] ? (below(4) ? 1 : 0xfffe) : below(3));
			is_in_call_[on] = current_[on] && !is_in_call_[on];
		}
	}

	std::mt19937 &random_;
	const bool has_losses_;
	static constexpr std::int32_t first = 3'000'000; // not a number of this machine's
	std::int32_t next_ = first;
	std::size_t most_at_once_ = ~std::size_t(0);
	std::int32_t per_cgroup_ = 0; // 0: there are three
	std::optional<Task> current_[2];
	bool is_in_call_[2] = {};
	std::uint64_t lost_[2] = {};
	std::vector<Task> ready_, sleeping_;
};

} // namespace

TEST_CASE("live statistics: a period says what a recording says that ended there")
{
	std::mt19937 random(2026);
	std::size_t periods = 0, calls = 0, sleeps = 0, ended = 0, transfers = 0;
	for (int round = 0; round < 12; ++round) {
		const bool has_losses = round % 3 == 0;
		Life life(random, has_losses);
		life.live(600);
		const Scratch scratch;
		const std::uint64_t begin = 60 + random() % 80, end = life.time + 10;
		const std::uint64_t period_ms = 300 + random() % 1500;
		write_statistics(scratch.path(), life.history.all(), events, {period_ms * 1'000'000, 0}, begin, end,
				 random);
		trace::Trace whole = samples::trace(life.history.all(), events);
		trace::Trace statistics = trace::Trace::open(scratch.path());
		CHECK(statistics.begin_time() == begin);
		CHECK(statistics.end_time() == end);
		std::vector<std::pair<std::uint64_t, std::uint64_t>> cuts;
		for (const auto &stream : statistics.streams())
			cuts.emplace_back(stream->begin_time(), stream->end_time());
		std::ranges::sort(cuts);
		for (std::size_t i = 1; i + 1 < cuts.size(); ++i)
			CHECK(cuts[i].second - cuts[i].first == period_ms); // they do not drift
		std::uint64_t last = begin;
		std::map<std::string, Answers::Sums> got_cpu;
		for (const auto &[from, to] : cuts) {
			INFO("round " << round << ", from " << from << " to " << to);
			CHECK(from == std::exchange(last, to));
			Answers read = read_answers(statistics, from, to),
				witness = answers_until(whole, begin, from, to);
			if (has_losses) // a thread that is unknown then, and of this machine is none, leaves the fold
				for (Answers *answers : {&read, &witness})
					for (auto *all : {&answers->commands, &answers->calls, &answers->sleeps})
						*all = of_all(*all);
			CHECK(differences(read.commands, witness.commands) == std::vector<std::string>());
			CHECK(differences(read.cpus, witness.cpus) == std::vector<std::string>());
			CHECK(differences(read.calls, witness.calls) == std::vector<std::string>());
			CHECK(differences(read.sleeps, witness.sleeps) == std::vector<std::string>());
			for (const auto &[key, more] : read.transfers)
				add(got_cpu[key], more, true);
			calls += read.calls.size();
			sleeps += read.sleeps.size();
			++periods;
		}
		auto all = answers_until(whole, begin, begin, end).transfers;
		if (has_losses)
			for (auto *of : {&all, &got_cpu})
				*of = of_all(*of);
		CHECK(differences(got_cpu, all) == std::vector<std::string>());
		transfers += got_cpu.size();
		const analyze::RecordingInfo info = analyze::recording_of(statistics);
		ThreadFold thread_fold(statistics, info);
		feed(statistics, thread_fold);
		ended += static_cast<std::size_t>(
		    std::ranges::count(thread_fold.threads(), analyze::Sum::of_ended, &Thread::sum));
		CHECK(thread_fold.periods().count == cuts.size());
	}
	CHECK(periods > 60);
	CHECK(calls > 200);
	CHECK(sleeps > 200);
	CHECK(transfers > 60);
	CHECK(ended > 50);
}

TEST_CASE("live statistics: what finds no room is a row of its own, and nothing is missing from the sums")
{
	History history;
	history.cpu(0).open(0);
	std::uint64_t time = 100;
	constexpr std::int32_t processes = 3, first = 3'000'000;
	constexpr unsigned calls = 4000;
	for (std::int32_t i = 0; i < processes; ++i) {
		history.cpu(0).post(time, EDC_ID_SCHED_WAKEUP_NEW, 0,
				    {pair(first + i, first + i), pair(1, 120), 0x646e616d6d6f63, 0});
		history.switches(0, ++time, i ? first + i - 1 : 0, i ? sleeping : 0, first + i);
		history.posts(0, time, EDC_ID_SYS_EXIT);
		for (unsigned call = 0; call < calls; ++call) {
			history.posts(0, ++time, EDC_ID_SYS_ENTER, call);
			history.posts(0, ++time, EDC_ID_SYS_EXIT);
		}
	}
	const Scratch scratch;
	std::mt19937 random(1);
	write_statistics(scratch.path(), history.all(), events, {86'400'000'000'000, 0}, 90, time + 10, random);
	trace::Trace statistics = trace::Trace::open(scratch.path());
	const analyze::RecordingInfo info = analyze::recording_of(statistics);
	const analyze::FoldInput input = analyze::input_of(statistics, info);
	ThreadFold thread_fold(input, info);
	activities::Tracker tracker(input, thread_fold, {});
	activities::Totals totals(
	    {activities::ActivitySource::system_call, {activities::Label::process, activities::Label::call}},
	    thread_fold, tracker);
	tracker.add(totals);
	thread_fold.add(tracker);
	feed(statistics, thread_fold);
	std::uint64_t all = 0, of_others = 0;
	for (const activities::TotalsRow &row : totals.rows()) {
		all += row.count;
		of_others += row.parts[0].text == "other" && !row.parts[0].number ? row.count : 0;
	}
	CHECK(all == processes * calls);
	CHECK(of_others == processes * calls - live::PeriodSums::max_sums);
}

TEST_CASE("live statistics: of a day, memory and files are as of an hour", "[.long]")
{
	std::mt19937 random(24);
	constexpr std::uint64_t hour = 3'600'000;
	Life life(random, 60, 10);
	while (life.time < 24 * hour)
		life.live(100'000, 8);
	const Scratch scratch;
	std::vector<std::size_t> heap;
	write_statistics(scratch.path(), life.history.all(), events, {60'000'000'000, 0}, 90, life.time + 10, random,
			 [&] { heap.push_back(mallinfo2().uordblks); });
	std::vector<std::pair<std::string, std::uint64_t>> files;
	for (const auto &entry : std::filesystem::directory_iterator(scratch.path()))
		if (entry.path().filename().string().starts_with("statistics_"))
			files.emplace_back(entry.path().filename(), entry.file_size());
	std::ranges::sort(files);
	REQUIRE(files.size() >= 24 * 60);
	REQUIRE(heap.size() == files.size());
	const auto largest = [](auto from, auto to) { return *std::max_element(from, to); };
	const std::size_t heap_of_an_hour = largest(heap.begin(), heap.begin() + 60) - heap.front(),
			  heap_of_all = largest(heap.begin(), heap.end()) - heap.front();
	std::uint64_t file_of_an_hour = 0, file_of_all = 0;
	for (std::size_t i = 0; i < files.size(); ++i) {
		file_of_all = std::max(file_of_all, files[i].second);
		file_of_an_hour = i < 60 ? file_of_all : file_of_an_hour;
	}
	WARN(fmt::format("{} threads, {} periods; heap within an hour +{} kB, within all +{} kB; largest file of an "
			 "hour {} kB, of all {} kB",
			 life.born(), files.size(), heap_of_an_hour / 1000, heap_of_all / 1000, file_of_an_hour / 1000,
			 file_of_all / 1000));
	CHECK(life.born() > 500'000);
	// One more or less of tables that double, and of what a period happens to hold.
	CHECK(heap_of_all <= heap_of_an_hour + 4'000'000);
	CHECK(file_of_all <= file_of_an_hour * 3 / 2);
}

} // namespace test_live_statistics
