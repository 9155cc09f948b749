// SPDX-License-Identifier: MIT
#include "iterations.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace monitor::simulation {

using model::Role;

Iterations::Iterations(const Role &role, const model::RoleSamples *samples, std::uint32_t threads, std::uint64_t items)
    : samples_(samples && !samples->threads.empty() ? samples : nullptr), threads_(threads), items_(items),
      counts_(threads), sequences_(threads)
{
	if (role.mode == Role::Mode::pool) {
		for (std::size_t row = 0; row < rows(); ++row)
			row_of_item_.emplace(samples_->items[row], row);
		items_in_order_ = samples_ ? samples_->items : std::vector<std::uint64_t>();
		std::ranges::sort(items_in_order_);
		return;
	}
	const bool is_shared = role.mode == Role::Mode::split || role.in_order;
	const std::uint32_t recorded = recorded_threads();
	const bool is_as_recorded = recorded == threads && (role.loop == 0 || role.loop == rows());
	if (is_shared && !(samples_ && is_as_recorded))
		share(role);
	else
		repeat(role, recorded);
}

std::uint32_t Iterations::recorded_threads() const
{
	return samples_ ? *std::ranges::max_element(samples_->threads) + 1 : 0;
}

// All iterations among all threads, round robin.
void Iterations::share(const Role &role)
{
	const std::uint64_t all = role.loop ? role.loop : rows();
	for (std::uint32_t thread = 0; thread < threads_; ++thread)
		counts_[thread] = all / threads_ + (thread < all % threads_);
	lists_.resize(1);
	if (!samples_)
		return;
	std::vector<std::uint32_t> order(rows());
	std::iota(order.begin(), order.end(), 0U);
	if (role.in_order)
		std::ranges::stable_sort(order, {}, [&](std::uint32_t row) { return samples_->items[row]; });
	lists_.resize(std::min<std::size_t>(threads_, order.size()));
	for (std::size_t i = 0; i < order.size(); ++i)
		lists_[i % threads_].push_back(order[i]);
	for (std::size_t thread = 0; thread < threads_; ++thread)
		sequences_[thread].list = std::min(thread, lists_.size());
	if (lists_.size() < threads_) // fewer iterations than threads
		lists_.push_back(std::move(order));
}

// Each thread gets the iterations of a recorded one.
void Iterations::repeat(const Role &role, std::uint32_t recorded)
{
	lists_.resize(std::max(recorded, 1U));
	for (std::uint32_t row = 0; row < rows(); ++row)
		lists_[samples_->threads[row]].push_back(row);
	for (std::uint32_t thread = 0; thread < threads_; ++thread) {
		const std::size_t list = thread % lists_.size(), rows = lists_[list].size();
		constexpr double golden = 0.381966; // keeps threads with the same iterations far apart
		const std::uint32_t copy = thread / static_cast<std::uint32_t>(lists_.size());
		sequences_[thread] = {
		    list, static_cast<std::size_t>(std::fmod(copy * golden, 1) * static_cast<double>(rows))};
		counts_[thread] = role.mode == Role::Mode::split || role.loop == 0 ? rows : role.loop;
		if (samples_ && rows == 0)
			counts_[thread] = 0;
	}
}

Iteration Iterations::at(std::uint32_t thread, std::uint64_t number) const
{
	const RowSequence &sequence = sequences_[thread];
	const std::vector<std::uint32_t> &rows = lists_[sequence.list];
	if (rows.empty())
		return {thread + number * threads_, 0};
	const std::uint32_t row = rows[(sequence.from + number) % rows.size()];
	return {samples_->items[row] + number / rows.size() * items_, row};
}

Iteration Iterations::of_item(std::uint64_t item) const
{
	if (!samples_)
		return {item, 0};
	const auto found = row_of_item_.find(item % items_);
	return {item, found != row_of_item_.end() ? found->second : item % rows()};
}

std::uint64_t Iterations::item_in_order(std::uint64_t number) const
{
	if (!samples_)
		return number;
	return items_in_order_[number % rows()] + number / rows() * items_;
}

} // namespace monitor::simulation
