// SPDX-License-Identifier: MIT
#include "segments.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.h"

namespace monitor::analyze {

SegmentFold::SegmentFold(SegmentBy by, const trace::Description &description, const ThreadFold &fold,
			 const CounterFold &counters)
    : by_(by), fold_(fold), counters_(counters)
{
	for (const auto &cls : description.classes())
		if (cls->id == EDC_ID_COUNTERS_RESET && cls->name == "counters_reset") {
			id_ = cls->id;
			reset_ = trace::FieldRef(*cls, "at");
		}
	if (id_ == 0 || counters_.info().resets.empty())
		throw Error(
		    "this recording has no segments: record with -m and --reset-on EVENT, or a trigger that resets");
}

// The owner of a segment's row; the segments themselves are of single threads, or of a CPU.
std::uint64_t SegmentFold::owner_of(const Cpu &cpu) const
{
	if (by_ == SegmentBy::cpu)
		return cpu.number;
	const Thread &thread = by_ == SegmentBy::thread ? *cpu.current : fold_.leader(*cpu.current);
	return reinterpret_cast<std::uintptr_t>(&thread);
}

void SegmentFold::counters(const Cpu &cpu, const trace::Event &event)
{
	if (event.cls->id != id_)
		return;
	const bool is_counting = fold_.is_counting() && (!cpu.current || cpu.current->selected);
	resets_ += is_counting;
	const std::uint64_t reset = reset_.get<std::uint64_t>(event);
	if (!cpu.current || reset >= counters_.info().resets.size()) {
		unknown_ += is_counting;
		return;
	}
	const bool by_cpu = by_ == SegmentBy::cpu;
	Open now{reset, event.time, fold_.gaps(),
		 by_cpu ? counters_.so_far(cpu.number) : counters_.so_far(*cpu.current)};
	const std::uint64_t whose = by_cpu ? cpu.number : reinterpret_cast<std::uintptr_t>(cpu.current);
	const auto [found, is_first] = open_.try_emplace(whose, now);
	if (is_first)
		return;
	const Open before = std::exchange(found->second, std::move(now));
	if (!is_counting)
		return;
	if (before.gaps != fold_.gaps() || fold_.may_run_unseen(before.time)) {
		++interrupted_;
		return;
	}
	Group &group = groups_[{before.reset, reset, owner_of(cpu)}];
	const std::uint64_t ticks = event.time - before.time;
	CounterSums counted = found->second.counted;
	counted -= before.counted;
	if (!group.thread)
		group.thread = cpu.current;
	++group.count;
	group.total += ticks;
	group.max = std::max(group.max, ticks);
	group.counted += counted;
	group.histogram.add(ticks);
}

std::vector<SegmentRow> SegmentFold::rows() const
{
	std::vector<SegmentRow> rows;
	const std::vector<std::string> &names = counters_.info().resets;
	for (const auto &[key, group] : groups_) {
		SegmentRow row;
		row.from = names[key[0]];
		row.to = names[key[1]];
		row.number = key[2];
		if (by_ != SegmentBy::cpu) {
			const auto &thread = *reinterpret_cast<const Thread *>(key[2]);
			row.name = thread.name.empty() ? "?" : thread.name;
			row.number = static_cast<std::uint32_t>(thread.tid);
			row.in_tree = thread.in_tree || group.thread->in_tree;
		}
		row.count = group.count;
		row.total = group.total;
		row.mean = group.total / group.count;
		row.p50 = std::min(group.histogram.percentile(0.5), group.max);
		row.p99 = std::min(group.histogram.percentile(0.99), group.max);
		row.max = group.max;
		row.counted = counters_.none();
		row.counted += group.counted;
		row.counted.occurrences = group.count;
		rows.push_back(std::move(row));
	}
	std::ranges::sort(rows, [](const SegmentRow &a, const SegmentRow &b) {
		return std::tie(b.total, a.number, a.from, a.to) < std::tie(a.total, b.number, b.from, b.to);
	});
	return rows;
}

} // namespace monitor::analyze
