// SPDX-License-Identifier: MIT
#include "enumeration.h"

#include <algorithm>

namespace monitor::trace {
namespace {

// Values below this are looked up by index: system calls and states are all small.
constexpr std::uint64_t dense_limit = 4096;
// Limit of all joined names of overlapping ranges.
constexpr std::size_t max_joined_bytes = 1u << 20;

} // namespace

Enumeration::Enumeration(std::vector<Label> labels, bool is_signed)
    : labels_(std::move(labels)), sign_(is_signed ? std::uint64_t(1) << 63 : 0)
{
	for (const Label &label : labels_)
		if (key(label.last) < key(label.first))
			ok_ = false;
	if (!ok_)
		return;
	sort_ranges();
	if (overlaps_)
		split_overlapping();
	index_small();
}

void Enumeration::sort_ranges()
{
	ranges_ = labels_;
	std::ranges::stable_sort(ranges_, {}, [this](const Label &label) { return key(label.first); });
	for (std::size_t i = 1; i < ranges_.size(); ++i)
		overlaps_ = overlaps_ || key(ranges_[i].first) <= key(ranges_[i - 1].last);
}

// Splits the ranges at all their ends, and joins the names of each piece.
void Enumeration::split_overlapping()
{
	std::vector<std::uint64_t> cuts; // where pieces begin
	for (const Label &label : labels_) {
		cuts.push_back(key(label.first));
		if (key(label.last) + 1 != 0)
			cuts.push_back(key(label.last) + 1);
	}
	std::ranges::sort(cuts);
	cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
	ranges_.clear();
	std::size_t used = 0;
	for (std::size_t i = 0; i < cuts.size() && ok_; ++i) {
		const std::uint64_t last = i + 1 < cuts.size() ? cuts[i + 1] - 1 : ~std::uint64_t(0);
		Label piece = {key(cuts[i]), key(last), ""};
		for (const Label &label : labels_)
			if (key(label.first) <= cuts[i] && last <= key(label.last))
				piece.text += (piece.text.empty() ? "" : "|") + label.text;
		used += piece.text.size() + labels_.size(); // bounds the time, too
		ok_ = used <= max_joined_bytes;
		if (!piece.text.empty())
			ranges_.push_back(std::move(piece));
	}
}

void Enumeration::index_small()
{
	if (ranges_.size() >= dense_limit)
		return;
	for (std::size_t i = 0; i < ranges_.size(); ++i) {
		const Label &range = ranges_[i];
		if (range.first >= dense_limit || range.last >= dense_limit)
			continue;
		dense_.resize(std::max<std::size_t>(dense_.size(), range.last + 1));
		for (std::uint64_t value = range.first; value <= range.last; ++value)
			dense_[value] = static_cast<std::uint16_t>(i + 1);
	}
}

const std::string *Enumeration::find(std::uint64_t value) const
{
	if (value < dense_.size() && dense_[value])
		return &ranges_[dense_[value] - 1].text;
	auto after = std::upper_bound(ranges_.begin(), ranges_.end(), key(value),
				      [this](std::uint64_t k, const Label &range) { return k < key(range.first); });
	if (after == ranges_.begin() || key(value) > key(std::prev(after)->last))
		return nullptr;
	return &std::prev(after)->text;
}

} // namespace monitor::trace
