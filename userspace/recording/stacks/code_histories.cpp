// SPDX-License-Identifier: MIT
#include "code_histories.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace monitor::stacks {

void CodeHistories::add(Change change)
{
	if (change.kind == Change::Kind::created)
		return create(change);
	if (change.kind == Change::Kind::ended) {
		by_process_.erase(change.process);
		return;
	}
	if (change.kind == Change::Kind::executed)
		return execute(std::move(change));
	std::vector<Change> &changes = private_list(change.process);
	if (changes.size() >= max_changes)
		changes.erase(changes.begin());
	changes.push_back(std::move(change));
}

// The process's private, modifiable list.
std::vector<Change> &CodeHistories::private_list(std::int32_t process)
{
	Changes &changes = by_process_[process];
	if (!changes)
		changes = std::make_shared<std::vector<Change>>();
	else if (changes.use_count() > 1)
		changes = std::make_shared<std::vector<Change>>(*changes);
	return *changes;
}

// Changes of the new program may have arrived earlier.
void CodeHistories::execute(Change executed)
{
	const Changes before = std::exchange(by_process_[executed.process], nullptr);
	std::vector<Change> &changes = private_list(executed.process);
	const auto is_of_new = [&](const Change &each) { return each.monotonic_ns >= executed.monotonic_ns; };
	if (before)
		std::ranges::copy_if(*before, std::back_inserter(changes), is_of_new);
	changes.push_back(std::move(executed));
}

// Its own changes may have arrived earlier; those with an earlier time belong to a previous process with its PID.
void CodeHistories::create(const Change &created)
{
	const Changes before = std::exchange(by_process_[created.process], nullptr);
	const auto is_later = [&](const Change &each) { return each.monotonic_ns > created.monotonic_ns; };
	if (const auto parent = by_process_.find(created.parent); parent != by_process_.end() && parent->second) {
		by_process_[created.process] = parent->second;
		if (std::ranges::any_of(*parent->second, is_later))
			std::erase_if(private_list(created.process), is_later);
	}
	for (std::size_t i = 0; before && i < before->size(); ++i)
		if ((*before)[i].monotonic_ns >= created.monotonic_ns)
			add((*before)[i]);
}

std::vector<Change> CodeHistories::changes_of(std::int32_t process) const
{
	const auto found = by_process_.find(process);
	if (found == by_process_.end() || !found->second)
		return {};
	std::vector<Change> changes = *found->second;
	for (Change &each : changes)
		each.process = process;
	std::ranges::stable_sort(changes, {}, &Change::monotonic_ns);
	return changes;
}

} // namespace monitor::stacks
