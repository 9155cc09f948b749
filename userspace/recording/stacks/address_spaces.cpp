// SPDX-License-Identifier: MIT
#include "address_spaces.h"

#include <algorithm>
#include <bit>

#include "base/ranges.h"

namespace monitor::stacks {
namespace {

using namespace std::chrono_literals;

constexpr auto reuse_delay = 1s;           // longer than a probe runs
constexpr auto burst = 250ms;              // of lists that are published as they change: a program starts
constexpr std::uint32_t min_room = 16;     // mappings; room doubles
constexpr std::size_t max_mappings = 8192; // of a process

std::uint32_t room_for(std::size_t mappings)
{
	return std::max(std::bit_ceil(static_cast<std::uint32_t>(mappings)), min_room);
}

} // namespace

AddressSpaces::AddressSpaces(std::span<edc_unwind_mapping> mappings, std::span<edc_unwind_space> spaces, SetSpace set,
			     UserOf user_of)
    : mappings_(mappings), spaces_(spaces), set_space_(std::move(set)), user_of_(std::move(user_of)),
      room_shares_(mappings.size()), space_shares_(spaces.size())
{
}

// The process's private list, not yet published to probes.
AddressSpaces::Layout &AddressSpaces::private_layout(std::int32_t process)
{
	Process &known = processes_[process];
	changed_.insert(process);
	if (known.layout && known.layout.use_count() == 1 && known.layout->space < 0)
		return *known.layout;
	auto own = std::make_shared<Layout>();
	if (known.layout)
		own->mappings = known.layout->mappings;
	leave_layout(known);
	known.layout = std::move(own);
	return *known.layout;
}

// The last process to leave a list frees its slot.
void AddressSpaces::leave_layout(Process &process)
{
	if (process.layout && process.layout.use_count() == 1 && process.layout->space >= 0)
		freed_.push_back({Clock::now(), process.layout->space, process.layout->first, process.layout->room,
				  process.layout->user});
	process.layout.reset();
}

// Truncates older mappings that the new one overlaps.
bool AddressSpaces::on_mapped(std::int32_t process, const CodeMapping &mapping)
{
	if (mapping.end <= mapping.start)
		return true;
	if (const auto known = processes_.find(process); known != processes_.end()) {
		if (mapping.time < known->second.executed)
			return true;
		if (known->second.layout && known->second.layout->mappings.size() >= max_mappings)
			return false;
	}
	std::vector<CodeMapping> &list = private_layout(process).mappings;
	const auto first = std::ranges::upper_bound(list, mapping.start, {}, &CodeMapping::end);
	const auto last = std::ranges::lower_bound(first, list.end(), mapping.end, {}, &CodeMapping::start);
	std::vector<CodeMapping> parts;
	if (first != last && first->start < mapping.start) {
		parts.push_back(*first);
		parts.back().end = mapping.start;
	}
	parts.push_back(mapping);
	if (first != last && std::prev(last)->end > mapping.end) {
		parts.push_back(*std::prev(last));
		parts.back().start = mapping.end;
	}
	list.insert(list.erase(first, last), parts.begin(), parts.end());
	return true;
}

std::vector<std::int32_t> AddressSpaces::known_processes() const
{
	return list_of<std::int32_t>(processes_, [](const auto &each) { return each.first; });
}

void AddressSpaces::on_executed(std::int32_t process, std::uint64_t time)
{
	Layout &layout = private_layout(process);
	std::erase_if(layout.mappings, [&](const CodeMapping &mapping) { return mapping.time < time; });
	processes_[process].executed = time;
}

void AddressSpaces::on_created(std::int32_t process, std::int32_t parent, std::uint64_t time)
{
	const auto from = processes_.find(parent);
	if (from == processes_.end() || !from->second.layout)
		return;
	const std::shared_ptr<Layout> copied = from->second.layout;
	const bool later =
	    std::ranges::any_of(copied->mappings, [&](const CodeMapping &mapping) { return mapping.time > time; });
	const auto known = processes_.find(process);
	std::vector<CodeMapping> own; // its own changes were reported earlier
	if (known != processes_.end() && known->second.layout)
		for (const CodeMapping &mapping : known->second.layout->mappings)
			if (mapping.time >= time)
				own.push_back(mapping);
	if (known != processes_.end() && known->second.executed >= time)
		return; // it has replaced all mappings since
	if (!later && own.empty()) {
		Process &child = processes_[process];
		leave_layout(child);
		child.layout = copied;
		changed_.insert(process);
		return;
	}
	Layout &layout = private_layout(process);
	layout.mappings.clear();
	std::ranges::copy_if(copied->mappings, std::back_inserter(layout.mappings),
			     [&](const CodeMapping &mapping) { return mapping.time <= time; });
	for (const CodeMapping &mapping : own)
		on_mapped(process, mapping);
}

void AddressSpaces::on_ended(std::int32_t process)
{
	const auto known = processes_.find(process);
	if (known == processes_.end())
		return;
	leave_layout(known->second);
	processes_.erase(known);
	changed_.erase(process);
	set_space_(process, -1);
}

// Publish `first_row` before `rows`, which probes read first.
void AddressSpaces::set_rows(std::uint32_t file, std::uint32_t first_row, std::uint32_t rows)
{
	for (auto &[number, process] : processes_) {
		if (!process.layout)
			continue;
		Layout &layout = *process.layout;
		for (std::size_t i = 0; i < layout.mappings.size(); ++i) {
			CodeMapping &mapping = layout.mappings[i];
			if (mapping.file != file || mapping.rows != EDC_UNWIND_LATER)
				continue;
			mapping.first_row = first_row;
			mapping.rows = rows;
			if (layout.space < 0)
				continue;
			edc_unwind_mapping &published = mappings_[layout.first + i];
			published.first_row = first_row;
			__atomic_store_n(&published.rows, rows, __ATOMIC_RELEASE);
		}
	}
}

void AddressSpaces::reclaim(Clock::time_point now)
{
	while (!freed_.empty() && now - freed_.front().when >= reuse_delay) {
		const FreedSpace &old = freed_.front();
		edc_unwind_space &space = spaces_[static_cast<std::size_t>(old.space)];
		__atomic_store_n(&space.generation, space.generation | 1, __ATOMIC_RELEASE); // not valid
		free_spaces_.push_back(old.space);
		free_mappings_[old.room].push_back(old.first);
		room_shares_.give_back(old.user, old.room);
		space_shares_.give_back(old.user, 1);
		freed_.pop_front();
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
		return split_larger(room);
	next_mapping_ += room;
	return next_mapping_ - room;
}

// Splits room of the next larger size; it is never merged again, as most lists are short.
std::int64_t AddressSpaces::split_larger(std::uint32_t room)
{
	auto larger = std::find_if(free_mappings_.upper_bound(room), free_mappings_.end(),
				   [](const auto &of_size) { return !of_size.second.empty(); });
	if (larger == free_mappings_.end())
		return -1;
	const std::uint32_t first = larger->second.back();
	larger->second.pop_back();
	for (std::uint32_t size = larger->first; size > room;) {
		size /= 2;
		free_mappings_[size].push_back(first + size);
	}
	return first;
}

bool AddressSpaces::take_share(std::uint32_t user, std::uint32_t room)
{
	if (!room_shares_.take(user, room))
		return false;
	if (space_shares_.take(user, 1))
		return true;
	room_shares_.give_back(user, room);
	return false;
}

void AddressSpaces::allocate(Layout &layout, std::uint32_t user)
{
	const std::uint32_t room = room_for(layout.mappings.size());
	const bool has_share = take_share(user, room);
	const std::int64_t first = has_share ? free_mappings(room) : -1;
	const std::int64_t number = first < 0 ? -1 : free_space();
	if (number < 0) {
		if (first >= 0)
			free_mappings_[room].push_back(static_cast<std::uint32_t>(first));
		if (has_share) {
			room_shares_.give_back(user, room);
			space_shares_.give_back(user, 1);
		}
		++without_room_;
		refused_.push_back(user);
		return;
	}
	layout.space = number;
	layout.first = static_cast<std::uint32_t>(first);
	layout.room = room;
	layout.user = user;
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

// Minimum interval between two lists of a process, so that it takes at most an eighth of the room.
AddressSpaces::Clock::duration AddressSpaces::publish_interval(const Layout &layout) const
{
	return Clock::duration(reuse_delay) * (8ull * layout.room) / mappings_.size();
}

void AddressSpaces::publish(Clock::time_point now)
{
	reclaim(now);
	for (auto next = changed_.begin(); next != changed_.end();) {
		const std::int32_t number = *next;
		Process &process = processes_[number];
		Layout &layout = *process.layout;
		if (now < process.next_publish) {
			++next;
			continue;
		}
		if (layout.space < 0 && !layout.mappings.empty()) {
			allocate(layout, user_of_ ? user_of_(number) : 0);
			process.next_publish = std::max(process.next_publish, now - burst) + publish_interval(layout);
		}
		set_space_(number, layout.mappings.empty() ? -1 : layout.space);
		next = changed_.erase(next);
	}
}

} // namespace monitor::stacks
