// SPDX-License-Identifier: MIT
#include "body.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace monitor::model {
namespace {

constexpr std::size_t max_branches = 32;
// CPU times outside of activities, and sleeps, are left out below this share of all times of the role.
constexpr double min_share = 0.005;

// The nodes of an iteration, at one depth of its tree, that are not in the body yet.
struct Part {
	std::size_t row; // of the iteration
	std::span<const Node> nodes;
};
using Parts = std::vector<Part>;

class BodyBuilder {
public:
	BodyBuilder(const std::vector<const Iteration *> &all, const Waits &waits, const RolePlan &role)
	    : all_(all), waits_(waits), role_(role)
	{
	}

	Body build()
	{
		if (role_.mode == Role::Mode::pool)
			body_.block.emplace_back().kind = Kind::take;
		Parts parts;
		std::vector<std::pair<std::size_t, const Gap *>> gaps;
		for (std::size_t row = 0; row < all_.size(); ++row) {
			parts.push_back({row, all_[row]->nodes});
			gaps.emplace_back(row, &all_[row]->first);
		}
		add_gap(gaps, "", body_.block);
		add_nodes(std::move(parts), "", body_.block);
		prune();
		return std::move(body_);
	}

private:
	using Gaps = std::vector<std::pair<std::size_t, const Gap *>>;

	std::vector<std::uint64_t> &new_column(Operation &operation)
	{
		operation.column = body_.columns.size();
		return body_.columns.emplace_back(all_.size(), 0);
	}

	void add_cpu(const Gaps &gaps, std::uint64_t Gap::*time, const std::string &activity, Kind kind, Block &block)
	{
		Operation operation;
		operation.kind = kind;
		operation.name = activity;
		std::uint64_t sum = 0;
		for (const auto &[row, gap] : gaps)
			sum += gap->*time;
		if (sum == 0)
			return;
		std::vector<std::uint64_t> &column = new_column(operation);
		for (const auto &[row, gap] : gaps)
			column[row] = gap->*time;
		block.push_back(std::move(operation));
	}

	// CPU time, wake-ups and waits, CPU time, delays.
	void add_gap(const Gaps &gaps, const std::string &activity, Block &block)
	{
		add_cpu(gaps, &Gap::before, activity, Kind::cpu, block);
		add_uses(gaps, block);
		add_cpu(gaps, &Gap::after, activity, Kind::cpu, block);
		add_cpu(gaps, &Gap::delay, "", Kind::sleep, block);
	}

	// In the order of their mean places in the iterations.
	void add_uses(const Gaps &gaps, Block &block)
	{
		struct Found {
			std::uint64_t places = 0; // the sum of its places in the gaps
			Gaps gaps;
		};
		std::map<std::pair<Gap::SemaphoreUse, unsigned>, Found> uses; // and its occurrence in the gap
		for (const auto &[row, gap] : gaps) {
			std::map<Gap::SemaphoreUse, unsigned> seen;
			for (std::size_t i = 0; i < gap->uses.size(); ++i) {
				Found &found = uses[{gap->uses[i], seen[gap->uses[i]]++}];
				found.places += i;
				found.gaps.emplace_back(row, gap);
			}
		}
		std::vector<std::pair<const Gap::SemaphoreUse *, const Found *>> order;
		for (const auto &[use, found] : uses)
			order.emplace_back(&use.first, &found);
		std::ranges::stable_sort(order, {}, [](const auto &entry) {
			return static_cast<double>(entry.second->places) /
			       static_cast<double>(entry.second->gaps.size());
		});
		for (const auto &[use, found] : order)
			add_use(*use, found->gaps, gaps.size(), block);
	}

	void add_use(const Gap::SemaphoreUse &use, const Gaps &with_use, std::size_t all, Block &block)
	{
		Operation operation;
		operation.kind = use.is_wait ? Kind::wait : Kind::wake;
		operation.name = waits_.semaphores[use.semaphore].name;
		operation.is_own = waits_.semaphores[use.semaphore].is_own;
		if (with_use.size() == all)
			return block.push_back(std::move(operation));
		Operation branch;
		branch.kind = Kind::branch;
		std::vector<std::uint64_t> &column = new_column(branch);
		for (const auto &[row, gap] : with_use)
			column[row] = 1;
		branch.blocks.emplace_back().push_back(std::move(operation));
		block.push_back(std::move(branch));
	}

	// Whether all parts have a first (at_end: last) node, and these are alike.
	static bool are_alike(const Parts &parts, bool at_end)
	{
		const auto node = [at_end](const Part &part) {
			return at_end ? &part.nodes.back() : &part.nodes.front();
		};
		return std::ranges::none_of(parts, [](const Part &part) { return part.nodes.empty(); }) &&
		       std::ranges::all_of(parts,
					   [&](const Part &part) { return node(part)->is_like(*node(parts.front())); });
	}

	// The common nodes at the beginning, a branch for what differs, the common nodes at the end.
	void add_nodes(Parts parts, const std::string &activity, Block &block)
	{
		if (parts.empty())
			return;
		while (are_alike(parts, false)) {
			add_node(parts, activity, block);
			for (Part &part : parts)
				part.nodes = part.nodes.subspan(1);
		}
		std::vector<Parts> ends = take_common_ends(parts);
		if (std::ranges::any_of(parts, [](const Part &part) { return !part.nodes.empty(); }))
			add_branch(parts, activity, block);
		for (; !ends.empty(); ends.pop_back())
			add_node(ends.back(), activity, block);
	}

	// The last one first.
	static std::vector<Parts> take_common_ends(Parts &parts)
	{
		std::vector<Parts> ends;
		while (are_alike(parts, true)) {
			Parts &end = ends.emplace_back();
			for (Part &part : parts) {
				end.push_back({part.row, part.nodes.last(1)});
				part.nodes = part.nodes.first(part.nodes.size() - 1);
			}
		}
		return ends;
	}

	static std::string form(const Part &part)
	{
		std::string text;
		for (const Node &node : part.nodes)
			text += fmt::format("{} {} {};", static_cast<unsigned>(node.kind), node.name, node.role);
		return text;
	}

	// The most frequent form that is not empty, else the other forms.
	void add_branch(const Parts &parts, const std::string &activity, Block &block)
	{
		if (++branches_ > max_branches)
			throw Refused(fmt::format(
			    "The iterations of {} have more than {} forms: mark what repeats by an activity of "
			    "its own.",
			    role_.name, max_branches));
		std::map<std::string, std::size_t> forms;
		for (const Part &part : parts)
			if (!part.nodes.empty())
				++forms[form(part)];
		const std::string usual =
		    std::ranges::max_element(forms, {}, [](const auto &entry) { return entry.second; })->first;
		Operation branch;
		branch.kind = Kind::branch;
		std::vector<std::uint64_t> &column = new_column(branch);
		Parts taken, others;
		for (const Part &part : parts) {
			const bool is_taken = form(part) == usual;
			column[part.row] = is_taken;
			(is_taken ? taken : others).push_back(part);
		}
		branch.blocks.resize(forms.size() > 1 ? 2 : 1);
		add_nodes(std::move(taken), activity, branch.blocks[0]);
		if (forms.size() > 1)
			add_nodes(std::move(others), activity, branch.blocks[1]);
		block.push_back(std::move(branch));
	}

	// The first node of these parts, which are alike, and the gap after it.
	void add_node(const Parts &parts, const std::string &activity, Block &block)
	{
		const Node &node = parts.front().nodes.front();
		Gaps first, after;
		Parts inside;
		for (const Part &part : parts) {
			first.emplace_back(part.row, &part.nodes.front().first);
			after.emplace_back(part.row, &part.nodes.front().after);
			inside.push_back({part.row, part.nodes.front().inside});
		}
		const bool is_activity = node.kind == Kind::cpu;
		Block within;
		add_gap(first, is_activity ? node.name : activity, within);
		add_nodes(std::move(inside), is_activity ? node.name : activity, within);
		if (is_activity)
			std::ranges::move(within, std::back_inserter(block));
		else
			block.push_back(operation_of(node, std::move(within)));
		add_gap(after, activity, block);
	}

	static Operation operation_of(const Node &node, Block within)
	{
		Operation operation;
		operation.name = node.name;
		operation.role = node.role == nothing ? Operation::no_index : node.role;
		operation.kind = node.kind;
		if (node.kind == Kind::lock || (node.kind == Kind::call && !within.empty()))
			operation.blocks.push_back(std::move(within));
		return operation;
	}

	std::uint64_t sum(const Operation &operation) const
	{
		std::uint64_t all = 0;
		for (const std::uint64_t value : body_.columns[operation.column])
			all += value;
		return all;
	}

	static bool is_time(const Operation &operation)
	{
		return operation.has_samples() && (operation.kind == Kind::cpu || operation.kind == Kind::sleep);
	}

	// Leaves small times out. CPU times are added to those of another operation in the block, if there is one.
	void prune()
	{
		std::uint64_t all = 0;
		for_each_operation(body_.block,
				   [&](const Operation &operation) { all += is_time(operation) ? sum(operation) : 0; });
		min_sum_ = static_cast<std::uint64_t>(min_share * static_cast<double>(all));
		prune(body_.block);
	}

	void prune(Block &block)
	{
		for (std::size_t i = 0; i < block.size();) {
			for (Block &inner : block[i].blocks)
				prune(inner);
			std::erase_if(block[i].blocks,
				      [&](const Block &inner) { return inner.empty() && block[i].kind == Kind::call; });
			const bool is_small = is_time(block[i]) && block[i].name.empty() && sum(block[i]) < min_sum_;
			const bool is_empty =
			    block[i].kind == Kind::branch && std::ranges::all_of(block[i].blocks, &Block::empty);
			if (is_small && block[i].kind == Kind::cpu)
				move_time(block, i);
			if (is_small || is_empty)
				block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
			else
				++i;
		}
	}

	void move_time(const Block &block, std::size_t from)
	{
		const auto is_cpu = [](const Operation &operation) { return operation.kind == Kind::cpu; };
		const auto begin = block.begin(), at = begin + static_cast<std::ptrdiff_t>(from);
		auto to = std::find_if(at + 1, block.end(), is_cpu);
		if (to == block.end())
			to = std::find_if(begin, at, is_cpu);
		if (to == block.end() || to == at)
			return;
		for (std::size_t row = 0; row < all_.size(); ++row)
			body_.columns[to->column][row] += body_.columns[at->column][row];
	}

	const std::vector<const Iteration *> &all_;
	const Waits &waits_;
	const RolePlan &role_;
	Body body_;
	std::size_t branches_ = 0;
	std::uint64_t min_sum_ = 0;
};

} // namespace

Body make_body(const std::vector<const Iteration *> &all, const Waits &waits, const RolePlan &role)
{
	return BodyBuilder(all, waits, role).build();
}

} // namespace monitor::model
