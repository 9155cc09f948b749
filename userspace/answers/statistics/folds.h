// SPDX-License-Identifier: MIT
// The folds that `monitor stat` runs over a trace, besides Frequencies: counts alone, several activities at once, and
// the values of a field.
//
// Each runs per partition; results are merged in the order of the partitions (survey.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frequencies.h"
#include "reading/activities/pairs.h"

namespace monitor::statistics {

class Counts {
public:
	explicit Counts(const ClassNames &names) : names_(&names), counts_(names.size()) {}
	void event(const trace::Event &event, const filter::Running &) { ++counts_[event.cls->index]; }
	void gap(std::uint64_t) {}
	void merge(const Counts &later)
	{
		for (std::size_t i = 0; i < counts_.size(); ++i)
			counts_[i] += later.counts_[i];
	}
	// By the index of the first class of each name.
	std::vector<std::uint64_t> by_name() const
	{
		std::vector<std::uint64_t> sums(counts_.size());
		for (std::uint32_t i = 0; i < counts_.size(); ++i)
			sums[names_->first_of(i)] += counts_[i];
		return sums;
	}

private:
	const ClassNames *names_;
	std::vector<std::uint64_t> counts_;
};

class Activities {
public:
	static constexpr bool takes_all_events = true;

	Activities(const std::vector<activities::Definition> &definitions, activities::SelectedEnds selected)
	{
		for (const activities::Definition &definition : definitions)
			pairs_.emplace_back(definition, selected);
	}
	void event(const trace::Event &event, const filter::Running &running)
	{
		for (activities::Pairs &pairs : pairs_)
			pairs.event(event, running);
	}
	void gap(std::uint64_t until)
	{
		for (activities::Pairs &pairs : pairs_)
			pairs.gap(until);
	}
	void merge(const Activities &later)
	{
		for (std::size_t i = 0; i < pairs_.size(); ++i)
			pairs_[i].merge(later.pairs_[i]);
	}
	void forget_finished()
	{
		for (activities::Pairs &pairs : pairs_)
			pairs.forget_finished();
	}
	std::vector<activities::Pairs> &all() { return pairs_; }

private:
	std::vector<activities::Pairs> pairs_;
};

// The values of a key, which must be one name.
class Values {
public:
	Values(const activities::Keys &value, const activities::Keys &by) : value_(&value), by_(&by) {}
	void event(const trace::Event &event, const filter::Running &running)
	{
		std::int64_t value;
		if (!value_->number(event, running, value))
			return;
		key_.clear();
		by_->append(event, running, key_);
		if (activities::DistributionRow *row = rows_.find(key_, [&] { return by_->cells(event, running); }))
			row->values.add(value);
	}
	void gap(std::uint64_t) {}
	void merge(const Values &later) { rows_.merge(later.rows_); }
	activities::Rows &rows() { return rows_; }

private:
	const activities::Keys *value_, *by_;
	activities::Rows rows_;
	std::string key_;
};

} // namespace monitor::statistics
