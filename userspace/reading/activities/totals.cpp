// SPDX-License-Identifier: MIT
#include "totals.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace monitor::activities {
namespace {

using analyze::Thread;

constexpr const char *label_names[] = {"process", "thread", "call", "waker", "activity", "argument", "caller"};
constexpr auto labels_of_states = label_names + 4; // up to here

bool names_a_thread(Label label)
{
	return label == Label::process || label == Label::thread;
}

// A number that is not the address of a thread.
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
		const auto known = std::find(label_names, labels_of_states, name);
		if (known == labels_of_states)
			throw Error("{}, by: a state has {}, not {}", text.where,
				    fmt::join(label_names, labels_of_states, ", "), readable(name));
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
	case Label::waker: // a process by its leader, an interrupt by kind and number, or 0 if unknown
		if (activity.waker.interrupt >= 0)
			return odd(static_cast<std::uint64_t>(activity.waker.interrupt) << 16 | activity.waker.number);
		return activity.waker.thread ? reinterpret_cast<std::uintptr_t>(&fold_.leader(*activity.waker.thread))
					     : 0;
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
	if (is_program) // the period's recorder knew the lengths of the others
		group->uncertain += summed.count - std::min(lengths, summed.count);
}

// A thread's own counters count while it has a CPU. Activities without them count as time in which nothing was counted.
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

TotalsRow Totals::row_of(const LabelKey &key, const Group &group) const
{
	TotalsRow row{group, {}};
	for (std::size_t i = 0; i < grouping_.by.size(); ++i) {
		row.parts.push_back(shown(grouping_.by[i], key[i], group));
		if (names_a_thread(grouping_.by[i]) && thread_at(key[i]))
			row.in_tree |= thread_at(key[i])->in_tree;
	}
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
	std::uint64_t sum = 0;
	for (const auto &[key, group] : groups_)
		sum += group.uncertain;
	return sum;
}

std::vector<TotalsRow> Totals::rows() const
{
	const bool are_asked_for = fold_.scope().threads.has_value(); // that they slept is the answer then
	const std::unordered_set<const Thread *> ran = fold_.scheduled_threads();
	const auto slept_all_along = [&](const LabelKey &key) {
		if (are_asked_for)
			return false;
		for (std::size_t i = 0; i < grouping_.by.size(); ++i)
			if (const Thread *thread = thread_at(key[i]); names_a_thread(grouping_.by[i]) && thread &&
								      thread->sum == analyze::Sum::none &&
								      !ran.contains(thread))
				return true;
		return false;
	};
	std::vector<TotalsRow> rows;
	for (const auto &[key, group] : groups_)
		if (group.count != 0 && (grouping_.source == ActivitySource::program || !slept_all_along(key)))
			rows.push_back(row_of(key, group));
	std::ranges::sort(rows, [](const TotalsRow &a, const TotalsRow &b) {
		if (a.total.ticks != b.total.ticks)
			return a.total.ticks > b.total.ticks;
		const auto shown = [](const TotalsRow::Part &part) { return std::tie(part.text, part.number); };
		return std::ranges::lexicographical_compare(a.parts, b.parts, std::less<>(), shown, shown);
	});
	return rows;
}

} // namespace monitor::activities
