// SPDX-License-Identifier: MIT
#include "totals.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/ranges.h"
#include "base/text.h"

namespace monitor::activities {
namespace {

using analyze::Thread;

constexpr const char *label_names[] = {"process", "thread",   "command",  "call",
				       "waker",   "activity", "argument", "caller"};
constexpr auto end_of_state_labels = label_names + 5;

// A number that cannot be the address of a thread.
std::uint64_t odd(std::uint64_t number)
{
	return number << 1 | 1;
}

const Thread *thread_at(std::uint64_t part)
{
	return part & 1 ? nullptr : reinterpret_cast<const Thread *>(part);
}

} // namespace

const char *name_of(Label label)
{
	return label_names[static_cast<std::size_t>(label)];
}

Grouping grouping_of(const DefinitionText &text)
{
	Grouping grouping;
	if (text.state == "system_call")
		grouping.source = ActivitySource::system_call;
	else if (text.state == "blocked")
		grouping.source = ActivitySource::blocked;
	else
		throw Error(text.where + ": a state is system_call or blocked");
	for (const std::string &name : split_names(text.by, (text.where + ", by").c_str())) {
		const auto known = std::find(label_names, end_of_state_labels, name);
		if (known == end_of_state_labels)
			throw Error("{}, by: a state has {}, not {}", text.where,
				    fmt::join(label_names, end_of_state_labels, ", "), readable(name));
		grouping.by.push_back(static_cast<Label>(known - label_names));
	}
	if (grouping.by.size() > Grouping::max_labels)
		throw Error(text.where + ", by: at most 4 names");
	return grouping;
}

std::size_t Totals::KeyHash::operator()(const LabelKey &key) const
{
	std::uint64_t hash = 0;
	for (const std::uint64_t part : key)
		hash = (hash ^ part) * 0x9e3779b97f4a7c15ull ^ hash >> 29;
	return (hash ^ hash >> 32) * 0xbf58476d1ce4e5b9ull;
}

std::uint64_t Totals::part_of(Label label, const Finished &activity) const
{
	const Thread &thread = activity.thread;
	switch (label) {
	case Label::command:
		return reinterpret_cast<std::uintptr_t>(&fold_.leader(thread));
	case Label::process: // without kernel events the leader is unknown unless it posts events itself
		if (const Thread &leader = fold_.leader(thread);
		    activity.source != ActivitySource::program || thread.tgid <= 0 || leader.tid == leader.tgid)
			return reinterpret_cast<std::uintptr_t>(&leader);
		return odd(static_cast<std::uint32_t>(thread.tgid));
	case Label::thread:
		return reinterpret_cast<std::uintptr_t>(&thread);
	case Label::call:
	case Label::activity:
		return activity.number;
	case Label::waker: // a thread, an interrupt by kind and number, or 0 if unknown
		if (activity.waker.interrupt >= 0)
			return odd(static_cast<std::uint64_t>(activity.waker.interrupt) << 16 | activity.waker.number);
		return reinterpret_cast<std::uintptr_t>(activity.waker.thread);
	case Label::caller:
		return activity.caller;
	case Label::argument:
		break;
	}
	return activity.argument ? activity.argument->number : 0;
}

Totals::Group *Totals::group_of(const Finished &activity)
{
	LabelKey key{};
	for (std::size_t i = 0; i < grouping_.by.size(); ++i)
		key[i] = part_of(grouping_.by[i], activity);
	if (activity.source == ActivitySource::blocked)
		key.back() = reinterpret_cast<std::uintptr_t>(&activity.thread);
	else if (activity.source == ActivitySource::system_call)
		key.back() = reinterpret_cast<std::uintptr_t>(&fold_.leader(activity.thread));
	auto found = groups_.find(key);
	if (found == groups_.end()) {
		if (activity.source == ActivitySource::program && groups_.size() >= max_rows)
			return nullptr;
		found = groups_.try_emplace(key).first;
		if (activity.argument)
			found->second.argument = activity.argument->text();
	}
	found->second.in_tree |= activity.thread.in_tree;
	return &found->second;
}

void Totals::finished(const Finished &activity)
{
	if (activity.source != grouping_.source)
		return;
	Group *const group = group_of(activity);
	if (!group) {
		++left_out_;
		return;
	}
	const std::uint64_t ticks = activity.end - activity.begin;
	++group->count;
	group->left += activity.was_left;
	group->errors += analyze::has_failed(activity.result);
	if (activity.was_refused)
		return;
	group->sum += ticks;
	++group->timed;
	group->exclusive += activity.exclusive;
	group->uncertain += !activity.is_certain;
	if (activity.is_certain) {
		group->max = std::max(group->max, ticks);
		group->histogram.add(ticks);
	}
	if (activity.source == ActivitySource::program)
		group->total += activity.inclusive;
	else
		group->total.ticks += ticks;
	if (activity.is_nested)
		return;
	if (activity.counted)
		group->counted += *activity.counted;
	if (activity.counted_at_boundaries) {
		const std::vector<std::uint64_t> &counted = *activity.counted_at_boundaries;
		group->counted_at_boundaries.resize(counted.size());
		group->cpu_at_boundaries += std::max<std::uint64_t>(activity.span.cpu, 1);
		for (std::size_t i = 0; i < counted.size(); ++i)
			group->counted_at_boundaries[i] += counted[i];
	}
}

void Totals::summed(const Finished &activity, const analyze::Summed &summed)
{
	if (activity.source != grouping_.source)
		return;
	Group *const group = group_of(activity);
	if (!group) {
		left_out_ += summed.count;
		return;
	}
	group->count += summed.count;
	group->errors += summed.failed;
	group->left += summed.left;
	group->sum += summed.total;
	group->exclusive += summed.exclusive;
	group->transfer += summed.transfer_total;
	group->transfers += summed.transfers;
	group->total += activity.source == ActivitySource::program
			    ? Span{summed.inclusive, summed.cpu, summed.waiting, summed.blocked}
			    : Span{summed.total, 0, 0, 0};
	group->max = std::max(group->max, summed.longest);
	std::uint64_t lengths = 0;
	for (const auto &[length, count] : summed.lengths) {
		group->histogram.add(length, count);
		lengths += count;
	}
	const bool is_program = activity.source == ActivitySource::program;
	group->timed += is_program ? summed.count : lengths;
	if (is_program) // the recorder knew the length of every other call and sleep
		group->uncertain += summed.count - std::min(lengths, summed.count);
}

// A thread's own counters count only while it has a CPU. Activities without them count as time in which nothing was
// counted.
void Totals::use_boundaries(const Group &group, TotalsRow &row) const
{
	if (group.counted_at_boundaries.empty())
		return;
	const std::uint64_t cpu = std::max(group.total.cpu, group.cpu_at_boundaries);
	row.at_boundaries = true;
	std::ranges::copy(group.counted_at_boundaries,
			  row.counted.counts.begin() + static_cast<std::ptrdiff_t>(counters_->info().sets[0].first));
	row.counted.ticks[0] = row.counted.enabled_ns[0] = cpu;
	row.counted.missed_ns[0] = cpu - group.cpu_at_boundaries;
}

TotalsRow::Part Totals::shown(Label label, std::uint64_t part, const Group &group) const
{
	switch (label) {
	case Label::process:
	case Label::thread:
		if (const Thread *thread = thread_at(part)) {
			if (thread->sum != analyze::Sum::none)
				return {thread->label(), {}, thread->name};
			return {thread->label(), static_cast<std::uint32_t>(thread->tid), thread->name};
		}
		return {"?", part >> 1};
	case Label::command:
		return {thread_at(part)->name.empty() ? "?" : thread_at(part)->name};
	case Label::call:
		return {part == EDC_NO_SYSCALL ? "-" : fold_.kinds().syscall_label(static_cast<std::uint32_t>(part))};
	case Label::waker:
		if (part == 0)
			return {"-"};
		if (const Thread *thread = thread_at(part))
			return {thread->sum == analyze::Sum::none ? fmt::format("{}-{}", thread->label(), thread->tid)
								  : thread->label()};
		return {fold_.kinds().interrupt_label(static_cast<std::uint32_t>(part >> 17),
						      static_cast<std::uint32_t>(part >> 1) & 0xffff)};
	case Label::activity:
	case Label::caller:
		return {tracker_.label(static_cast<std::uint32_t>(part))};
	case Label::argument:
		break;
	}
	return {group.argument, part};
}

Totals::Group &Totals::Group::operator+=(const Group &other)
{
	in_tree |= other.in_tree;
	count += other.count;
	errors += other.errors;
	uncertain += other.uncertain;
	total += other.total;
	max = std::max(max, other.max);
	transfer += other.transfer;
	transfers += other.transfers;
	sum += other.sum;
	timed += other.timed;
	histogram.merge(other.histogram);
	return *this;
}

const Thread *Totals::owner(const LabelKey &key) const
{
	if (grouping_.source != ActivitySource::program)
		return thread_at(key.back());
	for (std::size_t i = 0; i < grouping_.by.size(); ++i)
		if (grouping_.by[i] == Label::process || grouping_.by[i] == Label::thread)
			return thread_at(key[i]);
	return nullptr;
}

std::vector<TotalsRow::Part> Totals::parts_of(const LabelKey &key, const Group &group) const
{
	std::vector<TotalsRow::Part> parts;
	for (std::size_t i = 0; i < grouping_.by.size(); ++i)
		parts.push_back(shown(grouping_.by[i], key[i], group));
	return parts;
}

TotalsRow Totals::row_of(std::vector<TotalsRow::Part> parts, const Group &group) const
{
	TotalsRow row{group, std::move(parts)};
	row.is_timed = group.timed != 0;
	row.has_lengths = group.histogram.total() != 0;
	row.mean = row.is_timed ? group.sum / group.timed : 0;
	row.p50 = std::min(group.histogram.percentile(0.5), group.max);
	row.p99 = std::min(group.histogram.percentile(0.99), group.max);
	if (counters_) {
		row.counted = counters_->none();
		row.counted += group.counted;
		use_boundaries(group, row);
	}
	row.counted.occurrences = group.count;
	return row;
}

std::uint64_t Totals::uncertain() const
{
	return sum_of_all<std::uint64_t>(groups_, [](const auto &each) { return each.second.uncertain; });
}

std::vector<TotalsRow> Totals::rows(Whose whose) const
{
	const bool are_selected = fold_.scope().threads.has_value(); // then even pure sleep is an answer
	const std::unordered_set<const Thread *> ran = fold_.scheduled_threads();
	const bool is_of_programs = grouping_.source == ActivitySource::program;
	const auto slept_all_along = [&](const Thread *of) {
		return of && !are_selected && !is_of_programs && of->sum == analyze::Sum::none && !ran.contains(of);
	};
	const auto shown = [](const TotalsRow::Part &part) { return std::tie(part.text, part.number); };
	const auto is_before = [&](const std::vector<TotalsRow::Part> &a, const std::vector<TotalsRow::Part> &b) {
		return std::ranges::lexicographical_compare(a, b, std::less<>(), shown, shown);
	};
	const Label owner_label = grouping_.source == ActivitySource::blocked ? Label::thread : Label::process;
	const bool has_one_owner = is_of_programs || std::ranges::count(grouping_.by, owner_label) != 0;
	std::vector<TotalsRow> rows;
	std::map<std::vector<TotalsRow::Part>, Group, decltype(is_before)> merged(is_before);
	for (const auto &[key, group] : groups_) {
		const Thread *of = owner(key);
		const bool in_tree = group.in_tree || (of && of->in_tree);
		if (group.count == 0 || slept_all_along(of) ||
		    (whose != Whose::all && in_tree != (whose == Whose::command)))
			continue;
		std::vector<TotalsRow::Part> parts = parts_of(key, group);
		if (!has_one_owner) {
			Group &sum = merged[std::move(parts)] += group;
			sum.in_tree |= in_tree;
			continue;
		}
		rows.push_back(row_of(std::move(parts), group));
		rows.back().in_tree = in_tree;
		rows.back().of = of;
	}
	for (const auto &[parts, group] : merged)
		rows.push_back(row_of(parts, group));
	std::ranges::sort(rows, [&](const TotalsRow &a, const TotalsRow &b) {
		return a.total.ticks != b.total.ticks ? a.total.ticks > b.total.ticks : is_before(a.parts, b.parts);
	});
	return rows;
}

} // namespace monitor::activities
