// SPDX-License-Identifier: MIT
#include "tile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "base/error.h"
#include "base/scanner.h"

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
		throw TooMuch();
	append(to, static_cast<std::uint32_t>(slices.size()));
	for (const Slice &slice : slices)
		for (const std::uint32_t word :
		     {slice.bin, slice.bins, slice.key, slice.count, static_cast<std::uint32_t>(slice.busy),
		      static_cast<std::uint32_t>(slice.busy >> 32)})
			append(to, word);
}

struct LaneName {
	char kind = 'c';
	std::size_t index = 0;
};

constexpr std::string_view group_kinds = "pmg"; // in the order of Groups::By

// Parses "c*", or names of lanes. Throws Error: there is no such lane.
std::vector<LaneName> lanes_of(const SliceSources &sources, std::string_view text)
{
	std::vector<LaneName> lanes;
	if (text == "c*")
		for (std::size_t cpu = 0; cpu < sources.timeline.cpus().size(); ++cpu)
			lanes.push_back({'c', cpu});
	while (text != "c*" && !text.empty()) {
		const std::string_view name = take_until(text, ',');
		std::size_t index = 0, count = 0;
		const char kind = name.empty() ? '?' : name[0];
		if (kind == 'c')
			count = sources.timeline.cpus().size();
		else if (kind == 'r' || kind == 'w')
			count = sources.rows ? sources.rows->size() : sources.timeline.threads().size();
		else if (kind == 'a' && sources.activities)
			count = sources.activities->kinds().size();
		else if (const auto by = group_kinds.find(kind); by != std::string_view::npos && sources.groups)
			count = sources.groups->by(static_cast<Groups::By>(by)).size();
		const auto [end, error] =
		    std::from_chars(name.data() + !name.empty(), name.data() + name.size(), index);
		if (error != std::errc() || end != name.data() + name.size() || index >= count)
			throw Error("this picture has no such lane");
		lanes.push_back({kind, index});
	}
	return lanes;
}

unsigned kept_level(const Timeline &timeline, char kind)
{
	return kind == 'a' ? 0 : kind == 'c' ? timeline.cpus_level() : timeline.threads_level();
}

// Bins of a level, and what a slice there is at the requested level.
struct Part {
	unsigned level = 0, shift = 0;
	std::uint64_t from_bin = 0, to_bin = 0;

	std::vector<Slice> at_requested_level(std::vector<Slice> slices) const
	{
		for (Slice &slice : slices) {
			slice.bin <<= shift;
			slice.bins <<= shift;
		}
		return slices;
	}
};

Part part_of(unsigned level, unsigned at_least, std::uint64_t from_bin, std::uint64_t to_bin)
{
	const unsigned shift = 2 * (std::max(level, at_least) - level);
	const bool has_rest = (to_bin & ((std::uint64_t{1} << shift) - 1)) != 0;
	return {std::max(level, at_least), shift, from_bin >> shift, (to_bin >> shift) + has_rest};
}

// The sum of several lanes.
std::vector<Slice> summed(const std::vector<std::vector<Slice>> &lanes, const Part &part)
{
	std::vector<LanePart> parts;
	for (const std::vector<Slice> &slices : lanes)
		parts.push_back({slices});
	return summed(parts, part.from_bin, part.to_bin);
}

std::vector<Slice> cpu_slices(const SliceSources &sources, std::size_t cpu, const Part &part)
{
	const Lane *lane = sources.window ? sources.window->cpu(cpu) : &sources.timeline.cpus()[cpu].threads;
	if (!lane)
		return {};
	std::vector<Slice> slices = lane->slices(part.level, part.from_bin, part.to_bin);
	for (Slice &slice : slices) {
		if (sources.window)
			slice.key = sources.window->key_of(slice.key);
		if (sources.rows)
			slice.key = sources.rows->row_of(slice.key);
	}
	return slices;
}

// Where a thread ran, perhaps only for its part in a group.
std::vector<Slice> runs(const SliceSources &sources, std::uint32_t thread, const Group *group, const Part &part)
{
	if (sources.window)
		return sources.window->runs(thread, group);
	return sources.timeline.threads()[thread].runs(part.level, part.from_bin, part.to_bin, group);
}

std::vector<Slice> waits(const SliceSources &sources, std::uint32_t thread, const Part &part)
{
	if (sources.window)
		return sources.window->waits(thread);
	return sources.timeline.threads()[thread].waits.slices(part.level, part.from_bin, part.to_bin);
}

std::vector<Slice> slices_of(const SliceSources &sources, LaneName name, const Part &part)
{
	if (name.kind == 'c')
		return cpu_slices(sources, name.index, part);
	std::vector<std::vector<Slice>> lanes;
	const auto by = group_kinds.find(name.kind);
	if (by != std::string_view::npos) {
		const Group &group = sources.groups->by(static_cast<Groups::By>(by))[name.index];
		for (const std::uint32_t thread : group.threads)
			lanes.push_back(runs(sources, thread, &group, part));
		return summed(lanes, part);
	}
	const auto one = static_cast<std::uint32_t>(name.index);
	for (const std::uint32_t thread : sources.rows ? sources.rows->threads(name.index) : std::span(&one, 1))
		lanes.push_back(name.kind == 'r' ? runs(sources, thread, nullptr, part) : waits(sources, thread, part));
	return lanes.size() == 1 ? lanes.front() : summed(lanes, part);
}

} // namespace

unsigned kept_level(const SliceSources &sources, std::string_view lanes)
{
	unsigned level = 0;
	for (const LaneName &name : lanes_of(sources, lanes))
		level = std::max(level, kept_level(sources.timeline, name.kind));
	return level;
}

std::string slices_tile(const SliceSources &sources, unsigned level, std::uint64_t from_bin, std::uint64_t to_bin,
			std::string_view lanes, std::size_t max_bytes)
{
	if (level >= levels)
		throw Error("this picture has levels 0 to {}", levels - 1);
	std::string tile;
	for (const LaneName &name : lanes_of(sources, lanes)) {
		if (name.kind == 'a') {
			std::vector<Slice> slices = sources.activities->slices(name.index, level, from_bin, to_bin);
			for (Slice &slice : slices)
				slice.key = sources.rows ? sources.rows->row_of(slice.key) : slice.key;
			append(tile, slices, max_bytes);
			continue;
		}
		const unsigned kept =
		    sources.window ? level : std::max(sources.coarsest, kept_level(sources.timeline, name.kind));
		const Part part = part_of(level, kept, from_bin, to_bin);
		append(tile, part.at_requested_level(slices_of(sources, name, part)), max_bytes);
	}
	return tile;
}

// Divides bins of the picture that extend beyond one of these.
std::string modes_tile(const Timeline &timeline, std::uint64_t from_ticks, std::uint64_t to_ticks, unsigned bins)
{
	to_ticks = std::min(to_ticks, timeline.ticks());
	if (from_ticks >= to_ticks || bins == 0 || bins > max_mode_bins_at_once)
		throw Error("this picture has no such part");
	if (timeline.cpus().size() * bins > std::max<std::size_t>(max_answer_bins, timeline.cpus().size()))
		throw TooMuch();
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
