// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "model_text.h"
#include "relations.h"

namespace monitor::model {
namespace {

using ByKey = std::map<Key, const Instance *>;

ByKey by_key(const std::vector<Instance> &instances)
{
	ByKey keys;
	for (const Instance &instance : instances)
		keys.emplace(instance.key, &instance);
	return keys;
}

// How many instances would begin within one of another thread, if threads did not exclude each other.
double overlaps_by_chance(const std::vector<Instance> &instances, const std::map<std::uint32_t, double> &busy,
			  double span)
{
	double sum = 0;
	for (const Instance &instance : instances) {
		double free = 1;
		for (const auto &[thread, ns] : busy)
			free *= thread == instance.thread ? 1 : 1 - std::min(1., ns / span);
		sum += 1 - free;
	}
	return sum;
}

Counts count_alone(const std::vector<Instance> &instances)
{
	Counts counts;
	std::map<std::uint32_t, double> busy; // by thread
	std::uint64_t end = 0;
	std::uint32_t last = nothing;
	for (const Instance &instance : instances) {
		counts.held += instance.begin >= end || instance.thread == last;
		++counts.total;
		if (instance.end > end) {
			end = instance.end;
			last = instance.thread;
		}
		busy[instance.thread] += static_cast<double>(instance.end - instance.begin);
	}
	const auto span = static_cast<double>(std::max<std::uint64_t>(end - instances.front().begin, 1));
	counts.by_chance = overlaps_by_chance(instances, busy, span);
	return counts;
}

std::vector<Instance> merged(const std::vector<Instance> &one, const std::vector<Instance> &other)
{
	std::vector<Instance> both;
	std::ranges::merge(one, other, std::back_inserter(both), {}, &Instance::begin, &Instance::begin);
	return both;
}

Counts count_pairs(const Relation &relation, const std::vector<Instance> &first, const std::vector<Instance> &second)
{
	Counts counts;
	const ByKey firsts = by_key(first);
	for (const Instance &after : second) {
		++counts.total;
		const auto found = firsts.find(after.key);
		if (found == firsts.end())
			continue;
		const Instance &before = *found->second;
		const bool is_within = before.begin <= after.begin && after.end <= before.end;
		counts.held += relation.kind == Relation::Kind::within ? is_within : before.end <= after.begin;
	}
	return counts;
}

Counts count_order(const std::vector<Instance> &instances)
{
	Counts counts;
	for (std::size_t i = 1; i < instances.size(); ++i) {
		++counts.total;
		counts.held += instances[i - 1].key.item() < instances[i].key.item();
	}
	return counts;
}

Counts count_as_ready(std::vector<Instance> first, const std::vector<Instance> &second)
{
	Counts counts;
	std::ranges::stable_sort(first, {}, &Instance::end);
	const std::size_t both = std::min(first.size(), second.size());
	for (std::size_t i = 0; i < both; ++i)
		counts.held += first[i].key == second[i].key;
	counts.total = std::max(first.size(), second.size());
	return counts;
}

Counts count_between(const Relation &relation, const std::vector<Instance> &first, const std::vector<Instance> &second)
{
	std::vector<std::pair<std::uint64_t, int>> changes; // sorted by time: -1 before 1
	for (const Instance &instance : first)
		changes.emplace_back(instance.end, 1);
	for (const Instance &instance : second)
		changes.emplace_back(instance.begin, -1);
	std::ranges::sort(changes);
	Counts counts;
	std::int64_t between = 0, peak = 0;
	for (const auto &[time, change] : changes) {
		between += change;
		peak = std::max(peak, between);
		counts.total += change > 0;
		counts.held += change > 0 && between <= static_cast<std::int64_t>(relation.limit);
	}
	counts.peak = static_cast<std::uint64_t>(peak);
	return counts;
}

struct Period {
	std::uint64_t begin = ~0ull, end = 0;
};

std::map<std::uint64_t, Period> periods(const std::vector<Instance> &instances)
{
	std::map<std::uint64_t, Period> by_item;
	for (const Instance &instance : instances) {
		Period &period = by_item[instance.key.argument];
		period.begin = std::min(period.begin, instance.begin);
		period.end = std::max(period.end, instance.end);
	}
	return by_item;
}

Counts count_barrier(const Relation &relation, const std::vector<Instance> &first, const std::vector<Instance> &second)
{
	Counts counts;
	const auto before = periods(first), after = periods(second);
	for (auto at = before.begin(); at != before.end(); ++at) {
		const bool is_next = relation.kind == Relation::Kind::next;
		const auto item = is_next ? std::next(at) : at;
		if (item == before.end())
			break;
		const auto found = after.find(item->first);
		if (found == after.end())
			continue;
		++counts.total;
		counts.held += at->second.end <= found->second.begin;
	}
	return counts;
}

} // namespace

Counts count(const Relation &relation, const Instances &instances)
{
	using enum Relation::Kind;
	const auto first = instances.find(relation.first), second = instances.find(relation.second);
	const bool has_one_activity = relation.second.empty();
	if (first == instances.end() || (!has_one_activity && second == instances.end()))
		return {};
	switch (relation.kind) {
	case alone:
		return count_alone(has_one_activity ? first->second : merged(first->second, second->second));
	case follows:
	case within:
		return count_pairs(relation, first->second, second->second);
	case in_order:
		return count_order(first->second);
	case as_ready:
		return count_as_ready(first->second, second->second);
	case capacity:
		return count_between(relation, first->second, second->second);
	case barrier:
	case next:
		return count_barrier(relation, first->second, second->second);
	}
	return {};
}

std::string relation_text(const Relation &relation, const Counts &counts)
{
	const std::string first = name_text(relation.first), second = name_text(relation.second);
	const std::string held_of_total = fmt::format("{} of {}", counts.held, counts.total);
	switch (relation.kind) {
	case Relation::Kind::alone:
		return fmt::format("{}: one thread at a time: {}, {:.0f} would overlap by chance",
				   relation.second.empty() ? first : first + " and " + second, held_of_total,
				   counts.by_chance);
	case Relation::Kind::follows:
		return fmt::format("{} follows {} of the same item: {}", second, first, held_of_total);
	case Relation::Kind::within:
		return fmt::format("{} is within {} of the same item, in another thread: {}", second, first,
				   held_of_total);
	case Relation::Kind::in_order:
		return fmt::format("{} is in the order of the items: {}", first, held_of_total);
	case Relation::Kind::as_ready:
		return fmt::format("{} takes items as {} of them ends: {}", second, first, held_of_total);
	case Relation::Kind::capacity:
		return fmt::format("at most {} items are between {} and {}: {}", relation.limit, first, second,
				   held_of_total);
	case Relation::Kind::barrier:
		return fmt::format("{} begins when all threads have ended {} of the item: {}", second, first,
				   held_of_total);
	case Relation::Kind::next:
		return fmt::format("{} of the next item begins when all threads have ended {}: {}", second, first,
				   held_of_total);
	}
	return "";
}

} // namespace monitor::model
