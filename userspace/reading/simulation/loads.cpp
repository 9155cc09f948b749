// SPDX-License-Identifier: MIT
#include "loads.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace monitor::simulation {
namespace {

constexpr double nearly_equal = 0.03;

} // namespace

Loads::Loads(const model::Model &model, Nanoseconds elapsed, unsigned cpus)
    : model_(model), elapsed_(static_cast<double>(std::max<Nanoseconds>(elapsed, 1))), cpus_(cpus),
      roles_(model.roles.size())
{
}

void Loads::add_thread(std::size_t role, const std::vector<Nanoseconds> &busy_by_activity, Nanoseconds slept)
{
	Role &sums = roles_[role];
	sums.busy.resize(busy_by_activity.size());
	sums.max_busy.resize(busy_by_activity.size());
	for (std::size_t i = 0; i < busy_by_activity.size(); ++i) {
		sums.busy[i] += busy_by_activity[i];
		sums.max_busy[i] = std::max(sums.max_busy[i], busy_by_activity[i]);
	}
	const Nanoseconds all = std::accumulate(busy_by_activity.begin(), busy_by_activity.end(), Nanoseconds(0));
	sums.all += all;
	sums.max_all = std::max(sums.max_all, all);
	sums.slept += slept;
	++sums.threads;
	all_ += all;
}

void Loads::add_lock(const std::string &name, Nanoseconds held)
{
	locks_.push_back({"lock " + name, static_cast<double>(held) / elapsed_});
}

// The threads of a pool can share their work; in other roles the thread with the most work limits.
double Loads::share(std::size_t role, Nanoseconds of_all, Nanoseconds of_one) const
{
	if (model_.roles[role].mode == model::Role::Mode::pool)
		return static_cast<double>(of_all) / elapsed_ / static_cast<double>(roles_[role].threads);
	return static_cast<double>(of_one) / elapsed_;
}

Load Loads::limit(const Names &activities) const
{
	std::vector<Load> loads = locks_; // in order of preference
	for (std::size_t role = 0; role < roles_.size(); ++role)
		for (std::uint32_t i = 1; i < roles_[role].busy.size(); ++i)
			loads.push_back(
			    {activities.name(i), share(role, roles_[role].busy[i], roles_[role].max_busy[i])});
	for (std::size_t role = 0; role < roles_.size(); ++role)
		loads.push_back({model_.roles[role].name, share(role, roles_[role].all, roles_[role].max_all)});
	loads.push_back({"CPUs", static_cast<double>(all_) / elapsed_ / cpus_});
	for (std::size_t role = 0; role < roles_.size(); ++role)
		if (roles_[role].threads > 0)
			loads.push_back({fmt::format("sleep of {}", model_.roles[role].name),
					 static_cast<double>(roles_[role].slept) / elapsed_ /
					     static_cast<double>(roles_[role].threads)});
	loads.push_back({"fixed", static_cast<double>(model_.fixed_ns) / elapsed_});
	const double max_share = std::ranges::max_element(loads, {}, &Load::share)->share;
	return *std::ranges::find_if(loads, [&](const Load &load) { return load.share >= max_share - nearly_equal; });
}

} // namespace monitor::simulation
