// SPDX-License-Identifier: MIT
// Any bytes as a tree of states and as a pattern over them, on any events of a fixed description: they are refused in
// one sentence, or the run lengths have no gap and add up, and the matches are in order. Input: TREE [NUL PATTERN [NUL
// EVENTS]]; of EVENTS each four bytes are one: its class and CPU, its thread, how much later it is, and its value;
// every 16th one is after a loss.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../unit/samples.h"
#include "answers/run_lengths/run_list.h"
#include "answers/run_lengths/run_tables.h"
#include "base/error.h"
#include "reading.h"
#include "reading/states/matcher.h"

using namespace monitor;

namespace {

using fuzz::require;

const std::string classes =
    samples::event_block(256, "sched_switch", "u16_t prev_state; s32_t prev_pid; s32_t next_pid;") +
    samples::event_block(257, "sched_waking", "u16_t target_cpu; s32_t pid; s32_t prio;") +
    samples::event_block(258, "sys_enter", "u12_t id; u32_t a; u32_t b;") +
    samples::event_block(259, "sys_exit", "s16_t ret; u32_t a; u32_t b;") +
    samples::event_block(260, "softirq_entry", "u16_t vec; u32_t a; u32_t b;") +
    samples::event_block(261, "softirq_exit", "u16_t vec; u32_t a; u32_t b;") +
    samples::event_block(262, "tick", "range_t state; text_t comm[8];");

std::vector<samples::StreamWriter> written(std::string_view events)
{
	std::vector<samples::StreamWriter> writers;
	for (const std::uint32_t cpu : {0u, 1u}) {
		writers.emplace_back(cpu, 0);
		writers.back().open(1000);
	}
	std::uint64_t time = 1000, lost = 0;
	for (std::size_t i = 0; i + 4 <= events.size() && i < 4096; i += 4) {
		const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(events[i + at]); };
		samples::StreamWriter &writer = writers[byte(0) / 8 % 2];
		time += byte(2);
		if (i % 64 == 60)
			writer.open(time, ++lost).tid = byte(1) % 4;
		else if (writer.room() < 100)
			writer.open(time, writer.header().events_discarded).tid = byte(1) % 4;
		writer.post(time, 256 + byte(0) % 8 % 7, byte(3) % 4,
			    {(byte(1) % 4u) | std::uint64_t(byte(3) % 5) << 32});
	}
	return writers;
}

void expect_whole(const run_lengths::RunList &list, const states::Evaluator &evaluator)
{
	for (const std::vector<states::Run> &runs : list.runs()) {
		std::uint64_t at = evaluator.window_begin();
		const states::Run *before = nullptr;
		for (const states::Run &run : runs) {
			require(run.from == at && run.to >= run.from && (!before || before->state != run.state));
			at = run.to;
			before = &run;
		}
		require(at == evaluator.window_end());
	}
}

void evaluate_all(const states::Tree &tree, const states::Automaton *automaton, std::string_view events)
{
	std::vector<samples::StreamWriter> writers = written(events);
	trace::Trace trace = samples::trace(writers, classes);
	run_lengths::RunList list;
	states::Evaluator evaluator(tree, analyze::input_of(trace, {}), {}, trace.begin_time(),
				    {trace.begin_time(), trace.end_time()}, {}, list);
	evaluate(trace, evaluator);
	expect_whole(list, evaluator);
	run_lengths::Totals totals(tree, true);
	std::uint64_t sum = 0;
	for (const std::vector<states::Run> &runs : list.runs())
		for (const states::Run &run : runs) {
			totals.run(run);
			sum += run.ticks();
		}
	totals.finish();
	require(sum == list.runs().size() * (evaluator.window_end() - evaluator.window_begin()));
	if (!automaton)
		return;
	states::Matcher matcher(*automaton);
	for (const std::vector<states::Run> &runs : list.runs()) {
		std::size_t after = 0;
		matcher.find(runs, [&](std::size_t first, std::size_t end) {
			require(first >= after && end > first && end <= runs.size());
			states::Automaton::Place place = states::Automaton::start;
			for (std::size_t i = first; i < end; ++i)
				place = automaton->next(place, automaton->column(runs[i].state));
			require(automaton->accepts(place));
			after = end;
		});
	}
}

std::string_view part_of(std::string_view &all)
{
	const std::size_t end = std::min(all.find('\0'), all.size());
	const std::string_view part = all.substr(0, end);
	all.remove_prefix(std::min(end + 1, all.size()));
	return part;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	std::string_view rest(reinterpret_cast<const char *>(data), size);
	const std::string_view text = part_of(rest), pattern = part_of(rest);
	try {
		const states::Tree tree = states::parse_tree(text, "fuzz");
		std::optional<states::Automaton> automaton;
		try {
			automaton.emplace(states::parse_pattern(pattern, tree), tree);
		} catch (const Error &error) {
			require(error.what()[0] != '\0');
		}
		evaluate_all(tree, automaton ? &*automaton : nullptr, rest);
	} catch (const Error &error) {
		require(error.what()[0] != '\0');
	}
	return 0;
}
