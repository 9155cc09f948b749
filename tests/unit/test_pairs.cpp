// SPDX-License-Identifier: MIT
// Activities against a pairing that keeps everything; partitions merged against the whole at once; limits.
#include <catch2/catch.hpp>

#include <map>
#include <random>

#include "answers/statistics/frequencies.h"
#include "reading/activities/pairs.h"
#include "reading/events/merge.h"
#include "samples.h"

namespace test_pairs {

using namespace monitor;
using activities::Definition;
using activities::Pairs;
using samples::StreamWriter;

namespace {

const std::string classes =
    samples::event_block(256, "start", "u16_t key;") + samples::event_block(257, "end", "u16_t key;") +
    samples::event_block(258, "both", "u16_t key;") + samples::event_block(259, "keyless", "u16_t other;");

activities::DefinitionText text(bool nested)
{
	return {"activity",
		"name in {\"start\", \"both\", \"keyless\"}",
		"name == \"end\" or name == \"both\"",
		"",
		"key",
		"key",
		nested,
		"test"};
}

struct Step {
	unsigned id = 0, key = 0;
	std::uint64_t time = 0;
	bool gap_before = false;
	std::uint64_t lossy_until = 0; // of the gaps so far; events of another stream are lost meanwhile
};

std::vector<Step> random_steps(std::mt19937_64 &random, std::size_t count)
{
	std::vector<Step> steps(count);
	std::uint64_t time = 100, lossy_until = 0;
	for (Step &step : steps) {
		time += random() % 100;
		step = {static_cast<unsigned>(256 + (random() % 20 ? random() % 2 : random() % 4)),
			static_cast<unsigned>(random() % 4), time, random() % 40 == 0};
		if (step.gap_before)
			lossy_until = std::max(lossy_until, time + random() % 500);
		step.lossy_until = lossy_until;
	}
	return steps;
}

trace::Trace trace_of(const std::vector<Step> &steps, std::vector<StreamWriter> &writers)
{
	writers = {{0, 0}};
	for (std::size_t i = 0; i < steps.size(); ++i) {
		if (i % 200 == 0)
			writers[0].open(steps[i].time);
		writers[0].post(steps[i].time, steps[i].id, steps[i].key);
	}
	return samples::trace(writers, classes);
}

// Folds of partitions of random lengths, merged; of the whole if most is not given.
template <class Make>
auto folded(trace::Trace &trace, const std::vector<Step> &steps, Make &&make, std::mt19937_64 *random = nullptr)
{
	auto all = make(), partition = make();
	bool is_first = true;
	const auto take = [&] {
		if (std::exchange(is_first, false))
			all = partition;
		else
			all.merge(partition);
		partition = make();
	};
	std::size_t at = 0;
	bool is_new = false;
	merge(trace, {}, [&](const trace::Event &event) {
		const std::uint64_t until = steps[at].lossy_until;
		if (steps[at].gap_before || (is_new && until > steps[at].time)) // it reaches into the partition
			partition.gap(until);
		++at;
		partition.event(event, {});
		if ((is_new = random && (*random)() % 10 == 0))
			take();
	});
	REQUIRE(at == steps.size());
	take();
	return all;
}

struct Expected {
	std::map<unsigned, std::vector<std::uint64_t>> durations;
	Pairs::Unpaired unpaired;
};

Expected paired(const std::vector<Step> &steps, bool nested, std::uint64_t within = ~0ull)
{
	Expected expected;
	std::map<unsigned, std::vector<std::uint64_t>> open;
	for (const Step &step : steps) {
		if (step.gap_before)
			for (auto &[key, times] : open) {
				expected.unpaired.cut += times.size();
				times.clear();
			}
		auto &times = open[step.key];
		if (step.id == 259)
			++expected.unpaired.keyless;
		if (step.id == 257 || step.id == 258) {
			if (times.empty()) {
				++expected.unpaired.ends;
			} else {
				if (step.time - times.back() <= within)
					expected.durations[step.key].push_back(step.time - times.back());
				else
					++expected.unpaired.late;
				times.pop_back();
			}
		}
		if ((step.id == 256 || step.id == 258) && step.time < step.lossy_until) {
			++expected.unpaired.cut;
		} else if (step.id == 256 || step.id == 258) {
			if (!nested && !times.empty()) {
				++expected.unpaired.restarted;
				times.clear();
			}
			times.push_back(step.time);
		}
	}
	for (const auto &[key, times] : open)
		expected.unpaired.open += times.size();
	return expected;
}

void compare(const Pairs &pairs, const Expected &expected)
{
	const auto unpaired = pairs.unpaired();
	CHECK(unpaired.ends == expected.unpaired.ends);
	CHECK(unpaired.late == expected.unpaired.late);
	CHECK(unpaired.open == expected.unpaired.open);
	CHECK(unpaired.restarted == expected.unpaired.restarted);
	CHECK(unpaired.cut == expected.unpaired.cut);
	CHECK(unpaired.keyless == expected.unpaired.keyless);
	CHECK(unpaired.too_many == 0);
	REQUIRE(pairs.rows().all().size() == expected.durations.size());
	for (const auto &[bytes, row] : pairs.rows().all()) {
		const auto &durations = expected.durations.at(static_cast<unsigned>(row.cells.at(0).bits));
		activities::Distribution values;
		for (const std::uint64_t duration : durations)
			values.add(static_cast<std::int64_t>(duration));
		CHECK(row.values.count() == values.count());
		CHECK(row.values.total() == values.total());
		CHECK(row.values.max() == values.max());
		CHECK(row.values.standard_deviation() == values.standard_deviation());
		CHECK(row.values.percentile(0.5) == values.percentile(0.5));
	}
}

} // namespace

TEST_CASE("activities: as a pairing that keeps everything, at once and in partitions")
{
	std::mt19937_64 random(1);
	for (int i = 0; i < 200; ++i) {
		const bool nested = i % 2;
		const auto steps = random_steps(random, 20 + random() % 300);
		std::vector<StreamWriter> writers;
		trace::Trace trace = trace_of(steps, writers);
		const Definition definition = compile(text(nested), trace.description(), 0);
		const auto make = [&] { return Pairs(definition); };
		const Expected expected = paired(steps, nested);
		INFO("round " << i);
		compare(folded(trace, steps, make), expected);
		for (int round = 0; round < 5; ++round)
			compare(folded(trace, steps, make, &random), expected);
	}
}

TEST_CASE("activities: what ends after the limit is a number of its own")
{
	std::mt19937_64 random(5);
	for (int i = 0; i < 100; ++i) {
		const bool nested = i % 2;
		const auto steps = random_steps(random, 20 + random() % 300);
		std::vector<StreamWriter> writers;
		trace::Trace trace = trace_of(steps, writers);
		activities::DefinitionText by = text(nested);
		by.pair = by.start + " then " + by.end + " within 150 ns per key";
		by.start = by.end = by.key = "";
		const Definition definition = compile(by, trace.description(), 0);
		const auto make = [&] { return Pairs(definition); };
		const Expected expected = paired(steps, nested, 150);
		INFO("round " << i);
		compare(folded(trace, steps, make), expected);
		compare(folded(trace, steps, make, &random), expected);
	}
}

TEST_CASE("frequencies: nothing is measured across a loss, partitions merged are as the whole")
{
	std::mt19937_64 random(2);
	for (int i = 0; i < 100; ++i) {
		const auto steps = random_steps(random, 20 + random() % 300);
		std::vector<StreamWriter> writers;
		trace::Trace trace = trace_of(steps, writers);
		const statistics::ClassNames names(trace.description());
		const activities::Keys by(i % 2 ? std::vector<std::string>{"key"} : std::vector<std::string>{},
					  trace.description(), trace.begin_time(), "--by");
		std::map<std::pair<unsigned, unsigned>, activities::Distribution> expected;
		std::map<std::pair<unsigned, unsigned>, std::uint64_t> last, counts;
		for (const Step &step : steps) {
			if (step.gap_before)
				last.clear();
			const bool is_lossy = step.time < step.lossy_until;
			const std::pair group(step.id - 256, i % 2 && step.id != 259 ? step.key : 0);
			if (last.contains(group))
				expected[group].add(static_cast<std::int64_t>(step.time - last[group]));
			last[group] = step.time;
			if (is_lossy)
				last.erase(group);
			++counts[group];
		}
		for (std::mt19937_64 *cuts : {static_cast<std::mt19937_64 *>(nullptr), &random, &random}) {
			const auto fold = folded(
			    trace, steps, [&] { return statistics::Frequencies(names, by); }, cuts);
			const auto groups = fold.groups();
			CHECK(groups.size() == counts.size());
			for (const auto &found : groups) {
				const std::pair group(
				    found.cls, found.cells.empty() ? 0u : static_cast<unsigned>(found.cells[0].bits));
				CHECK(found.group.count == counts[group]);
				CHECK(found.group.between.count() == expected[group].count());
				CHECK(found.group.between.total() == expected[group].total());
				CHECK(found.group.between.max() == expected[group].max());
			}
		}
	}
}

TEST_CASE("activities: keys that are not open do not use up the room")
{
	const auto description = samples::description(samples::event_block(256, "start", "u16_t no; u64_t key;") +
						      samples::event_block(257, "end", "u16_t no; u64_t key;"));
	const Definition definition = activities::compile(
	    {"activity", "name == \"start\"", "name == \"end\"", "", "key", "", false, "test"}, *description, 0);
	Pairs pairs(definition);
	trace::StreamInfo stream;
	const auto post = [&](unsigned id, std::uint64_t key) {
		const std::uint64_t words[] = {edc_token(id, EDC_MODE_KERNEL, key, 0), key};
		trace::Event event;
		event.cls = description->by_id(words[0]);
		event.data = reinterpret_cast<const std::byte *>(words);
		event.time = key;
		event.stream = &stream;
		pairs.event(event, {});
	};
	const std::uint64_t many = 3 * Pairs::max_open;
	for (std::uint64_t key = 0; key < many; ++key) {
		post(256, key);
		post(257, key);
	}
	CHECK(pairs.unpaired().too_many == 0);
	CHECK(pairs.rows().all().begin()->second.values.count() == many);
	for (std::uint64_t key = 0; key < many; ++key)
		post(256, key);
	CHECK(pairs.unpaired().open == Pairs::max_open);
	CHECK(pairs.unpaired().too_many == many - Pairs::max_open);
}

} // namespace test_pairs
