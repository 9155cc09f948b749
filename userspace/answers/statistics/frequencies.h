// SPDX-License-Identifier: MIT
// The number of events of each class, and the time between them: the first question about any trace.
// Run per partition, merged in the order of the partitions. Events may also be grouped by keys (`--by cpu`); then the
// time between two events of the same class and key is measured, unless there was a loss in between. In ticks of the
// trace's clock. Without keys, each event only accesses an array by class.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "reading/activities/keys.h"
#include "reading/activities/rows.h"
#include "reading/events/event.h"

namespace monitor::statistics {

// Classes of one name, such as the short and the long form of a token, are counted together.
class ClassNames {
public:
	explicit ClassNames(const trace::Description &description);
	// The index of the first class with the same name.
	std::uint32_t operator[](const trace::EventClass &cls) const { return first_[cls.index]; }
	std::uint32_t first_of(std::uint32_t index) const { return first_[index]; }
	std::size_t size() const { return first_.size(); }

private:
	std::vector<std::uint32_t> first_; // by class index
};

class Frequencies {
public:
	static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

	struct Group {
		std::uint64_t count = 0, first = never, last = 0;
		activities::Distribution between;
		// Values of gaps_ at the first and the last event.
		std::uint64_t first_gaps = 0, last_gaps = 0;
	};

	// Both must outlive this.
	Frequencies(const ClassNames &names, const activities::Keys &by)
	    : names_(&names), by_(&by), plain_(by.empty() ? names.size() : 0)
	{
	}

	void event(const trace::Event &event, const filter::Running &running)
	{
		if (Group *group = by_->empty() ? &plain_[(*names_)[*event.cls]] : group_of_key(event, running))
			add(*group, event.time);
		gaps_ += event.time < lossy_until_;
	}
	// A loss until that time: the next event of any class may be one of the lost ones.
	void gap(std::uint64_t until = 0)
	{
		++gaps_;
		lossy_until_ = std::max(lossy_until_, until);
	}
	// `later`: the partition that follows in time. The first event of a group there follows the last one here.
	void merge(const Frequencies &later);

	struct Keyed {
		std::vector<activities::Cell> cells;
		std::uint32_t cls = 0;
		Group group;
	};
	// All groups that occurred.
	std::vector<Keyed> groups() const;
	// The times between two events; the first cell is the event's name.
	activities::Rows between(const trace::Description &description) const;
	// Events left out because of the limit of groups.
	std::uint64_t left_out() const { return left_out_; }

private:
	void add(Group &group, std::uint64_t time) const
	{
		if (group.count++ == 0) {
			group.first = time;
			group.first_gaps = gaps_;
		} else if (group.last_gaps == gaps_) {
			group.between.add(static_cast<std::int64_t>(time - group.last));
		}
		group.last = time;
		group.last_gaps = gaps_;
	}
	void merge(Group &group, const Group &later) const;
	Group *group_of_key(const trace::Event &event, const filter::Running &running);

	const ClassNames *names_;
	const activities::Keys *by_;
	std::vector<Group> plain_; // by class index, without keys
	std::unordered_map<std::string, Keyed> keyed_;
	std::string key_;
	std::uint64_t left_out_ = 0;
	std::uint64_t gaps_ = 0; // number of gaps so far, and of events in them
	std::uint64_t lossy_until_ = 0;
};

} // namespace monitor::statistics
