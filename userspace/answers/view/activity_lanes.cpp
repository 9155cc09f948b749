// SPDX-License-Identifier: MIT
#include "activity_lanes.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "groups.h"
#include "picture_bytes.h"

namespace monitor::view {
namespace {

using activities::Finished;
using analyze::Thread;
using Json = nlohmann::ordered_json;

constexpr std::size_t adds_between_checks = 1 << 14; // between checks of their memory

} // namespace

ActivityLanes::ActivityLanes(const Timeline &timeline, CacheReader &reader)
    : first_level_(reader.number<std::uint32_t>()), begins_(reader.number<std::uint64_t>()),
      ends_(reader.number<std::uint64_t>()), left_out_(reader.number<std::uint64_t>())
{
	for (auto kinds = reader.number<std::uint64_t>(); kinds-- > 0;) {
		ActivityKind kind{reader.text(), reader.text(), reader.number<std::int32_t>()};
		kind.count = reader.number<std::uint64_t>();
		kind.longest = reader.number<std::uint64_t>();
		kind.total = reader.number<std::uint64_t>();
		for (auto threads = reader.number<std::uint64_t>(); threads-- > 0;) {
			const auto index = reader.number<std::uint32_t>();
			if (index != key_unknown && index >= timeline.threads().size())
				throw Error("the kept picture lacks a thread");
			kind.threads.push_back({index, Lane(timeline.base_ticks(), reader)});
		}
		kinds_.push_back(std::move(kind));
	}
}

void ActivityLanes::save(CacheWriter &writer) const
{
	writer.number(std::uint32_t{first_level_});
	for (const std::uint64_t number : {begins_, ends_, left_out_, static_cast<std::uint64_t>(kinds_.size())})
		writer.number(number);
	for (const ActivityKind &kind : kinds_) {
		writer.text(kind.name);
		writer.text(kind.process);
		writer.number(kind.pid);
		for (const std::uint64_t number :
		     {kind.count, kind.longest, kind.total, static_cast<std::uint64_t>(kind.threads.size())})
			writer.number(number);
		for (const ActivityThread &thread : kind.threads) {
			writer.number(thread.index);
			thread.lane.save(writer);
		}
	}
}

std::vector<Slice> ActivityLanes::slices(std::size_t kind, unsigned level, std::uint64_t from_bin,
					 std::uint64_t to_bin) const
{
	const unsigned shift = 2 * (first_level_ - std::min(level, first_level_));
	from_bin >>= shift;
	to_bin = (to_bin >> shift) + ((to_bin & ((std::uint64_t{1} << shift) - 1)) != 0);
	std::vector<std::vector<Slice>> lanes;
	std::vector<LanePart> parts;
	lanes.reserve(kinds_[kind].threads.size());
	for (const ActivityThread &thread : kinds_[kind].threads)
		if (auto own = thread.lane.slices(std::max(level, first_level_), from_bin, to_bin); !own.empty())
			parts.push_back({lanes.emplace_back(std::move(own)), thread.index});
	std::vector<Slice> made;
	if (parts.size() != 1)
		made = summed(parts, from_bin, to_bin);
	else
		for (Slice slice : parts.front().slices) {
			slice.key = parts.front().key;
			made.push_back(slice);
		}
	for (Slice &slice : made) {
		slice.bin <<= shift;
		slice.bins <<= shift;
	}
	return made;
}

Json ActivityLanes::json(const Rows &rows) const
{
	Json kinds = Json::array();
	for (const ActivityKind &kind : kinds_) {
		Json threads = Json::array();
		for (const ActivityThread &thread : kind.threads)
			threads.push_back(rows.row_of(thread.index));
		kinds.push_back({{"name", kind.name},
				 {"process", kind.process},
				 {"pid", kind.pid},
				 {"count", kind.count},
				 {"total", kind.total},
				 {"longest", kind.longest},
				 {"threads", std::move(threads)}});
	}
	return {{"kinds", std::move(kinds)}, {"begins", begins_}, {"ends", ends_}, {"left_out", left_out_}};
}

std::optional<std::size_t> ActivityFold::lane_of(const Finished &activity)
{
	const Thread *const leader = &fold_.leader(activity.thread);
	const bool is_known = leader->tid == leader->tgid || activity.thread.tgid <= 0;
	const std::tuple process(is_known ? leader : nullptr, is_known ? leader->tid : activity.thread.tgid,
				 activity.number);
	auto kind = kinds_.find(process);
	const auto found =
	    kind == kinds_.end() ? lane_indices_.end() : lane_indices_.find({&activity.thread, kind->second});
	if (found != lane_indices_.end())
		return found->second;
	if (lanes_.size() >= max_lanes)
		return {};
	if (kind == kinds_.end()) {
		kind = kinds_.emplace(process, made_.kinds_.size()).first;
		made_.kinds_.push_back({tracker_.names()[activity.number], {}, std::get<1>(process)});
		leaders_.push_back(is_known ? leader : nullptr);
	}
	lane_indices_.emplace(std::pair(&activity.thread, kind->second), lanes_.size());
	lanes_.push_back({kind->second, &activity.thread, Lane(timeline_.base_ticks()), {}});
	lanes_.back().lane.drop_below(made_.first_level_);
	return lanes_.size() - 1;
}

// Each lane has its own key, to distinguish neighbours.
void ActivityFold::add(const Interval &interval)
{
	ThreadLane &lane = lanes_[interval.lane];
	made_.kinds_[lane.kind].total += interval.to - interval.from;
	const auto ticks = [&](std::uint64_t time) {
		return std::clamp(time, timeline_.begin(), timeline_.begin() + timeline_.ticks()) - timeline_.begin();
	};
	lane.lane.add(ticks(interval.from), ticks(interval.to), lane.added++ & 1);
	if (++adds_ % adds_between_checks == 0)
		limit_memory();
}

// Replaces nested activities by the enclosing one. One that ended before its process was known stays in its own row.
std::vector<ActivityFold::Interval> ActivityFold::take_from(Nested &nested, const Interval &outer)
{
	const auto first = std::ranges::lower_bound(nested.held, outer.from, {}, &Interval::from);
	std::vector<Interval> parts;
	Interval rest = outer;
	for (auto inner = first; inner != nested.held.end(); ++inner)
		if (inner->lane != outer.lane) {
			if (inner->from > rest.from)
				parts.push_back({rest.from, inner->from, outer.lane});
			parts.push_back(*inner);
			rest.from = inner->to;
		}
	parts.push_back(rest);
	held_ -= static_cast<std::size_t>(nested.held.end() - first);
	nested.held.erase(first, nested.held.end());
	return parts;
}

void ActivityFold::finished(const Finished &activity)
{
	if (activity.source != activities::ActivitySource::program)
		return;
	const std::optional<std::size_t> lane = lane_of(activity);
	if (!lane) {
		++made_.left_out_;
		return;
	}
	ActivityKind &kind = made_.kinds_[lanes_[*lane].kind];
	++kind.count;
	if (activity.is_certain)
		kind.longest = std::max(kind.longest, activity.end - activity.begin);
	const Interval outer{activity.alone_from, activity.end, *lane};
	const auto inside = nested_.find({&activity.thread, activity.number});
	if (!activity.is_nested) {
		if (inside == nested_.end())
			return add(outer);
		const std::vector<Interval> parts = take_from(inside->second, outer);
		for (const Interval &before : inside->second.held) // enclosed by activities that never end
			add(before);
		for (const Interval &part : parts)
			add(part);
		held_ -= inside->second.held.size();
		nested_.erase(inside);
		return;
	}
	Nested &nested = inside != nested_.end() ? inside->second : nested_[{&activity.thread, activity.number}];
	const std::vector<Interval> parts = take_from(nested, outer);
	if (held_ + parts.size() > max_held) {
		++nested.not_held;
		return;
	}
	nested.held.insert(nested.held.end(), parts.begin(), parts.end());
	held_ += parts.size();
}

void ActivityFold::not_nested(const Finished &inner)
{
	const auto found = nested_.find({&inner.thread, inner.number});
	if (found == nested_.end())
		return;
	for (const Interval &interval : found->second.held)
		add(interval);
	made_.left_out_ += found->second.not_held;
	held_ -= found->second.held.size();
	nested_.erase(found);
}

void ActivityFold::limit_memory()
{
	const auto bytes = [this] {
		std::size_t sum = lanes_.size() * sizeof(ThreadLane);
		for (const ThreadLane &lane : lanes_)
			sum += lane.lane.bytes();
		return sum;
	};
	while (made_.first_level_ + 1 < levels && bytes() > max_bytes_) {
		++made_.first_level_;
		for (ThreadLane &lane : lanes_)
			lane.lane.drop_below(made_.first_level_);
	}
}

ActivityLanes ActivityFold::finish()
{
	while (!nested_.empty()) { // the enclosing one ended after the timeline
		const auto key = nested_.begin()->first;
		not_nested({activities::ActivitySource::program, *key.first, 0, 0, key.second});
	}
	for (ThreadLane &lane : lanes_)
		lane.lane.finish();
	limit_memory();
	std::unordered_map<const Thread *, std::uint32_t> thread_indices;
	for (std::uint32_t index = 0; index < timeline_.threads().size(); ++index)
		thread_indices.emplace(&fold_.threads()[timeline_.threads()[index].number], index);
	for (ThreadLane &lane : lanes_) {
		const auto found = thread_indices.find(lane.thread);
		made_.kinds_[lane.kind].threads.push_back(
		    {found == thread_indices.end() ? key_unknown : found->second, std::move(lane.lane)});
	}
	for (std::size_t kind = 0; kind < leaders_.size(); ++kind)
		if (leaders_[kind])
			made_.kinds_[kind].process = leaders_[kind]->name;
	std::ranges::stable_sort(made_.kinds_, std::ranges::greater(), &ActivityKind::total);
	made_.begins_ = tracker_.unpaired().begins;
	made_.ends_ = tracker_.unpaired().ends;
	return std::move(made_);
}

} // namespace monitor::view
