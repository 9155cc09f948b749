// SPDX-License-Identifier: MIT
// The states of a machine whose history is read while it is written: the same run lengths as from files, with losses of
// which the end is not known at first, and a window of which the end is not, either.
#include <map>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "answers/run_lengths/run_list.h"
#include "history.h"
#include "live_feed.h"
#include "reading/states/evaluator.h"

namespace test_states_live {

using namespace monitor;

namespace {

const std::string trees[] = {"of cpu\n"
			     "interrupted: mode in {\"irq\", \"softirq\"}\n"
			     "idle: state == \"idle\"\n"
			     "user: mode == \"user\"\n"
			     "kernel: mode == \"kernel\"\n",
			     "of thread\n"
			     "running: state == \"running\"\n"
			     "ready: state == \"ready\"\n"
			     "blocked: state == \"blocked\"\n",
			     "of machine\n"
			     "none: running == 0\n"
			     "one: running == 1\n"
			     "both: running == 2\n",
			     "of cpu\n"
			     "switch: name == \"sched_switch\"\n"
			     "call: name == \"sys_enter\"\n"};

using Runs = std::map<std::string, std::string>; // by subject

Runs text_of(const run_lengths::RunList &list, const states::Evaluator &evaluator)
{
	Runs all;
	std::map<std::int32_t, int> times;
	for (std::size_t i = 0; i < evaluator.subjects().size(); ++i) {
		const states::Who &who = evaluator.subjects()[i];
		const std::int32_t number = who.thread ? who.thread->tid : static_cast<std::int32_t>(who.cpu);
		std::string &text = all[std::to_string(number) + '/' + std::to_string(times[number]++)];
		if (i < list.runs().size())
			for (const states::Run &run : list.runs()[i])
				text += std::to_string(run.state) + ' ' + std::to_string(run.from) + '-' +
					std::to_string(run.to) + ", ";
	}
	return all;
}

struct Visitor {
	states::Evaluator &evaluator;

	void stream(const trace::StreamInfo &info) { evaluator.add_stream(info); }
	void event(const trace::Event &event) { evaluator.event(event); }
	void gap(const trace::StreamInfo &info, std::uint64_t from, std::uint64_t to) { evaluator.gap(info, from, to); }
	void gap_ended(const trace::StreamInfo &info, std::uint64_t to) { evaluator.gap_ended(info, to); }
};

} // namespace

TEST_CASE("states: run lengths of a history that is still written are those of its files")
{
	std::mt19937 random(11);
	std::size_t runs = 0;
	for (int round = 0; round < 400; ++round) {
		std::uint64_t time = 100;
		history::History history = history::random_history(random, time);
		const std::uint64_t begin = 120, end = time - time / 10;
		analyze::RecordingInfo info = history::make_info(begin, end, true, false);
		info.states.emplace().cpus = {0, 1};
		const states::Tree tree = states::parse_tree(trees[round % 4], "my.tree");

		run_lengths::RunList wanted, got;
		trace::Trace trace = samples::trace(history.all(), history::events);
		states::Evaluator offline(tree, analyze::input_of(trace, info), info, 0, {begin, end}, {}, wanted);
		evaluate(trace, offline);

		const std::shared_ptr<const trace::Description> description = samples::description(history::events);
		analyze::FoldInput input{*description, {begin}, {}, false, {}, {}};
		states::Evaluator evaluator(tree, input, info, 0, input.window, {}, got);
		Visitor visitor{evaluator};
		trace::LiveStreams live(description, trace.begin_time(), 64);
		live_feed::Feed feed(history.all(), *description);
		for (std::uint64_t now = 0; now < end; now += 1 + random() % 200) {
			REQUIRE(feed.offer(live, now));
			REQUIRE(live.advance(now, visitor));
		}
		evaluator.set_window_end(end);
		REQUIRE(feed.offer(live, time + 1));
		REQUIRE(live.advance(trace::LiveStreams::open_end, visitor));
		evaluator.finish();
		CHECK(live.late() == 0);
		const Runs recorded = text_of(got, evaluator);
		REQUIRE(recorded == text_of(wanted, offline));
		for (const auto &list : got.runs())
			runs += list.size();
	}
	CHECK(runs > 10'000);
}

} // namespace test_states_live
