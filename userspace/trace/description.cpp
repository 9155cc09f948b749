// SPDX-License-Identifier: MIT
#include "description.h"

#include <algorithm>
#include <limits>

namespace monitor::trace {
namespace {

using Wide = unsigned __int128;
using SignedWide = __int128;

constexpr std::uint64_t second_ns = 1'000'000'000;
// Values below this are looked up by index: system calls and states are all small.
constexpr std::uint64_t dense_limit = 4096;

template <class Narrow, class W> Narrow saturate(W value)
{
	const W low = std::numeric_limits<Narrow>::min(), high = std::numeric_limits<Narrow>::max();
	return static_cast<Narrow>(std::clamp(value, low, high));
}

} // namespace

std::uint64_t Clock::to_ns(std::uint64_t ticks) const
{
	return saturate<std::uint64_t>(Wide(ticks) * second_ns / frequency_hz);
}

std::uint64_t Clock::to_ticks(std::uint64_t duration_ns) const
{
	return saturate<std::uint64_t>((Wide(duration_ns) * frequency_hz + second_ns - 1) / second_ns);
}

std::int64_t Clock::wall_ns(std::uint64_t time) const
{
	const auto ns = static_cast<SignedWide>((Wide(time) + offset) * second_ns / frequency_hz);
	return saturate<std::int64_t>(SignedWide(offset_s) * SignedWide(second_ns) + ns);
}

std::uint64_t Clock::from_wall_ns(std::int64_t wall_ns) const
{
	const SignedWide ns = SignedWide(wall_ns) - SignedWide(offset_s) * SignedWide(second_ns);
	if (ns <= 0)
		return 0;
	const SignedWide limit = SignedWide(std::numeric_limits<std::int64_t>::max());
	const Wide ticks = (Wide(std::min(ns, limit)) * frequency_hz + second_ns - 1) / second_ns;
	return ticks <= offset ? 0 : saturate<std::uint64_t>(ticks - offset);
}

Enumeration::Enumeration(std::vector<Label> labels, bool is_signed)
    : labels_(std::move(labels)), sign_(is_signed ? std::uint64_t(1) << 63 : 0)
{
	std::sort(labels_.begin(), labels_.end(),
		  [this](const Label &a, const Label &b) { return key(a.first) < key(b.first); });
	for (std::size_t i = 0; i < labels_.size(); ++i) {
		if (key(labels_[i].last) < key(labels_[i].first) ||
		    (i > 0 && key(labels_[i].first) <= key(labels_[i - 1].last)))
			ok_ = false;
	}
	if (!ok_ || labels_.size() >= dense_limit)
		return;
	for (std::size_t i = 0; i < labels_.size(); ++i) {
		const Label &label = labels_[i];
		if (label.first >= dense_limit || label.last >= dense_limit)
			continue;
		dense_.resize(std::max<std::size_t>(dense_.size(), label.last + 1));
		for (std::uint64_t value = label.first; value <= label.last; ++value)
			dense_[value] = static_cast<std::uint16_t>(i + 1);
	}
}

const std::string *Enumeration::find(std::uint64_t value) const
{
	if (value < dense_.size() && dense_[value])
		return &labels_[dense_[value] - 1].text;
	auto after = std::upper_bound(labels_.begin(), labels_.end(), key(value),
				      [this](std::uint64_t k, const Label &label) { return k < key(label.first); });
	if (after == labels_.begin() || key(value) > key(std::prev(after)->last))
		return nullptr;
	return &std::prev(after)->text;
}

const Field *EventClass::find(std::string_view field_name) const
{
	for (const Field &field : fields)
		if (field.name == field_name)
			return &field;
	return nullptr;
}

std::vector<const EventClass *> Description::find(std::string_view name) const
{
	std::vector<const EventClass *> found;
	for (const auto &cls : classes_)
		if (cls->name == name)
			found.push_back(cls.get());
	return found;
}

bool Description::add(EventClass added)
{
	if (added.id == 0 || added.id >= max_classes || by_id_[added.id] || added.size_bytes == 0 ||
	    added.size_bytes > 8 * (1 + EDC_MAX_WORDS))
		return false;
	classes_.push_back(std::make_unique<const EventClass>(std::move(added)));
	id_limit_ = std::max<std::size_t>(id_limit_, classes_.back()->id + 1);
	by_id_[classes_.back()->id] = classes_.back().get();
	size_by_id_[classes_.back()->id] = static_cast<std::uint8_t>(classes_.back()->size_bytes);
	return true;
}

} // namespace monitor::trace
