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

bool Judge::is(Role role, const trace::Event &event, const filter::Running &running)
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

void Judge::collect(const trace::Event &event, const filter::Running &running)
{
	if (!is(among, event, running))
		return;
	for (const Name &name : rule_.added)
		if (const Value value = name.value(event, running); value.is_number()) {
			if (set_.size() < max_keys_)
				set_.emplace(event.stream->machine, value.number());
			else
				++tally_.too_many;
		}
}

bool Judge::belongs(const trace::Event &event, const filter::Running &running) const
{
	return std::all_of(rule_.members.begin(), rule_.members.end(), [&](const Name &name) {
		const Value value = name.value(event, running);
		return value.kind == Value::Kind::none ||
		       std::find(rule_.always.begin(), rule_.always.end(), value.number()) != rule_.always.end() ||
		       set_.contains({event.stream->machine, value.number()});
	});
}

void Judge::event(const trace::Event &event, const filter::Running &running)
{
	collect(event, running);
	begun_ = begun_ || !rule_.pattern[begin] || is(begin, event, running);
	if (begun_)
		judge(event, running);
	drop(event, running);
}

void Judge::drop(const trace::Event &event, const filter::Running &running)
{
	if (!is(leaves, event, running))
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
		return single(event, running);
	// One event may end what is open and start the next; in a sequence it also follows the previous one.
	for (const Role role : {forget, second, third, first}) {
		if (!is(role, event, running))
			continue;
		if (event.time < lossy_until_) {
			tally_.unknown += role != forget;
			continue;
		}
		if (!find_key(role, event, running))
			continue;
		if (role == forget || !belongs(event, running))
			on_forget();
		else
			role == first    ? on_first(event, running)
			: role == second ? on_second(event, running)
					 : on_third(event);
	}
}

void Judge::found(const trace::Event &event, const filter::Running &running)
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

void Judge::single(const trace::Event &event, const filter::Running &running)
{
	if (rule_.form == Form::never)
		++tally_.judged;
	if (!is(first, event, running) || !belongs(event, running))
		return;
	if (rule_.form == Form::never)
		return violate("this event must not occur", {Position::of(event)});
	++tally_.judged;
	if (!is(second, event, running))
		violate("the condition does not hold", {Position::of(event)});
}

void Judge::on_first(const trace::Event &event, const filter::Running &running)
{
	OfKey *const of_key = find_or_make();
	if (!of_key)
		return;
	switch (rule_.form) {
	case Form::pairs:
		return start(*of_key, event, running);
	case Form::sequence:
		return next(*of_key, event, running);
	case Form::absence:
		++tally_.judged;
		[[fallthrough]];
	default:
		of_key->open.assign(1, opened(event, running));
	}
}

void Judge::on_second(const trace::Event &event, const filter::Running &running)
{
	if (rule_.form == Form::pairs)
		return end(event, running);
	if (rule_.form == Form::after)
		return only_after(event, running);
	must_not(event);
}

void Judge::on_third(const trace::Event &event)
{
	// Knowing that nothing is open is only worth a key if an end checks it.
	const bool asks = rule_.only_then || rule_.form == Form::after;
	OfKey *const of_key = asks ? find_or_make() : find();
	if (!of_key)
		return;
	if (rule_.form == Form::pairs)
		for (const Open &open : of_key->open) {
			++tally_.judged;
			violate("this came between a start and its end", {open.at, Position::of(event)});
		}
	of_key->open.clear();
	of_key->known = true;
}

void Judge::on_forget()
{
	const OfKey *const found = find();
	if (!found)
		return;
	if (rule_.form == Form::pairs)
		tally_.cut += found->open.size();
	keys_.erase(key_);
}

void Judge::next(OfKey &of_key, const trace::Event &event, const filter::Running &running)
{
	if (!of_key.open.empty())
		compare(of_key.open.front(), event, running);
	of_key.open.assign(1, opened(event, running));
}

void Judge::start(OfKey &of_key, const trace::Event &event, const filter::Running &running)
{
	if (!rule_.keeps_each) {
		of_key.known = true;
		if (of_key.open.empty())
			of_key.open.push_back(opened(event, running));
		return;
	}
	if (of_key.open.size() == rule_.at_most) {
		if (rule_.has_at_most) {
			++tally_.judged;
			violate(fmt::format("more than {} are open", rule_.at_most),
				{of_key.open.front().at, Position::of(event)});
		} else {
			++tally_.too_many;
		}
		of_key.open.erase(of_key.open.begin());
	}
	of_key.open.push_back(opened(event, running));
}

void Judge::end(const trace::Event &event, const filter::Running &running)
{
	OfKey *of_key = find();
	if (of_key && !of_key->open.empty()) {
		compare(of_key->open.back(), event, running);
		of_key->open.pop_back();
		return;
	}
	if (!rule_.only_then)
		return;
	if (is_known(of_key)) {
		++tally_.judged;
		return violate("an end without a start", {Position::of(event)});
	}
	++tally_.unknown;
	if (!rule_.keeps_each) // nothing is open from now on
		if ((of_key = find_or_make()))
			of_key->known = true;
}

void Judge::only_after(const trace::Event &event, const filter::Running &running)
{
	const OfKey *const of_key = find();
	if (of_key && !of_key->open.empty())
		return compare(of_key->open.front(), event, running);
	if (!is_known(of_key)) {
		++tally_.unknown;
		return;
	}
	++tally_.judged;
	violate("this came without what must come before it", {Position::of(event)});
}

void Judge::must_not(const trace::Event &event)
{
	OfKey *const of_key = find();
	if (!of_key || of_key->open.empty() ||
	    (rule_.within_ns != Rule::any_time && is_late(of_key->open.front().at.time, event.time)))
		return;
	violate("this must not come after that", {of_key->open.front().at, Position::of(event)});
	of_key->open.clear();
}

void Judge::compare(const Open &earlier, const trace::Event &event, const filter::Running &running)
{
	++tally_.judged;
	if (is_late(earlier.at.time, event.time))
		return violate(late(earlier.at.time, event.time), {earlier.at, Position::of(event)});
	for (std::size_t i = 0; i < rule_.relations.size(); ++i) {
		const Relation &relation = rule_.relations[i];
		const auto holds = relation.holds(event, running, earlier.values[i]);
		if (holds.value_or(true))
			continue;
		return violate(relation.broken(event, running, earlier.values[i]), {earlier.at, Position::of(event)});
	}
}

Judge::Open Judge::opened(const trace::Event &event, const filter::Running &running) const
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
		keys_.visit([&open](const std::string &, const OfKey &of_key) {
			for (const Open &each : of_key.open)
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
		violate(late     ? this->late(position.time, time)
			: is_end ? "nothing ended this before the end of the trace"
				 : "nothing ended this before a loss",
			{position});
	}
}

bool Judge::is_late(std::uint64_t from, std::uint64_t to) const
{
	return rule_.within_ns != Rule::any_time && to > from && to - from > within_;
}

std::string Judge::late(std::uint64_t from, std::uint64_t to) const
{
	return fmt::format("{} ns passed, more than {} ns", clock_.to_ns(to - from), rule_.within_ns);
}

void Judge::violate(std::string what, std::vector<Position> events)
{
	++tally_.violated;
	if (violations_.size() < keep_)
		violations_.push_back({std::move(what), std::move(events)});
}

} // namespace monitor::rules
