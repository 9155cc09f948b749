// SPDX-License-Identifier: MIT
#include "frequencies.h"

namespace monitor::statistics {

ClassNames::ClassNames(const trace::Description &description)
{
	std::unordered_map<std::string_view, std::uint32_t> seen;
	for (const auto &cls : description.classes())
		first_.push_back(seen.emplace(cls->name, cls->index).first->second);
}

Frequencies::Group *Frequencies::group_of_key(const trace::Event &event, const filter::Running &running)
{
	const std::uint32_t name = (*names_)[*event.cls];
	key_.assign(reinterpret_cast<const char *>(&name), sizeof name);
	by_->append(event, running, key_);
	auto found = keyed_.find(key_);
	if (found == keyed_.end()) {
		if (keyed_.size() == activities::Rows::max_rows) {
			++left_out_;
			return nullptr;
		}
		found = keyed_.emplace(key_, Keyed{by_->cells(event, running), name, {}}).first;
	}
	return &found->second.group;
}

void Frequencies::merge(Group &group, const Group &later) const
{
	if (later.count == 0)
		return;
	if (group.count > 0 && group.last_gaps == gaps_ && later.first_gaps == 0)
		group.between.add(static_cast<std::int64_t>(later.first - group.last));
	group.between.merge(later.between);
	if (group.count == 0) {
		group.first = later.first;
		group.first_gaps = gaps_ + later.first_gaps;
	}
	group.last = later.last;
	group.last_gaps = gaps_ + later.last_gaps;
	group.count += later.count;
}

void Frequencies::merge(const Frequencies &later)
{
	left_out_ += later.left_out_;
	for (std::size_t i = 0; i < plain_.size(); ++i)
		merge(plain_[i], later.plain_[i]);
	for (const auto &[key, keyed] : later.keyed_) {
		const auto found = keyed_.find(key);
		if (found != keyed_.end())
			merge(found->second.group, keyed.group);
		else if (keyed_.size() < activities::Rows::max_rows)
			merge(keyed_.emplace(key, Keyed{keyed.cells, keyed.cls, {}}).first->second.group, keyed.group);
		else
			left_out_ += keyed.group.count;
	}
	gaps_ += later.gaps_;
}

activities::Rows Frequencies::between(const trace::Description &description) const
{
	activities::Rows rows;
	for (const Keyed &keyed : groups()) {
		std::string key = std::to_string(keyed.cls);
		std::vector<activities::Cell> cells(1);
		cells.front().kind = activities::Cell::Kind::text;
		cells.front().text = description.classes()[keyed.cls]->name;
		cells.insert(cells.end(), keyed.cells.begin(), keyed.cells.end());
		for (const activities::Cell &cell : keyed.cells)
			cell.append(key);
		if (activities::DistributionRow *row = rows.find(key, [&] { return cells; }))
			row->values.merge(keyed.group.between);
	}
	return rows;
}

std::vector<Frequencies::Keyed> Frequencies::groups() const
{
	std::vector<Keyed> all;
	for (std::size_t i = 0; i < plain_.size(); ++i)
		if (plain_[i].count)
			all.push_back({{}, static_cast<std::uint32_t>(i), plain_[i]});
	for (const auto &[key, keyed] : keyed_)
		all.push_back(keyed);
	return all;
}

} // namespace monitor::statistics
