// SPDX-License-Identifier: MIT
#include "tile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include <fmt/format.h>

#include "base/error.h"

namespace monitor::view {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t slice_bytes = 24;
constexpr unsigned max_mode_bins_at_once = 8192;

template <class Value> void append(std::string &to, const Value &value)
{
	to.append(reinterpret_cast<const char *>(&value), sizeof value);
}

void append(std::string &to, std::span<const Slice> slices, std::size_t max_bytes)
{
	if (to.size() + slices.size() * slice_bytes > max_bytes)
		throw Error("this is too much at once: ask for a part of it");
	append(to, static_cast<std::uint32_t>(slices.size()));
	for (const Slice &slice : slices)
		for (const std::uint32_t word :
		     {slice.bin, slice.bins, slice.key, slice.count, static_cast<std::uint32_t>(slice.busy),
		      static_cast<std::uint32_t>(slice.busy >> 32)})
			append(to, word);
}

struct LaneName {
	char kind = 'c';
	std::size_t place = 0;
};

constexpr std::string_view group_kinds = "pmg"; // in the order of Groups::By

// "c*", or names of lanes. Throws Error: there is no such lane.
std::vector<LaneName> lanes_of(const Shown &shown, std::string_view text)
{
	std::vector<LaneName> lanes;
	if (text == "c*")
		for (std::size_t cpu = 0; cpu < shown.timeline.cpus().size(); ++cpu)
			lanes.push_back({'c', cpu});
	while (text != "c*" && !text.empty()) {
		const std::string_view name = text.substr(0, text.find(','));
		text.remove_prefix(std::min(name.size() + 1, text.size()));
		std::size_t place = 0, places = 0;
		const char kind = name.empty() ? '?' : name[0];
		if (kind == 'c')
			places = shown.timeline.cpus().size();
		else if (kind == 'r' || kind == 'w')
			places = shown.timeline.threads().size();
		else if (kind == 'a' && shown.activities)
			places = shown.activities->kinds().size();
		else if (const auto by = group_kinds.find(kind); by != std::string_view::npos && shown.groups)
			places = shown.groups->by(static_cast<Groups::By>(by)).size();
		const auto [end, error] =
		    std::from_chars(name.data() + !name.empty(), name.data() + name.size(), place);
		if (error != std::errc() || end != name.data() + name.size() || place >= places)
			throw Error("this picture has no such lane");
		lanes.push_back({kind, place});
	}
	return lanes;
}

// Those of one CPU or thread, from the picture or from what was read again of it.
std::vector<Slice> slices_of(const Shown &shown, LaneName name, unsigned level, std::uint64_t from_bin,
			     std::uint64_t to_bin)
{
	const auto copied = [&](const Lane *lane) {
		const auto slices = lane ? lane->slices(level, from_bin, to_bin) : std::span<const Slice>();
		return std::vector(slices.begin(), slices.end());
	};
	const Timeline &timeline = shown.timeline;
	if (!shown.window)
		return copied(name.kind == 'c'   ? &timeline.cpus()[name.place].threads
			      : name.kind == 'r' ? &timeline.threads()[name.place].runs
						 : &timeline.threads()[name.place].waits);
	if (name.kind == 'w')
		return shown.window->waits(name.place);
	if (name.kind == 'r')
		return copied(shown.window->runs(name.place));
	std::vector<Slice> slices = copied(shown.window->cpu(name.place));
	for (Slice &slice : slices)
		slice.key = shown.window->key_of(slice.key);
	return slices;
}

} // namespace

std::string slices_tile(const Shown &shown, unsigned level, std::uint64_t from_bin, std::uint64_t to_bin,
			std::string_view lanes, std::size_t max_bytes)
{
	const bool is_kept = level >= shown.timeline.first_level() || shown.window;
	const std::vector<LaneName> names = lanes_of(shown, lanes);
	if (level >= levels ||
	    (!is_kept && std::ranges::any_of(names, [](const LaneName &name) { return name.kind != 'a'; })))
		throw Error(fmt::format("this picture has levels {} to {}", shown.timeline.first_level(), levels - 1));
	std::string tile;
	for (const LaneName &name : names) {
		if (name.kind == 'a') {
			append(tile, shown.activities->slices(name.place, level, from_bin, to_bin), max_bytes);
			continue;
		}
		const auto by = group_kinds.find(name.kind);
		if (by == std::string_view::npos) {
			append(tile, slices_of(shown, name, level, from_bin, to_bin), max_bytes);
			continue;
		}
		std::vector<std::vector<Slice>> of_threads;
		for (const std::uint32_t place : shown.groups->by(static_cast<Groups::By>(by))[name.place].threads)
			of_threads.push_back(slices_of(shown, {'r', place}, level, from_bin, to_bin));
		std::vector<LanePart> parts;
		for (const std::vector<Slice> &slices : of_threads)
			parts.push_back({slices});
		append(tile, summed(parts, from_bin, to_bin), max_bytes);
	}
	return tile;
}

// A bin of the picture's own that reaches beyond one of these is divided.
std::string modes_tile(const Timeline &timeline, std::uint64_t from_ticks, std::uint64_t to_ticks, unsigned bins)
{
	to_ticks = std::min(to_ticks, timeline.ticks());
	if (from_ticks >= to_ticks || bins == 0 || bins > max_mode_bins_at_once)
		throw Error("this picture has no such part");
	const auto own = static_cast<double>(timeline.mode_bin_ticks());
	const double wide = static_cast<double>(to_ticks - from_ticks) / bins;
	const auto ticks_of = [&](std::size_t bin) { // the last one is shorter
		return std::min(own, static_cast<double>(timeline.ticks()) - static_cast<double>(bin) * own);
	};
	std::string tile;
	for (const CpuLane &cpu : timeline.cpus())
		for (unsigned bin = 0; bin < bins; ++bin) {
			const double from = static_cast<double>(from_ticks) + bin * wide, to = from + wide;
			std::array<double, picture_modes> sums{};
			for (auto i = static_cast<std::size_t>(from / own);
			     i < cpu.modes.size() && static_cast<double>(i) * own < to; ++i) {
				const double begin = static_cast<double>(i) * own;
				const double part =
				    (std::min(to, begin + ticks_of(i)) - std::max(from, begin)) / ticks_of(i);
				for (std::size_t mode = 0; mode < picture_modes && part > 0; ++mode)
					sums[mode] += part * static_cast<double>(cpu.modes[i][mode]);
			}
			for (const double sum : sums)
				append(tile, static_cast<float>(sum / wide));
		}
	return tile;
}

} // namespace monitor::view
