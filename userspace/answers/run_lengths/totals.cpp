// SPDX-License-Identifier: MIT
#include "totals.h"

#include <algorithm>

namespace monitor::run_lengths {

using states::Node;

activities::Distribution &Totals::durations_of(std::uint32_t subject, std::size_t row)
{
	const std::size_t group = per_subject_ ? subject : 0;
	groups_.resize(std::max(groups_.size(), group + 1));
	groups_[group].resize(unknown() + 1);
	return groups_[group][row];
}

void Totals::run(const states::Run &run)
{
	subjects_.resize(std::max<std::size_t>(subjects_.size(), run.subject + std::size_t{1}));
	enter(run);
	subjects_[run.subject].until = run.to;
	const std::size_t row = tree_.is_of_tree(run.state)  ? tree_.leaf(run.state)
				: run.state == tree_.pause() ? pause()
							     : unknown();
	durations_of(run.subject, row).add(static_cast<std::int64_t>(run.ticks()));
}

// Leaves nodes that do not contain the state, and enters its ancestors.
void Totals::enter(const states::Run &run)
{
	std::vector<std::uint32_t> path;
	if (tree_.is_of_tree(run.state))
		for (std::uint32_t node = tree_.nodes()[tree_.leaf(run.state)].parent; node != Node::none;
		     node = tree_.nodes()[node].parent)
			path.push_back(node);
	std::reverse(path.begin(), path.end());
	std::vector<Open> &open = subjects_[run.subject].open;
	std::size_t common = 0;
	while (common < std::min(path.size(), open.size()) && path[common] == open[common].node)
		++common;
	leave(run.subject, common, run.from);
	for (std::size_t i = common; i < path.size(); ++i)
		open.push_back({path[i], run.from});
}

void Totals::leave(std::uint32_t subject, std::size_t depth, std::uint64_t time)
{
	std::vector<Open> &open = subjects_[subject].open;
	for (; open.size() > depth; open.pop_back())
		durations_of(subject, open.back().node).add(static_cast<std::int64_t>(time - open.back().since));
}

void Totals::finish()
{
	for (std::uint32_t subject = 0; subject < subjects_.size(); ++subject)
		leave(subject, 0, subjects_[subject].until);
}

} // namespace monitor::run_lengths
