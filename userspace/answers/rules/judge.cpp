// SPDX-License-Identifier: MIT
#include "judge.h"

#include <algorithm>

#include <fmt/format.h>

namespace monitor::rules {

Position Position::of(const trace::Event &event)
{
	const std::uint64_t at_bits =
	    event.is_token() ? static_cast<std::uint64_t>(event.data - event.packet) * 8 : event.at_bits;
	return {event.time, event.packet, at_bits};
}

bool Judge::has_role(Role role, const trace::Event &event, const filter::Running &running)
{
	const filter::Filter *pattern = rule_.pattern[role].get();
	if (!pattern || !pattern->can_match(*event.cls))
		return false;
	const std::uint64_t before = pattern->undecided();
	const bool matches = pattern->matches(event, running);
	tally_.undecided += pattern->undecided() - before;
	return matches;
}

bool Judge::find_key(Role role, const trace::Event &event, const filter::Running &running)
{
	key_.clear();
	if (rule_.key[role].empty() || rule_.key[role].append(event, running, key_))
		return true;
	++tally_.unknown;
	return false;
}

void Judge::add_members(const trace::Event &event, const filter::Running &running)
{
	if (!has_role(among, event, running))
		return;
	for (const Name &name : rule_.added)
		if (const Value value = name.value(event, running); value.is_number()) {
			if (set_.size() < max_keys_)
				set_.emplace(event.stream->machine, value.number());
			else
				++tally_.too_many;
		}
}

bool Judge::is_in_set(const trace::Event &event, const filter::Running &running) const
{
	return std::all_of(rule_.members.begin(), rule_.members.end(), [&](const Name &name) {
		const Value value = name.value(event, running);
		return value.kind == Value::Kind::none ||
		       std::find(rule_.always_in_set.begin(), rule_.always_in_set.end(), value.number()) !=
			   rule_.always_in_set.end() ||
		       set_.contains({event.stream->machine, value.number()});
	});
}

void Judge::event(const trace::Event &event, const filter::Running &running)
{
	add_members(event, running);
	has_begun_ = has_begun_ || !rule_.pattern[begin] || has_role(begin, event, running);
	if (has_begun_)
		judge(event, running);
	remove_members(event, running);
}

void Judge::remove_members(const trace::Event &event, const filter::Running &running)
{
	if (!has_role(leaves, event, running))
		return;
	for (const Name &name : rule_.removed) {
		const Value value = name.value(event, running);
		if (!value.is_number() || !set_.erase({event.stream->machine, value.number()}) || !rule_.key_is_member)
			continue;
		key_.clear();
		rule_.key[first].append(static_cast<std::uint64_t>(value.number()), event.stream->machine, key_);
		on_forget();
	}
}

void Judge::judge(const trace::Event &event, const filter::Running &running)
{
	if (rule_.form == Form::never || rule_.form == Form::holds)
		return judge_single(event, running);
	// One event may end what is open and start the next; in a sequence it also follows the previous one.
	for (const Role role : {forget, second, third, first}) {
		if (!has_role(role, event, running))
			continue;
		if (event.time < lossy_until_) {
			tally_.unknown += role != forget;
			continue;
		}
		if (!find_key(role, event, running))
			continue;
		if (role == forget || !is_in_set(event, running))
			on_forget();
		else
			role == first    ? on_first_event(event, running)
			: role == second ? on_second_event(event, running)
					 : on_third_event(event);
	}
}

void Judge::on_unseen_switch(const trace::Event &event, const filter::Running &running)
{
	for (const Role role : {first, second, third, forget}) {
		const std::vector<std::string> &names = rule_.key[role].names();
		if (std::none_of(names.begin(), names.end(), [](const std::string &name) {
			    return name == "tid" || name == "thread" || name == "process";
		    }))
			continue;
		if (names.size() > 1)
			return close_all(event.time, false);
		if (find_key(role, event, running))
			on_forget();
		return;
	}
}

void Judge::judge_single(const trace::Event &event, const filter::Running &running)
{
	if (rule_.form == Form::never)
		++tally_.judged;
	if (!has_role(first, event, running) || !is_in_set(event, running))
		return;
	if (rule_.form == Form::never)
		return violate("this event must not occur", {Position::of(event)});
	++tally_.judged;
	if (!has_role(second, event, running))
		violate("the condition does not hold", {Position::of(event)});
}

void Judge::on_first_event(const trace::Event &event, const filter::Running &running)
{
	KeyState *const state = find_or_make();
	if (!state)
		return;
	switch (rule_.form) {
	case Form::pairs:
		return start(*state, event, running);
	case Form::sequence:
		return next(*state, event, running);
	case Form::absence:
		++tally_.judged;
		[[fallthrough]];
	default:
		state->open.assign(1, make_open(event, running));
	}
}

void Judge::on_second_event(const trace::Event &event, const filter::Running &running)
{
	if (rule_.form == Form::pairs)
		return end(event, running);
	if (rule_.form == Form::after)
		return check_after(event, running);
	check_absence(event);
}

void Judge::on_third_event(const trace::Event &event)
{
	// Knowing that nothing is open is only worth a key if an end checks it.
	const bool needs_key = rule_.only_then || rule_.form == Form::after;
	KeyState *const state = needs_key ? find_or_make() : find();
	if (!state)
		return;
	if (rule_.form == Form::pairs)
		for (const Open &open : state->open) {
			++tally_.judged;
			violate("this came between a start and its end", {open.at, Position::of(event)});
		}
	state->open.clear();
	state->known = true;
}

void Judge::on_forget()
{
	const KeyState *const found = find();
	if (!found)
		return;
	if (rule_.form == Form::pairs)
		tally_.cut += found->open.size();
	keys_.erase(key_);
}

void Judge::next(KeyState &state, const trace::Event &event, const filter::Running &running)
{
	if (!state.open.empty())
		compare(state.open.front(), event, running);
	state.open.assign(1, make_open(event, running));
}

void Judge::start(KeyState &state, const trace::Event &event, const filter::Running &running)
{
	if (!rule_.keeps_each) {
		state.known = true;
		if (state.open.empty())
			state.open.push_back(make_open(event, running));
		return;
	}
	if (state.open.size() == rule_.at_most) {
		if (rule_.has_at_most) {
			++tally_.judged;
			violate(fmt::format("more than {} are open", rule_.at_most),
				{state.open.front().at, Position::of(event)});
		} else {
			++tally_.too_many;
		}
		state.open.erase(state.open.begin());
	}
	state.open.push_back(make_open(event, running));
}

void Judge::end(const trace::Event &event, const filter::Running &running)
{
	KeyState *state = find();
	if (state && !state->open.empty()) {
		compare(state->open.back(), event, running);
		state->open.pop_back();
		return;
	}
	if (!rule_.only_then)
		return;
	if (is_known(state)) {
		++tally_.judged;
		return violate("an end without a start", {Position::of(event)});
	}
	++tally_.unknown;
	if (!rule_.keeps_each) // nothing is open from now on
		if ((state = find_or_make()))
			state->known = true;
}

void Judge::check_after(const trace::Event &event, const filter::Running &running)
{
	const KeyState *const state = find();
	if (state && !state->open.empty())
		return compare(state->open.front(), event, running);
	if (!is_known(state)) {
		++tally_.unknown;
		return;
	}
	++tally_.judged;
	violate("this came without what must come before it", {Position::of(event)});
}

void Judge::check_absence(const trace::Event &event)
{
	KeyState *const state = find();
	if (!state || state->open.empty() ||
	    (rule_.within_ns != Rule::any_time && is_late(state->open.front().at.time, event.time)))
		return;
	violate("this must not come after that", {state->open.front().at, Position::of(event)});
	state->open.clear();
}

void Judge::compare(const Open &earlier, const trace::Event &event, const filter::Running &running)
{
	++tally_.judged;
	if (is_late(earlier.at.time, event.time))
		return violate(late_text(earlier.at.time, event.time), {earlier.at, Position::of(event)});
	for (std::size_t i = 0; i < rule_.relations.size(); ++i) {
		const Relation &relation = rule_.relations[i];
		const auto holds = relation.holds(event, running, earlier.values[i]);
		if (holds.value_or(true))
			continue;
		return violate(relation.violation_text(event, running, earlier.values[i]),
			       {earlier.at, Position::of(event)});
	}
}

Judge::Open Judge::make_open(const trace::Event &event, const filter::Running &running) const
{
	Open open{Position::of(event), {}};
	for (const Relation &relation : rule_.relations)
		open.values.push_back(relation.earlier(event, running));
	return open;
}

void Judge::gap(std::uint64_t time, std::uint64_t until)
{
	close_all(time, false);
	had_gap_ = true;
	lossy_until_ = std::max(lossy_until_, until);
}

void Judge::close_all(std::uint64_t time, bool is_end)
{
	std::vector<Position> open;
	if (rule_.form == Form::pairs ||
	    (rule_.form == Form::sequence && !(is_end ? rule_.open_at_end : rule_.open_at_loss)))
		keys_.visit([&open](const std::string &, const KeyState &state) {
			for (const Open &each : state.open)
				open.push_back(each.at);
		});
	keys_.clear();
	std::sort(open.begin(), open.end());
	const bool is_allowed = is_end ? rule_.open_at_end : rule_.open_at_loss;
	for (const Position &position : open) {
		const bool late = is_late(position.time, time);
		if (!late && (is_allowed || rule_.form == Form::sequence)) {
			++(is_end ? tally_.open : tally_.cut);
			continue;
		}
		++tally_.judged;
		violate(late     ? late_text(position.time, time)
			: is_end ? "nothing ended this before the end of the trace"
				 : "nothing ended this before a loss",
			{position});
	}
}

bool Judge::is_late(std::uint64_t from, std::uint64_t to) const
{
	return rule_.within_ns != Rule::any_time && to > from && to - from > within_;
}

std::string Judge::late_text(std::uint64_t from, std::uint64_t to) const
{
	return fmt::format("{} ns passed, more than {} ns", clock_.to_ns(to - from), rule_.within_ns);
}

void Judge::violate(std::string what, std::vector<Position> events)
{
	++tally_.violated;
	if (violations_.size() < max_kept_)
		violations_.push_back({std::move(what), std::move(events)});
}

} // namespace monitor::rules
