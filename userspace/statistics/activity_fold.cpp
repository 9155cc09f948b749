// SPDX-License-Identifier: MIT
#include "activity_fold.h"

#include <utility>

namespace monitor::statistics {

void ActivityFold::event(const trace::Event &event, const filter::Running &running)
{
	// one event may end an activity and start the next
	if (activity_->end->can_match(*event.cls) && activity_->end->matches(event, running))
		end(event, running);
	if (activity_->start->can_match(*event.cls) && activity_->start->matches(event, running))
		start(event, running);
}

ActivityFold::OfKey *ActivityFold::find(const std::string &key)
{
	const auto found = keys_.find(key);
	if (found != keys_.end())
		return &found->second;
	if (keys_.size() >= max_open && !make_room()) {
		++unpaired_.too_many;
		return nullptr;
	}
	return &keys_[key];
}

// Drops the keys that nothing waits for, unless the last attempt freed too little.
bool ActivityFold::make_room()
{
	if (waits_ > 0) {
		--waits_;
		return false;
	}
	for (auto entry = keys_.begin(); entry != keys_.end();) {
		const bool is_idle = entry->second.open.empty() && entry->second.leading.empty();
		forgot_ = forgot_ || is_idle;
		entry = is_idle ? keys_.erase(entry) : std::next(entry);
	}
	constexpr std::size_t much = max_open / 8;
	waits_ = keys_.size() > max_open - much ? much : 0;
	return keys_.size() < max_open;
}

void ActivityFold::start(const trace::Event &event, const filter::Running &running)
{
	key_.clear();
	if (!activity_->start_key.append(event, running, key_)) {
		++unpaired_.keyless;
		return;
	}
	OfKey *const of_key = find(key_);
	if (!of_key)
		return;
	Open opened{event.time, {}, activity_->start_by.cells(event, running)};
	activity_->start_by.append(event, running, opened.row);
	open(*of_key, std::move(opened));
}

void ActivityFold::open(OfKey &of_key, Open opened)
{
	of_key.began = of_key.began || !had_gap_;
	if (!activity_->nested && !of_key.open.empty()) {
		++unpaired_.restarted;
		of_key.open.clear();
	}
	if (of_key.open.size() == max_nesting) {
		++unpaired_.too_many;
		of_key.open.erase(of_key.open.begin());
	}
	of_key.open.push_back(std::move(opened));
}

void ActivityFold::end(const trace::Event &event, const filter::Running &running)
{
	key_.clear();
	if (!activity_->end_key.append(event, running, key_)) {
		++unpaired_.keyless;
		return;
	}
	const auto found = keys_.find(key_);
	if (found == keys_.end() && had_gap_) {
		++unpaired_.ends;
		return;
	}
	OfKey *const of_key = found != keys_.end() ? &found->second : find(key_);
	if (!of_key)
		return;
	Leading ended{event.time, {}, activity_->end_by.cells(event, running)};
	activity_->end_by.append(event, running, ended.row);
	if (close(*of_key, ended))
		return;
	// its start may be in an earlier partition
	const std::size_t most = activity_->nested ? max_nesting : 1;
	if (had_gap_ || (of_key->began && !activity_->nested) || of_key->leading.size() == most)
		++unpaired_.ends;
	else
		of_key->leading.push_back(std::move(ended));
}

bool ActivityFold::close(OfKey &of_key, const Leading &end)
{
	if (of_key.open.empty())
		return false;
	complete(of_key.open.back(), end);
	of_key.open.pop_back();
	return true;
}

void ActivityFold::complete(const Open &opened, const Leading &end)
{
	Row *const row = rows_.find(opened.row + end.row, [&] {
		std::vector<Cell> cells = opened.cells;
		cells.insert(cells.end(), end.cells.begin(), end.cells.end());
		return cells;
	});
	if (row)
		row->values.add(static_cast<std::int64_t>(end.time - opened.time));
}

void ActivityFold::gap()
{
	had_gap_ = true;
	for (auto entry = keys_.begin(); entry != keys_.end();) {
		unpaired_.cut += entry->second.open.size();
		entry->second.open.clear();
		entry = entry->second.leading.empty() && !entry->second.began ? keys_.erase(entry) : std::next(entry);
	}
}

void ActivityFold::merge(const ActivityFold &later)
{
	rows_.merge(later.rows_);
	unpaired_.ends += later.unpaired_.ends;
	unpaired_.restarted += later.unpaired_.restarted;
	unpaired_.cut += later.unpaired_.cut;
	unpaired_.too_many += later.unpaired_.too_many;
	unpaired_.keyless += later.unpaired_.keyless;
	for (auto &[key, mine] : keys_) { // of the first partition: nothing precedes it
		unpaired_.ends += mine.leading.size();
		mine.leading.clear();
	}
	for (const auto &[key, theirs] : later.keys_) {
		const auto mine = keys_.find(key);
		take_leading(theirs, mine == keys_.end() ? nullptr : &mine->second);
	}
	for (auto &[key, mine] : keys_)
		if (later.forgot_ && !later.keys_.contains(key)) { // it may have continued there
			unpaired_.too_many += mine.open.size();
			mine.open.clear();
		}
	if (later.had_gap_)
		gap();
	had_gap_ = false; // ends in the next partition may belong to what is open now
	for (auto entry = keys_.begin(); entry != keys_.end();)
		entry = entry->second.open.empty() ? keys_.erase(entry) : std::next(entry);
	for (const auto &[key, theirs] : later.keys_)
		for (const Open &opened : theirs.open)
			if (OfKey *mine = find(key))
				open(*mine, opened);
}

void ActivityFold::take_leading(const OfKey &theirs, OfKey *mine)
{
	for (const Leading &end : theirs.leading)
		unpaired_.ends += !mine || !close(*mine, end);
	if (theirs.began && mine && !activity_->nested && !mine->open.empty()) {
		++unpaired_.restarted;
		mine->open.clear();
	}
}

ActivityFold::Unpaired ActivityFold::unpaired() const
{
	Unpaired all = unpaired_;
	for (const auto &[key, of_key] : keys_) {
		all.open += of_key.open.size();
		all.ends += of_key.leading.size();
	}
	return all;
}

} // namespace monitor::statistics
