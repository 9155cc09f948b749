// SPDX-License-Identifier: MIT
#include "series_parallel.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "reading/model/model_text.h"

namespace monitor::simulation {
namespace {

using model::Kind;
using model::Operation;
using Operations = std::span<const Operation>;

// An iteration, divided at its barriers.
struct Steps {
	std::vector<Operations> parts; // one more than barriers
	std::vector<std::string> barriers;

	explicit Steps(const model::Block &body)
	{
		std::size_t first = 0;
		for (std::size_t i = 0; i < body.size(); ++i)
			if (body[i].kind == Kind::barrier) {
				parts.push_back(Operations(body).subspan(first, i - first));
				barriers.push_back(body[i].name);
				first = i + 1;
			}
		parts.push_back(Operations(body).subspan(first));
	}
};

// How many threads execute them at most at one time.
std::uint64_t width(Operations operations)
{
	std::uint64_t most = 1;
	for (const Operation &operation : operations) {
		std::uint64_t all = 0;
		for (const model::Block &block : operation.blocks)
			all = operation.kind == Kind::fork ? all + width(block) : std::max(all, width(block));
		most = std::max(most, all);
	}
	return most;
}

class Graph {
public:
	Graph(const model::Model &model, const Change &change) : model_(model), change_(change) {}

	GridDistribution elapsed()
	{
		require_cpus();
		std::optional<GridDistribution> all = with_barriers();
		for (std::size_t role = 0; role < model_.roles.size(); ++role)
			if (Steps(model_.roles[role].body).barriers.empty()) {
				const GridDistribution one = without_barriers(role);
				all = all ? all->beside(one) : one;
			}
		return all->then(GridDistribution::point(static_cast<double>(model_.fixed_ns)));
	}

private:
	std::uint32_t threads(const model::Role &role) const { return threads_of(role, change_); }

	void require_cpus() const
	{
		std::uint64_t needed = 0;
		for (const model::Role &role : model_.roles)
			needed += threads(role) * width(role.body);
		const std::uint64_t cpus = change_.cpus ? change_.cpus : model_.cpus;
		if (needed > cpus)
			throw Error(
			    "--numeric takes a CPU for each thread for granted, and {} threads are side by side on "
			    "{}: leave it out, or predict for --cpus {}.",
			    needed, cpus == 1 ? "1 CPU" : fmt::format("{} CPUs", cpus), needed);
	}

	[[noreturn]] void refuse(const Operation &operation) const
	{
		throw Error(
		    "--numeric is for series-parallel graphs and steps between barriers: `{}` is neither; leave it "
		    "out.",
		    model::keyword_of(operation.kind));
	}

	// Of each thread, or of all that share them. Samples: of the first recording.
	std::uint64_t iterations(std::size_t role) const
	{
		const model::Role &definition = model_.roles[role];
		if (definition.loop > 0 || model_.sets.empty())
			return definition.loop;
		const std::uint64_t rows = model_.sets[0].roles[role].threads.size();
		return is_shared(definition) ? rows : rows / std::max(definition.threads, 1U);
	}

	// Whether the role's threads share its iterations, as in Iterations.
	static bool is_shared(const model::Role &role)
	{
		return role.mode == model::Role::Mode::split || role.in_order;
	}

	// How many iterations each thread of a role with barriers has.
	std::uint64_t meetings(std::size_t role) const
	{
		const model::Role &definition = model_.roles[role];
		const std::uint64_t all = iterations(role), number = is_shared(definition) ? threads(definition) : 1;
		if (all % number > 0)
			throw Error(
			    "--numeric: the threads of {} do not meet at their barriers equally often; leave it "
			    "out.",
			    model::name_text(definition.name));
		return all / number;
	}

	GridDistribution without_barriers(std::size_t role)
	{
		const model::Role &definition = model_.roles[role];
		if (definition.mode == model::Role::Mode::pool)
			throw Error("--numeric is for series-parallel graphs: {} is a pool; leave it out.",
				    model::name_text(definition.name));
		const GridDistribution once = of_block(role, definition.body);
		const std::uint64_t number = threads(definition), all = iterations(role);
		if (!is_shared(definition))
			return once.repeated(all).side_by_side(number);
		const GridDistribution fewer = once.repeated(all / number);
		if (all % number == 0)
			return fewer.side_by_side(number);
		return fewer.then(once).side_by_side(all % number).beside(fewer.side_by_side(number - all % number));
	}

	std::vector<std::size_t> roles_with_barriers() const
	{
		std::vector<std::size_t> roles;
		for (std::size_t role = 0; role < model_.roles.size(); ++role)
			if (!Steps(model_.roles[role].body).barriers.empty())
				roles.push_back(role);
		return roles;
	}

	void require_same_barriers(const std::vector<std::size_t> &roles) const
	{
		const model::Role &first = model_.roles[roles[0]];
		for (const std::size_t index : roles) {
			const model::Role &role = model_.roles[index];
			if (Steps(role.body).barriers != Steps(first.body).barriers ||
			    meetings(index) != meetings(roles[0]))
				throw Error("--numeric: {} and {} do not meet at the same barriers equally often; "
					    "leave it out.",
					    model::name_text(first.name), model::name_text(role.name));
		}
	}

	// Of all roles with barriers together; empty if there are none.
	std::optional<GridDistribution> with_barriers()
	{
		const std::vector<std::size_t> roles = roles_with_barriers();
		if (roles.empty())
			return {};
		require_same_barriers(roles);
		const std::uint64_t all = meetings(roles[0]);
		const std::size_t last = Steps(model_.roles[roles[0]].body).barriers.size();
		GridDistribution once =
		    step(roles, {last, 0}); // from the last barrier to the first one of the next iteration
		for (std::size_t i = 1; i < last; ++i)
			once = once.then(step(roles, {i}));
		GridDistribution ends = step(roles, {0});
		for (std::size_t i = 1; i <= last; ++i)
			ends = ends.then(step(roles, {i}));
		return all > 0 ? ends.then(once.repeated(all - 1)) : GridDistribution::point(0);
	}

	// Until all threads of these roles have done these parts of an iteration, one after the other.
	GridDistribution step(const std::vector<std::size_t> &roles, const std::vector<std::size_t> &parts)
	{
		std::optional<GridDistribution> all;
		for (const std::size_t role : roles) {
			const Steps steps(model_.roles[role].body);
			GridDistribution one = GridDistribution::point(0);
			for (const std::size_t part : parts)
				one = one.then(of_block(role, steps.parts[part]));
			one = one.side_by_side(threads(model_.roles[role]));
			all = all ? all->beside(one) : one;
		}
		return *all;
	}

	GridDistribution of_block(std::size_t role, Operations block)
	{
		GridDistribution all = GridDistribution::point(0);
		for (const Operation &operation : block)
			all = all.then(of_operation(role, operation));
		return all;
	}

	GridDistribution of_operation(std::size_t role, const Operation &operation)
	{
		switch (operation.kind) {
		case Kind::cpu:
			return of_time(role, operation).scaled(time_factor(model_, change_, operation.name));
		case Kind::sleep:
			return of_time(role, operation);
		case Kind::branch:
			return of_branch(role, operation);
		case Kind::fork:
			return of_fork(role, operation);
		default:
			refuse(operation);
		}
	}

	GridDistribution of_branch(std::size_t role, const Operation &branch)
	{
		const GridDistribution taken = of_block(role, branch.blocks[0]);
		const bool has_else = branch.blocks.size() > 1;
		return taken.or_else(probability(role, branch),
				     has_else ? of_block(role, branch.blocks[1]) : GridDistribution::point(0));
	}

	GridDistribution of_fork(std::size_t role, const Operation &fork)
	{
		GridDistribution all = of_block(role, fork.blocks[0]);
		for (std::size_t i = 1; i < fork.blocks.size(); ++i)
			all = all.beside(of_block(role, fork.blocks[i]));
		return all;
	}

	double probability(std::size_t role, const Operation &branch) const
	{
		if (branch.probability)
			return *branch.probability;
		const std::vector<double> taken = sample(role, branch.column);
		return static_cast<double>(std::ranges::count_if(taken, [](double each) { return each != 0; })) /
		       static_cast<double>(std::max<std::size_t>(taken.size(), 1));
	}

	GridDistribution of_time(std::size_t role, const Operation &operation) const
	{
		if (operation.ns)
			return GridDistribution::point(static_cast<double>(*operation.ns));
		if (operation.distribution == Operation::no_index)
			return of_sample(sample(role, operation.column));
		const model::Distribution &distribution = model_.distributions[operation.distribution];
		const std::vector<double> ns(distribution.ns.begin(), distribution.ns.end());
		switch (distribution.shape) {
		case model::Distribution::Shape::uniform:
			return GridDistribution::uniform(ns[0], ns[1]);
		case model::Distribution::Shape::exponential:
			return GridDistribution::exponential(ns[0]);
		case model::Distribution::Shape::values:
			break;
		}
		return GridDistribution::values(ns);
	}

	static GridDistribution of_sample(const std::vector<double> &values)
	{
		return values.empty() ? GridDistribution::point(0) : GridDistribution::values(values);
	}

	// The values of all recordings.
	std::vector<double> sample(std::size_t role, std::size_t column) const
	{
		std::vector<double> values;
		for (const model::SampleSet &set : model_.sets)
			values.insert(values.end(), set.roles[role].columns[column].begin(),
				      set.roles[role].columns[column].end());
		return values;
	}

	const model::Model &model_;
	const Change &change_;
};

} // namespace

GridDistribution elapsed_distribution(const model::Model &model, const Change &change)
{
	return Graph(model, change).elapsed();
}

} // namespace monitor::simulation
