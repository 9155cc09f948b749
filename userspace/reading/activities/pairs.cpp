// SPDX-License-Identifier: MIT
#include "pairs.h"

#include <algorithm>
#include <utility>

namespace monitor::activities {
namespace {

std::uint64_t selected_of(const auto &boundaries)
{
	return static_cast<std::uint64_t>(
	    std::ranges::count_if(boundaries, [](const auto &boundary) { return boundary.is_selected; }));
}

} // namespace

void Pairs::event(const trace::Event &event, const filter::Running &running)
{
	// One event may end an activity and start the next.
	if (definition_->end->can_match(*event.cls) && definition_->end->matches(event, running))
		end(event, running);
	if (definition_->start->can_match(*event.cls) && definition_->start->matches(event, running))
		start(event, running);
}

bool Pairs::set_key(const Keys &keys, const trace::Event &event, const filter::Running &running, bool is_selected)
{
	key_.clear();
	const bool has_key = keys.append(event, running, key_);
	unpaired_.keyless += !has_key && is_selected;
	return has_key;
}

void Pairs::start(const trace::Event &event, const filter::Running &running)
{
	const bool is_selected = selected_.include(event, running, definition_->start_key);
	if (!set_key(definition_->start_key, event, running, is_selected))
		return;
	if (event.time < lossy_until_) {
		unpaired_.cut += is_selected;
		return;
	}
	OfKey *const state = keys_.find_or_make(key_, unpaired_.too_many);
	if (!state)
		return;
	Boundary start{event.time, definition_->start_by.cells(event, running), {}, is_selected};
	definition_->start_by.append(event, running, start.row);
	open(*state, std::move(start));
}

void Pairs::open(OfKey &state, Boundary start)
{
	state.began = state.began || !had_gap_;
	if (!definition_->nested && !state.open.empty()) {
		unpaired_.restarted += selected_of(state.open);
		state.open.clear();
	}
	if (state.open.size() == max_nesting) {
		unpaired_.too_many += state.open.front().is_selected;
		state.open.erase(state.open.begin());
	}
	state.open.push_back(std::move(start));
}

void Pairs::end(const trace::Event &event, const filter::Running &running)
{
	const bool is_selected = selected_.include(event, running, definition_->end_key);
	if (!set_key(definition_->end_key, event, running, is_selected))
		return;
	OfKey *state = keys_.find(key_);
	if (!state && had_gap_) {
		unpaired_.ends += is_selected;
		return;
	}
	if (!state)
		state = keys_.find_or_make(key_, unpaired_.too_many);
	if (!state)
		return;
	Boundary ended{event.time, definition_->end_by.cells(event, running), {}, is_selected};
	definition_->end_by.append(event, running, ended.row);
	if (close(*state, ended))
		return;
	// its start may be in an earlier partition
	const std::size_t max_leading = definition_->nested ? max_nesting : 1;
	if (had_gap_ || (state->began && !definition_->nested) || state->leading.size() == max_leading)
		unpaired_.ends += is_selected;
	else
		state->leading.push_back(std::move(ended));
}

bool Pairs::close(OfKey &state, const Boundary &end)
{
	if (state.open.empty())
		return false;
	const Boundary start = std::move(state.open.back());
	state.open.pop_back();
	const bool is_late = definition_->within && end.time - start.time > *definition_->within;
	unpaired_.late += is_late && end.is_selected;
	if (!end.is_selected || is_late)
		return true;
	DistributionRow *const row = rows_.find(start.row + end.row, [&] {
		std::vector<Cell> cells = start.cells;
		cells.insert(cells.end(), end.cells.begin(), end.cells.end());
		return cells;
	});
	if (row)
		row->values.add(static_cast<std::int64_t>(end.time - start.time));
	return true;
}

void Pairs::gap(std::uint64_t until)
{
	had_gap_ = true;
	lossy_until_ = std::max(lossy_until_, until);
	keys_.erase_if([this](const std::string &, OfKey &state) {
		unpaired_.cut += selected_of(state.open);
		state.open.clear();
		return state.leading.empty() && !state.began;
	});
}

void Pairs::merge(const Pairs &later)
{
	rows_.merge(later.rows_);
	unpaired_.ends += later.unpaired_.ends;
	unpaired_.late += later.unpaired_.late;
	unpaired_.restarted += later.unpaired_.restarted;
	unpaired_.cut += later.unpaired_.cut;
	unpaired_.too_many += later.unpaired_.too_many;
	unpaired_.keyless += later.unpaired_.keyless;
	keys_.erase_if([this](const std::string &, OfKey &mine) { // of the first partition: nothing precedes it
		unpaired_.ends += selected_of(mine.leading);
		mine.leading.clear();
		return false;
	});
	later.keys_.visit([&](const std::string &key, const OfKey &theirs) { match_leading(theirs, keys_.find(key)); });
	if (later.keys_.has_dropped())
		keys_.erase_if([&](const std::string &key, OfKey &mine) { // it may have continued there
			unpaired_.too_many += later.keys_.contains(key) ? 0 : selected_of(mine.open);
			return !later.keys_.contains(key);
		});
	if (later.had_gap_)
		gap();
	had_gap_ = false; // ends in the next partition may belong to what is open now
	keys_.erase_if([](const std::string &, const OfKey &mine) { return mine.open.empty(); });
	later.keys_.visit([&](const std::string &key, const OfKey &theirs) {
		for (const Boundary &start : theirs.open)
			if (OfKey *mine = keys_.find_or_make(key, unpaired_.too_many))
				open(*mine, start);
	});
}

void Pairs::forget_finished()
{
	rows_ = {};
	unpaired_ = {};
	keys_.erase_if([](const std::string &, OfKey &state) {
		state.leading.clear();
		return false;
	});
}

void Pairs::match_leading(const OfKey &theirs, OfKey *mine)
{
	for (const Boundary &end : theirs.leading)
		unpaired_.ends += (!mine || !close(*mine, end)) && end.is_selected;
	if (theirs.began && mine && !definition_->nested && !mine->open.empty()) {
		unpaired_.restarted += selected_of(mine->open);
		mine->open.clear();
	}
}

Pairs::Unpaired Pairs::unpaired() const
{
	Unpaired all = unpaired_;
	keys_.visit([&](const std::string &, const OfKey &state) {
		all.open += selected_of(state.open);
		all.ends += selected_of(state.leading);
	});
	return all;
}

} // namespace monitor::activities
