// SPDX-License-Identifier: MIT
#include "address_spaces.h"

#include <algorithm>
#include <bit>

namespace monitor::stacks {
namespace {

using namespace std::chrono_literals;

constexpr auto rest = 1s;                  // longer than a probe runs
constexpr std::uint32_t min_room = 16;     // mappings; room doubles
constexpr std::size_t max_mappings = 8192; // of a process

} // namespace

AddressSpaces::AddressSpaces(std::span<edc_unwind_mapping> mappings, std::span<edc_unwind_space> spaces, SetSpace set)
    : mappings_(mappings), spaces_(spaces), set_(std::move(set))
{
}

// The process's own list, to be changed.
AddressSpaces::Layout &AddressSpaces::changed(std::int32_t process)
{
	Process &known = processes_[process];
	auto own = std::make_shared<Layout>();
	if (known.layout)
		own->mappings = known.layout->mappings;
	leave(known);
	known.layout = std::move(own);
	changed_.insert(process);
	return *known.layout;
}

// The last one that leaves a list frees its place.
void AddressSpaces::leave(Process &process)
{
	if (process.layout && process.layout.use_count() == 1 && process.layout->space >= 0)
		left_.push_back({Clock::now(), process.layout->space, process.layout->first, process.layout->room});
	process.layout.reset();
}

void AddressSpaces::mapped(std::int32_t process, const CodeMapping &mapping)
{
	if (mapping.end <= mapping.start)
		return;
	if (const auto known = processes_.find(process); known != processes_.end()) {
		if (mapping.time < known->second.executed)
			return;
		if (known->second.layout && known->second.layout->mappings.size() >= max_mappings)
			return;
	}
	std::vector<CodeMapping> &list = changed(process).mappings;
	std::vector<CodeMapping> next;
	for (const CodeMapping &old : list) {
		if (old.end <= mapping.start || old.start >= mapping.end) {
			next.push_back(old);
			continue;
		}
		if (old.start < mapping.start) {
			next.push_back(old);
			next.back().end = mapping.start;
		}
		if (old.end > mapping.end) {
			next.push_back(old);
			next.back().start = mapping.end;
		}
	}
	next.push_back(mapping);
	std::ranges::sort(next, {}, &CodeMapping::start);
	list = std::move(next);
}

void AddressSpaces::executed(std::int32_t process, std::uint64_t time)
{
	Layout &layout = changed(process);
	std::erase_if(layout.mappings, [&](const CodeMapping &mapping) { return mapping.time < time; });
	processes_[process].executed = time;
}

void AddressSpaces::created(std::int32_t process, std::int32_t parent, std::uint64_t time)
{
	const auto from = processes_.find(parent);
	if (from == processes_.end() || !from->second.layout)
		return;
	const std::shared_ptr<Layout> copied = from->second.layout;
	const bool later =
	    std::ranges::any_of(copied->mappings, [&](const CodeMapping &mapping) { return mapping.time > time; });
	const auto known = processes_.find(process);
	std::vector<CodeMapping> own; // what it did itself was told earlier
	if (known != processes_.end() && known->second.layout)
		for (const CodeMapping &mapping : known->second.layout->mappings)
			if (mapping.time >= time)
				own.push_back(mapping);
	if (known != processes_.end() && known->second.executed >= time)
		return; // and it has replaced all since
	if (!later && own.empty()) {
		Process &child = processes_[process];
		leave(child);
		child.layout = copied;
		changed_.insert(process);
		return;
	}
	Layout &layout = changed(process);
	layout.mappings.clear();
	std::ranges::copy_if(copied->mappings, std::back_inserter(layout.mappings),
			     [&](const CodeMapping &mapping) { return mapping.time <= time; });
	for (const CodeMapping &mapping : own)
		mapped(process, mapping);
}

void AddressSpaces::ended(std::int32_t process)
{
	const auto known = processes_.find(process);
	if (known == processes_.end())
		return;
	leave(known->second);
	processes_.erase(known);
	changed_.erase(process);
	set_(process, -1);
}

void AddressSpaces::use_again(Clock::time_point now)
{
	while (!left_.empty() && now - left_.front().when >= rest) {
		const Left &old = left_.front();
		edc_unwind_space &space = spaces_[static_cast<std::size_t>(old.space)];
		__atomic_store_n(&space.generation, space.generation | 1, __ATOMIC_RELEASE); // not valid
		free_spaces_.push_back(old.space);
		free_mappings_[old.room].push_back(old.first);
		left_.pop_front();
	}
}

std::int64_t AddressSpaces::free_space()
{
	if (!free_spaces_.empty()) {
		const std::int64_t space = free_spaces_.back();
		free_spaces_.pop_back();
		return space;
	}
	return next_space_ < spaces_.size() ? std::int64_t{next_space_++} : -1;
}

std::int64_t AddressSpaces::free_mappings(std::uint32_t room)
{
	std::vector<std::uint32_t> &free = free_mappings_[room];
	if (!free.empty()) {
		const std::uint32_t first = free.back();
		free.pop_back();
		return first;
	}
	if (next_mapping_ + room > mappings_.size())
		return -1;
	next_mapping_ += room;
	return next_mapping_ - room;
}

void AddressSpaces::place(Layout &layout)
{
	const auto room = std::max(std::bit_ceil(static_cast<std::uint32_t>(layout.mappings.size())), min_room);
	const std::int64_t first = free_mappings(room);
	const std::int64_t number = first < 0 ? -1 : free_space();
	if (number < 0) {
		if (first >= 0)
			free_mappings_[room].push_back(static_cast<std::uint32_t>(first));
		++without_room_;
		return;
	}
	layout.space = number;
	layout.first = static_cast<std::uint32_t>(first);
	layout.room = room;
	edc_unwind_space &space = spaces_[static_cast<std::size_t>(number)];
	__atomic_store_n(&space.generation, space.generation | 1, __ATOMIC_RELEASE);
	for (std::size_t i = 0; i < layout.mappings.size(); ++i) {
		const CodeMapping &mapping = layout.mappings[i];
		mappings_[layout.first + i] = {mapping.start, mapping.end, mapping.bias, mapping.first_row,
					       mapping.rows};
	}
	space.first_mapping = layout.first;
	space.mappings = static_cast<std::uint32_t>(layout.mappings.size());
	__atomic_store_n(&space.generation, space.generation + 1, __ATOMIC_RELEASE);
}

void AddressSpaces::publish(Clock::time_point now)
{
	use_again(now);
	for (const std::int32_t process : changed_) {
		Layout &layout = *processes_[process].layout;
		if (layout.space < 0 && !layout.mappings.empty())
			place(layout);
		set_(process, layout.mappings.empty() ? -1 : layout.space);
	}
	changed_.clear();
}

} // namespace monitor::stacks
