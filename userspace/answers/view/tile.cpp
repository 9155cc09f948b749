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

// Calls visit(kind, place) for each of these lanes: c, r or w, and its place.
template <class Visit> void each_lane(const Timeline &timeline, std::string_view lanes, const Visit &visit)
{
	for (std::size_t cpu = 0; lanes == "c*" && cpu < timeline.cpus().size(); ++cpu)
		visit('c', cpu);
	if (lanes == "c*")
		return;
	while (!lanes.empty()) {
		const std::string_view name = lanes.substr(0, lanes.find(','));
		lanes.remove_prefix(std::min(name.size() + 1, lanes.size()));
		std::size_t place = 0;
		const char kind = name.empty() ? '?' : name[0];
		const auto [end, error] =
		    std::from_chars(name.data() + !name.empty(), name.data() + name.size(), place);
		const std::size_t places = kind == 'c'                  ? timeline.cpus().size()
					   : kind == 'r' || kind == 'w' ? timeline.threads().size()
									: 0;
		if (error != std::errc() || end != name.data() + name.size() || place >= places)
			throw Error("this picture has no such lane");
		visit(kind, place);
	}
}

} // namespace

std::string slices_tile(const Timeline &timeline, unsigned level, std::uint64_t from_bin, std::uint64_t to_bin,
			std::string_view lanes, std::size_t max_bytes)
{
	if (level >= levels || level < timeline.first_level())
		throw Error(fmt::format("this picture has levels {} to {}", timeline.first_level(), levels - 1));
	std::string tile;
	each_lane(timeline, lanes, [&](char kind, std::size_t place) {
		const Lane &lane = kind == 'c'   ? timeline.cpus()[place].threads
				   : kind == 'r' ? timeline.threads()[place].runs
						 : timeline.threads()[place].waits;
		append(tile, lane.slices(level, from_bin, to_bin), max_bytes);
	});
	return tile;
}

std::string slices_tile(const Timeline &timeline, const Window &window, unsigned level, std::uint64_t from_bin,
			std::uint64_t to_bin, std::string_view lanes, std::size_t max_bytes)
{
	std::string tile;
	each_lane(timeline, lanes, [&](char kind, std::size_t place) {
		std::vector<Slice> slices;
		if (kind == 'w') {
			slices = window.waits(place);
		} else if (const Lane *lane = kind == 'c' ? window.cpu(place) : window.runs(place)) {
			const auto found = lane->slices(level, from_bin, to_bin);
			slices.assign(found.begin(), found.end());
			for (Slice &slice : slices)
				slice.key = kind == 'c' ? window.key_of(slice.key) : slice.key;
		}
		append(tile, slices, max_bytes);
	});
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
