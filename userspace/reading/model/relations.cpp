// SPDX-License-Identifier: MIT
#include "relations.h"

#include <algorithm>
#include <set>

namespace monitor::model {
namespace {

constexpr double min_by_chance = 10;                           // expected overlaps, for a lock
constexpr double min_contended = 5, min_contended_share = 0.1; // waits for the lock; as a share of these overlaps
constexpr std::size_t min_items = 30;
constexpr double min_in_other_threads = 0.3;
// For an arc between activities without arguments, whose instances may match by accident: the share of the waits before
// one that must have been ended by threads of the other.
constexpr double min_ended = 0.5;

class RelationFinder {
public:
	RelationFinder(const Steps &steps, const Instances &instances) : steps_(steps), instances_(instances)
	{
		for (std::size_t i = 0; i < steps.activities.size(); ++i)
			if (steps.has_argument[i])
				with_argument_.insert(steps.activities[i]);
	}

	std::vector<Relation> find()
	{
		find_locks();
		find_barriers();
		find_arcs_and_calls();
		return std::move(found_);
	}

private:
	// The threads must also have waited for each other: on one CPU instances rarely overlap anyway.
	void find_locks()
	{
		std::map<std::string, double> alone; // the overlaps expected by chance
		for (const auto &[name, instances] : instances_) {
			const Relation relation{Relation::Kind::alone, name, "", 0};
			const Counts counts = count(relation, instances_);
			const auto ended = static_cast<double>(waits_before(name, threads_of(name)).ended);
			if (counts.held == counts.total && counts.by_chance >= min_by_chance &&
			    ended >= std::max(min_contended, counts.by_chance * min_contended_share)) {
				found_.push_back(relation);
				alone[name] = counts.by_chance;
			}
		}
		find_locks_of_two(alone);
	}

	void find_locks_of_two(const std::map<std::string, double> &alone)
	{
		for (const auto &[name, chance] : alone)
			for (auto other = alone.upper_bound(name); other != alone.end(); ++other) {
				const Relation both{Relation::Kind::alone, name, other->first, 0};
				const Counts counts = count(both, instances_);
				if (counts.held == counts.total &&
				    counts.by_chance - chance - other->second >= min_by_chance)
					found_.push_back(both);
			}
	}

	// Whether several threads do it once for each argument, always the same number of them.
	bool is_of_steps(const std::vector<Instance> &instances) const
	{
		std::map<std::uint64_t, std::set<std::uint32_t>> threads;
		for (const Instance &instance : instances)
			if (!threads[instance.key.argument].insert(instance.thread).second)
				return false;
		return threads.size() >= min_items && std::ranges::all_of(threads, [&](const auto &step) {
			       return step.second.size() > 1 && step.second.size() == threads.begin()->second.size();
		       });
	}

	// All threads do activity A of an item, then all B of it, then all A of the next item.
	void find_barriers()
	{
		std::set<std::string> used;
		for (const auto &[name, instances] : instances_) {
			if (used.contains(name) || !with_argument_.contains(name) || !is_of_steps(instances))
				continue;
			std::vector<std::string> stages = {name};
			for (const auto &[other, others] : instances_)
				if (with_argument_.contains(other) &&
				    (is_before(name, other) || is_before(other, name)))
					stages.push_back(other);
			sort_by_time(stages);
			for (std::size_t i = 0; i + 1 < stages.size(); ++i)
				add_barrier({Relation::Kind::barrier, stages[i], stages[i + 1], 0});
			add_barrier({Relation::Kind::next, stages.back(), stages.front(), 0});
			used.insert(stages.begin(), stages.end());
		}
	}

	// By how many are before each: is_before() need not be a strict weak order.
	void sort_by_time(std::vector<std::string> &stages) const
	{
		std::map<std::string, std::ptrdiff_t> earlier;
		for (const std::string &stage : stages)
			earlier[stage] = std::ranges::count_if(
			    stages, [&](const std::string &other) { return is_before(other, stage); });
		std::ranges::sort(stages, {}, [&](const std::string &stage) { return earlier.at(stage); });
	}

	bool is_before(const std::string &one, const std::string &other) const
	{
		const Counts counts = count({Relation::Kind::barrier, one, other, 0}, instances_);
		return one != other && counts.total >= min_items && counts.holds();
	}

	void add_barrier(const Relation &relation)
	{
		if (const Counts counts = count(relation, instances_); counts.total >= min_items && counts.holds())
			found_.push_back(relation);
	}

	void find_arcs_and_calls()
	{
		std::vector<Relation> arcs;
		for (const auto &[first, firsts] : instances_)
			for (const auto &[second, seconds] : instances_)
				if (first != second && is_pair(firsts, seconds) && !is_barrier(first, second)) {
					const Relation arc{Relation::Kind::follows, first, second, 0};
					const Relation call{Relation::Kind::within, first, second, 0};
					if (has_unique_keys(firsts) && count(arc, instances_).holds() &&
					    (has_arguments(first, second) || is_waited_for(first, second)))
						arcs.push_back(arc);
					else if (count(call, instances_).holds() && has_arguments(first, second))
						found_.push_back(call);
				}
		add_arcs(arcs);
	}

	// Except those that two others imply.
	void add_arcs(const std::vector<Relation> &arcs)
	{
		const auto has = [&](const std::string &first, const std::string &second) {
			return std::ranges::any_of(
			    arcs, [&](const Relation &arc) { return arc.first == first && arc.second == second; });
		};
		for (const Relation &arc : arcs)
			if (!std::ranges::any_of(instances_, [&](const auto &between) {
				    return has(arc.first, between.first) && has(between.first, arc.second);
			    }))
				found_.push_back(arc);
	}

	bool has_arguments(const std::string &first, const std::string &second) const
	{
		return with_argument_.contains(first) && with_argument_.contains(second);
	}

	bool is_barrier(const std::string &first, const std::string &second) const
	{
		return std::ranges::any_of(found_, [&](const Relation &relation) {
			return (relation.kind == Relation::Kind::barrier || relation.kind == Relation::Kind::next) &&
			       ((relation.first == first && relation.second == second) ||
				(relation.first == second && relation.second == first));
		});
	}

	static bool has_unique_keys(const std::vector<Instance> &instances)
	{
		return std::ranges::all_of(instances,
					   [](const Instance &instance) { return instance.key.occurrence == 0; });
	}

	// Whether nearly all instances have one of the other activity with the same key, often in another thread.
	static bool is_pair(const std::vector<Instance> &firsts, const std::vector<Instance> &seconds)
	{
		std::map<Key, std::uint32_t> threads;
		for (const Instance &instance : firsts)
			threads.emplace(instance.key, instance.thread);
		std::size_t both = 0, others = 0;
		for (const Instance &instance : seconds)
			if (const auto found = threads.find(instance.key); found != threads.end()) {
				++both;
				others += found->second != instance.thread;
			}
		const auto all = static_cast<double>(std::max(firsts.size(), seconds.size()));
		return both >= min_items && static_cast<double>(both) >= 0.9 * all &&
		       static_cast<double>(others) >= min_in_other_threads * static_cast<double>(both);
	}

	std::set<std::uint32_t> threads_of(const std::string &activity) const
	{
		std::set<std::uint32_t> threads;
		for (const Instance &instance : instances_.at(activity))
			threads.insert(instance.thread);
		return threads;
	}

	struct Waits {
		std::size_t all = 0, ended = 0;
	};
	// The last waits before instances of the activity, and how many of them were ended by the threads `by`.
	Waits waits_before(const std::string &activity, const std::set<std::uint32_t> &by) const
	{
		Waits waits;
		for (const std::uint32_t thread : threads_of(activity)) {
			const Step *last = nullptr;
			for (const Step &step : steps_.threads[thread].steps) {
				if (step.kind == Step::Kind::wait) {
					last = &step;
				} else if (step.kind == Step::Kind::end) {
					last = nullptr;
				} else if (step.kind == Step::Kind::begin && last &&
					   steps_.activities[step.what] == activity) {
					++waits.all;
					waits.ended += by.contains(last->what);
				}
			}
		}
		return waits;
	}

	// Whether `second` waits for items of `first`; or `first` for `second`, because the queue is full.
	bool is_waited_for(const std::string &first, const std::string &second) const
	{
		const auto is_seen = [](const Waits &waits) {
			return waits.all >= min_instances &&
			       static_cast<double>(waits.ended) >= min_ended * static_cast<double>(waits.all);
		};
		return is_seen(waits_before(second, threads_of(first))) ||
		       is_seen(waits_before(first, threads_of(second)));
	}

	const Steps &steps_;
	const Instances &instances_;
	std::set<std::string> with_argument_;
	std::vector<Relation> found_;
};

} // namespace

std::vector<Relation> find_relations(const Steps &steps, const Instances &instances)
{
	return RelationFinder(steps, instances).find();
}

} // namespace monitor::model
