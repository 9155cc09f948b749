// SPDX-License-Identifier: MIT
// Any bytes as rules, on any events of a fixed description: they are refused in one sentence, or judged; what is
// counted fits together. Input: RULES [NUL EVENTS]; of EVENTS each four bytes are one: its class, its key, how much
// later it is, and its value; every 16th one is after a loss.
#include <cstdlib>
#include <string>
#include <string_view>

#include "../unit/samples.h"
#include "answers/rules/run.h"
#include "base/error.h"

using namespace monitor;

namespace {

void require(bool condition)
{
	if (!condition)
		std::abort();
}

const std::string classes =
    samples::event_block(256, "A", "u16_t key; u32_t value; s32_t pid;") +
    samples::event_block(257, "B", "u16_t key; u32_t value; s32_t next_pid;") +
    samples::event_block(258, "a_begin", "range_t state; text_t comm[8];") +
    samples::event_block(259, "sched_switch", "u16_t prev_state; s32_t prev_pid; s32_t next_pid;");

samples::StreamWriter written(std::string_view events)
{
	samples::StreamWriter writer(0, 0);
	std::uint64_t time = 1000, lost = 0;
	writer.open(time);
	for (std::size_t i = 0; i + 4 <= events.size() && i < 4096; i += 4) {
		const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(events[i + at]); };
		time += byte(2);
		if (i % 64 == 60)
			writer.open(time, ++lost);
		else if (writer.room() < 100)
			writer.open(time, lost);
		writer.post(time, 256 + byte(0) % 4, byte(1) % 4, {byte(3) | std::uint64_t(byte(1)) << 32});
	}
	return writer;
}

void judge(const std::vector<rules::RuleText> &texts, std::string_view events)
{
	std::vector<samples::StreamWriter> writers;
	writers.push_back(written(events));
	trace::Trace trace = samples::trace(writers, classes);
	const auto outcomes = rules::run(trace, texts, {3, events.size() % 2 == 0});
	require(outcomes.size() == texts.size());
	for (const rules::Outcome &outcome : outcomes) {
		require(outcome.tally.violated <= outcome.tally.judged && outcome.shown.size() <= 3);
		require((outcome.verdict == rules::Outcome::Verdict::fails) == !outcome.shown.empty());
		for (const rules::Shown &shown : outcome.shown)
			for (const std::string &line : shown.events)
				require(!line.empty());
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	const std::string_view all(reinterpret_cast<const char *>(data), size);
	const std::size_t end = all.find('\0');
	try {
		const auto texts = rules::parse_rules(std::string(all.substr(0, end)), "fuzz");
		judge(texts, end == std::string_view::npos ? "" : all.substr(end + 1));
	} catch (const Error &error) {
		require(error.what()[0] != '\0');
	}
	return 0;
}
