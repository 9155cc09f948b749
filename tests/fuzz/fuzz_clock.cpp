// SPDX-License-Identifier: MIT
// Any bytes as a host's clock exchanges, and as the clocks of a collection: refused in a sentence, or made into lines
// that keep the order of times. Input: a byte that selects, then the text.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/clocks/clock_exchanges.h"
#include "fleet/clocks/clock_loops.h"
#include "fleet/wire/system_clock.h"
#include "reading/events/collection_clocks.h"
#include "reading/events/machine_clock.h"

using namespace monitor;

namespace {

void require(bool condition)
{
	if (!condition)
		std::abort();
}

void walk(const std::shared_ptr<const trace::ClockMap> &map)
{
	std::vector<std::uint64_t> ticks = {0, 1, ~std::uint64_t(0)};
	for (const trace::ClockNode &node : map->nodes()) {
		require(map->map(node.ticks) == static_cast<std::uint64_t>(node.ns));
		for (const std::uint64_t near : {node.ticks - 1, node.ticks, node.ticks + 1, node.ticks + 1'000'000})
			ticks.push_back(near);
	}
	std::sort(ticks.begin(), ticks.end());
	std::uint64_t before = 0;
	for (const std::uint64_t at : ticks) {
		const std::uint64_t time = map->map(at);
		require(time >= before);
		before = time;
		map->bound_at(time);
	}
	trace::MachineClock clock;
	clock.add(map);
	const auto range = clock.range(0, ~std::uint64_t(0));
	require(range.known + range.unknown == map->bounds().size() && range.min <= range.max);
}

void exchanges(std::string_view text)
{
	std::string why;
	const auto made = fleet::parse_exchanges(text, why);
	if (!made) {
		require(!why.empty());
		return;
	}
	collection::LineOptions options;
	options.frequency_hz = made->frequency_hz;
	if (!made->all.empty())
		options.cover = {made->all.front().sent, made->all.back().received};
	const auto lines = collection::lines_of(made->samples(), options);
	require(lines.infeasible <= lines.windows);
	if (lines.nodes.empty()) {
		require(lines.bounds_ns.empty());
		return;
	}
	const char *wrong = nullptr;
	const auto map = trace::ClockMap::make(lines.nodes, lines.bounds_ns, options.frequency_hz, wrong);
	require(map != nullptr);
	walk(map);
}

void collections(const std::string &text)
{
	std::vector<std::string> warnings;
	for (auto &[name, part] : trace::parse_collection(text, "it", warnings)) {
		const char *wrong = nullptr;
		if (const auto map = trace::ClockMap::make(part.nodes, part.bounds, 1 + text.size(), wrong))
			walk(map);
		else
			require(wrong && *wrong);
	}
}

// And the lines of system clocks, which may be of any form, too.
void loops(std::string_view text)
{
	std::uint64_t damaged = 0;
	for (const fleet::LoopMessage &message : fleet::parse_loops(text, damaged))
		require(!message.from.empty() && !message.boot.empty() &&
			message.from.size() + message.from_boot.size() + message.boot.size() < text.size());
	if (const auto clock = fleet::last_system_clock(text)) {
		require(clock->ptp.size() <= fleet::SystemClock::max_ptp && !clock->text().empty());
		const auto again = fleet::parse_system_clock(fleet::system_clock_json(*clock));
		require(again && again->max_error_us == clock->max_error_us);
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	if (size == 0)
		return 0;
	const std::string_view text(reinterpret_cast<const char *>(data) + 1, size - 1);
	if (data[0] & 2)
		loops(text);
	else if (data[0] & 1)
		exchanges(text);
	else
		collections(std::string(text));
	return 0;
}
