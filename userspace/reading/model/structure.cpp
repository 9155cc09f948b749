// SPDX-License-Identifier: MIT
#include "structure.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ranges.h"
#include "model_text.h"

namespace monitor::model {
namespace {

// For a queue to have a capacity: the share of items whose producer waited, and the share of these waits that began
// with about the same number of items.
constexpr double min_full = 0.02, min_near = 0.8;

// For a queue to be called first in, first out. Not 1: two items taken at the same time may be recorded in any order.
constexpr double min_as_ready = 0.9;

class StructureFinder {
public:
	explicit StructureFinder(std::vector<Recording> &recordings) : recordings_(recordings) {}

	Structure find()
	{
		match_roles();
		check_relations();
		for (RolePlan &role : structure_.roles)
			choose_mode(role);
		for (RolePlan &role : structure_.roles)
			find_capacity(role);
		return std::move(structure_);
	}

private:
	// The sum of all recordings.
	Counts count_all(const Relation &relation) const
	{
		Counts sum;
		for (const Recording &recording : recordings_) {
			const Counts counts = count(relation, recording.found.instances);
			sum.held += counts.held;
			sum.total += counts.total;
			sum.by_chance += counts.by_chance;
			sum.peak = std::max(sum.peak, counts.peak);
		}
		return sum;
	}

	void add_reason(const Relation &relation)
	{
		structure_.because.push_back(relation_text(relation, count_all(relation)));
	}

	static std::vector<std::string> sorted(std::vector<std::string> names)
	{
		std::ranges::sort(names);
		return names;
	}

	// Takes the roles of the first recording; the others must have the same ones, and get their order.
	void match_roles()
	{
		for (const RoleThreads &role : recordings_.front().roles) {
			RolePlan plan;
			plan.name = role.name;
			plan.activities = role.activities;
			plan.threads = role.threads.size();
			for (const std::string &activity : role.activities)
				structure_.role_of.emplace(activity, structure_.roles.size());
			structure_.roles.push_back(plan);
		}
		for (Recording &recording : recordings_)
			recording.roles = in_order_of_plans(recording);
	}

	std::vector<RoleThreads> in_order_of_plans(const Recording &recording) const
	{
		std::vector<RoleThreads> ordered;
		for (const RolePlan &plan : structure_.roles) {
			const auto is_same = [&](const RoleThreads &role) {
				return sorted(role.activities) == sorted(plan.activities) &&
				       (!role.activities.empty() || role.name == plan.name);
			};
			const auto found = std::ranges::find_if(recording.roles, is_same);
			if (found == recording.roles.end() || found->threads.size() != plan.threads ||
			    recording.roles.size() != structure_.roles.size())
				throw Refused(fmt::format("{} and {} are not recordings of one program with "
							  "the same threads: role {}",
							  recordings_.front().steps.directory,
							  recording.steps.directory, plan.name));
			ordered.push_back(*found);
		}
		return ordered;
	}

	// A relation found in one recording must hold in all; then it becomes part of the structure.
	void check_relations()
	{
		std::set<Relation> all;
		for (const Recording &recording : recordings_)
			for (const Relation &relation : find_relations(recording.steps, recording.found.instances))
				all.insert(relation);
		for (const Relation &relation : all)
			for (const Recording &recording : recordings_)
				if (!count(relation, recording.found.instances).holds())
					throw Refused(contradiction(recording, relation));
		for (const Relation &relation : all)
			apply(relation);
	}

	void apply(const Relation &relation)
	{
		switch (relation.kind) {
		case Relation::Kind::alone:
			add_lock(relation);
			break;
		case Relation::Kind::follows:
			structure_.before.emplace(relation.second, relation.first);
			structure_.after[relation.first].push_back(relation.second);
			break;
		case Relation::Kind::within:
			structure_.calls.emplace(relation.first, relation.second);
			structure_.called.emplace(relation.second, relation.first);
			break;
		default:
			add_stage(relation);
		}
		add_reason(relation);
	}

	// A lock has the name of the first of its activities.
	void add_lock(const Relation &relation)
	{
		const std::string name = structure_.locks.try_emplace(relation.first, relation.first).first->second;
		if (relation.second.empty())
			return;
		const std::string other = structure_.locks.try_emplace(relation.second, relation.second).first->second;
		for (auto &[activity, lock] : structure_.locks)
			if (lock == other)
				lock = name;
	}

	void add_stage(const Relation &relation)
	{
		const bool is_next = relation.kind == Relation::Kind::next;
		for (std::vector<Structure::Stage> &stages : structure_.steps) {
			const auto found = std::ranges::find(stages, relation.first, &Structure::Stage::activity);
			if (found != stages.end()) {
				found->has_barrier = true;
				if (!is_next)
					stages.insert(found + 1, {relation.second, false});
				return;
			}
			if (!is_next && stages.front().activity == relation.second) {
				stages.insert(stages.begin(), {relation.first, true});
				return;
			}
		}
		structure_.steps.push_back({{relation.first, true}});
		if (relation.second != relation.first)
			structure_.steps.back().push_back({relation.second, false});
	}

	void choose_mode(RolePlan &role)
	{
		if (role.activities.empty())
			return;
		const auto is_locked = [this](const std::string &activity) {
			return structure_.locks.contains(activity);
		};
		if (role.threads > 1 && std::ranges::any_of(role.activities, is_locked))
			role.mode = Role::Mode::split;
		const std::string &first = role.activities.front();
		if (structure_.called.contains(first))
			role.mode = Role::Mode::pool;
		if (const auto before = structure_.before.find(first); before != structure_.before.end())
			choose_order(role, before->second, first);
	}

	// A single thread handles items in the order of their numbers, if that always holds and the order in which they
	// became ready does not. Otherwise they come by a queue.
	void choose_order(RolePlan &role, const std::string &before, const std::string &first)
	{
		const Relation ready{Relation::Kind::as_ready, before, first, 0};
		const Relation order{Relation::Kind::in_order, first, "", 0};
		const Recording *disordered = nullptr;
		for (const Recording &recording : recordings_) {
			const Counts in_order = count(order, recording.found.instances);
			const Counts as_ready = count(ready, recording.found.instances);
			if (in_order.held < in_order.total)
				disordered = &recording;
			else
				role.in_order |= role.threads == 1 && as_ready.held < as_ready.total;
		}
		if (role.in_order && disordered)
			throw Refused(contradiction(*disordered, order));
		if (role.in_order)
			return add_reason(order);
		role.mode = Role::Mode::pool;
		if (count_all(ready).held >= min_as_ready * static_cast<double>(count_all(ready).total))
			add_reason(ready);
		else
			structure_.because.push_back(name_text(first) +
						     " takes items in no order that is known: a queue");
	}

	static std::string contradiction(const Recording &recording, const Relation &relation)
	{
		return fmt::format("{} has another structure than other recordings: {}", recording.steps.directory,
				   relation_text(relation, count(relation, recording.found.instances)));
	}

	// There is a capacity if the producer waited for the takers, nearly always with about the same number of items
	// ready.
	void find_capacity(RolePlan &role)
	{
		if (role.mode != Role::Mode::pool || !structure_.before.contains(role.activities.front()))
			return;
		const std::string &first = role.activities.front(), &before = structure_.before.at(first);
		if (structure_.roles[structure_.role_of.at(before)].threads != 1)
			return;
		std::vector<std::uint64_t> ready; // at each of these waits
		std::size_t items = 0;
		for (const Recording &recording : recordings_) {
			items += recording.found.instances.at(before).size();
			add_ready(recording, before, first, ready);
		}
		if (static_cast<double>(ready.size()) < min_full * static_cast<double>(items))
			return;
		const std::uint64_t usual = usual_number(ready);
		if (usual < 2)
			return;
		role.capacity = static_cast<std::uint32_t>(usual - 1); // the last one waits to be put
		const Relation bound = capacity_of(before, first, role.capacity, role.threads);
		structure_.because.push_back(relation_text(bound, count_all(bound)) +
					     fmt::format("; its producer waits {} times", ready.size()));
	}

	// The median, if nearly all are near it; else 0.
	static std::uint64_t usual_number(std::vector<std::uint64_t> numbers)
	{
		std::ranges::sort(numbers);
		const std::uint64_t median = numbers[numbers.size() / 2];
		const auto near = std::ranges::count_if(
		    numbers, [&](std::uint64_t number) { return number + 1 >= median && number <= median + 1; });
		const bool is_usual = static_cast<double>(near) >= min_near * static_cast<double>(numbers.size());
		return is_usual ? median : 0;
	}

	// For each wait of the producer for a taker, the number of items that are ready when it begins.
	void add_ready(const Recording &recording, const std::string &before, const std::string &first,
		       std::vector<std::uint64_t> &ready) const
	{
		const auto &takers = recording.roles[structure_.role_of.at(first)].threads;
		const std::uint32_t producer = recording.roles[structure_.role_of.at(before)].threads.front();
		auto ends = list_of<std::uint64_t>(recording.found.instances.at(before), &Instance::end);
		std::ranges::sort(ends);
		const std::vector<Instance> &taken = recording.found.instances.at(first);
		for (const Step &step : recording.steps.threads[producer].steps) {
			if (step.kind != Step::Kind::wait || std::ranges::find(takers, step.what) == takers.end())
				continue;
			const auto made = std::ranges::upper_bound(ends, step.time) - ends.begin();
			const auto begun =
			    std::ranges::upper_bound(taken, step.time, {}, &Instance::begin) - taken.begin();
			if (made > begun)
				ready.push_back(static_cast<std::uint64_t>(made - begun));
		}
	}

	std::vector<Recording> &recordings_;
	Structure structure_;
};

} // namespace

Structure find_structure(std::vector<Recording> &recordings)
{
	return StructureFinder(recordings).find();
}

} // namespace monitor::model
