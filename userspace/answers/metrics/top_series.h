// SPDX-License-Identifier: MIT
// Sums of many series, of which the N most important ones are shown, and the others summed up as `other`.
// Importance is recent use: a weight that halves in 10 minutes. A series that is not shown is counted in `other`; when
// it becomes shown it starts with this window at 0, as its time `created_s` says. One that is no longer shown is
// counted in `other` from then on, and its sum moves to retired(), because in `other` it would be a jump that looks
// like use. Invariants: no sum ever decreases; shown + other + retired is all that was ever added; memory does not grow
// with time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace monitor::metrics {

// `Key` is ordered, `Value` has +=.
template <class Key, class Value> class TopSeries {
public:
	// The change of a series in a window.
	struct Change {
		Value value;
		double weight = 0;
		bool may_be_shown = true; // false: part of `other`, unless it is shown already
	};
	struct Series {
		Value value{};
		double created_s = 0; // when it was first shown, from add()
		double weight = 0;
	};

	explicit TopSeries(std::size_t max) : max_(max) {}

	// Adds a window that began at `begin_s` and lasted `length_s`.
	void add(const std::map<Key, Change> &changes, double begin_s, double length_s)
	{
		fade(std::exp2(-length_s / half_life_s));
		std::map<Key, Value> not_shown;
		for (const auto &[key, change] : changes) {
			if (const auto found = shown_.find(key); found != shown_.end()) {
				found->second.value += change.value;
				found->second.weight += change.weight;
				continue;
			}
			not_shown.emplace(key, change.value);
			if (change.may_be_shown && change.weight > 0)
				waiting_[key] += change.weight;
		}
		show_best(begin_s, begin_s + length_s);
		for (const auto &[key, value] : not_shown) {
			const auto found = shown_.find(key);
			(found == shown_.end() ? other_ : found->second.value) += value;
		}
		limit_waiting();
	}

	const std::map<Key, Series> &shown() const { return shown_; }
	const Value &other() const { return other_; }
	// The sums of series that are no longer shown, and the number of these.
	const Value &retired() const { return retired_; }
	std::uint64_t retirements() const { return retirements_; }
	// The number of series that are not shown, but whose weight is kept.
	std::size_t waiting() const { return waiting_.size(); }

private:
	static constexpr double half_life_s = 600, min_shown_s = 600;
	static constexpr double heavier = 2, much_heavier = 10; // weights relative to a shown series, to replace it
	static constexpr double min_weight = 1e-9;
	static constexpr std::size_t max_waiting = 4096;

	void fade(double factor)
	{
		for (auto &[key, series] : shown_)
			series.weight *= factor;
		for (auto &[key, weight] : waiting_)
			weight *= factor;
	}

	bool may_replace(double weight, const Series &series, double now_s) const
	{
		const bool is_settled = now_s - series.created_s >= min_shown_s;
		return weight > series.weight * (is_settled ? heavier : much_heavier);
	}

	// In favour of one with this weight. False: that may not replace it.
	bool retire_weakest(double weight, double now_s)
	{
		const auto weakest =
		    std::ranges::min_element(shown_, {}, [](const auto &each) { return each.second.weight; });
		if (weakest == shown_.end() || !may_replace(weight, weakest->second, now_s))
			return false;
		retired_ += weakest->second.value;
		++retirements_;
		waiting_[weakest->first] = weakest->second.weight;
		shown_.erase(weakest);
		return true;
	}

	void show_best(double begin_s, double now_s)
	{
		std::vector<std::pair<double, Key>> best;
		for (const auto &[key, weight] : waiting_)
			best.emplace_back(-weight, key);
		const std::size_t count = std::min(best.size(), max_);
		std::ranges::partial_sort(best, best.begin() + static_cast<std::ptrdiff_t>(count));
		best.resize(count);
		for (const auto &[negative, key] : best) {
			if (shown_.size() >= max_ && !retire_weakest(-negative, now_s))
				return;
			shown_[key] = {{}, begin_s, -negative};
			waiting_.erase(key);
		}
	}

	void limit_waiting()
	{
		std::erase_if(waiting_, [](const auto &each) { return each.second < min_weight; });
		if (waiting_.size() <= max_waiting)
			return;
		std::vector<double> weights;
		for (const auto &[key, weight] : waiting_)
			weights.push_back(weight);
		std::ranges::nth_element(weights, weights.begin() + max_waiting / 2, std::ranges::greater());
		const double least = weights[max_waiting / 2];
		std::erase_if(waiting_, [least](const auto &each) { return each.second <= least; });
	}

	const std::size_t max_;
	std::map<Key, Series> shown_;   // at most max_
	std::map<Key, double> waiting_; // weights of those that are not shown
	Value other_{}, retired_{};
	std::uint64_t retirements_ = 0;
};

} // namespace monitor::metrics
