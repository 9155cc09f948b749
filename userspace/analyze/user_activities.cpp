// SPDX-License-Identifier: MIT
#include "user_activities.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"

namespace monitor::analyze {
namespace {

constexpr std::uint32_t unknown_process = ~0u; // as in Machine: the stream has not reported it yet
constexpr std::uint32_t many_processes = 0;    // no process has this number
// Prefixes that the recorder gives the names of streams of many processes.
constexpr const char *merged_streams[] = {"user_merged", "user_shared"};

Span now(const Thread &thread, std::uint64_t time)
{
	return {time, thread.usage.cpu(), thread.usage.waiting, thread.usage.blocked};
}

// What a thread used between two moments. The fold may learn late which thread ran: then a part includes time from
// before the start, and is cut.
Span between(const Span &begin, const Span &end)
{
	Span span;
	span.ticks = end.ticks - begin.ticks;
	std::uint64_t left = span.ticks;
	const auto part = [&left](std::uint64_t from, std::uint64_t to) {
		const std::uint64_t ticks = std::min(left, to - std::min(from, to));
		left -= ticks;
		return ticks;
	};
	span.cpu = part(begin.cpu, end.cpu);
	span.waiting = part(begin.waiting, end.waiting);
	span.blocked = part(begin.blocked, end.blocked);
	return span;
}

std::uint32_t argument_of(const trace::Event &event)
{
	return edc_token_arg(trace::load<std::uint64_t>(event.data));
}

} // namespace

Span &Span::operator+=(const Span &other)
{
	ticks += other.ticks;
	cpu += other.cpu;
	waiting += other.waiting;
	blocked += other.blocked;
	return *this;
}

std::size_t UserActivityFold::KeyHash::operator()(const Key &key) const
{
	const std::uint64_t hash = (key[0] + 1) * 0x9e3779b97f4a7c15ull ^ key[1];
	return (hash ^ hash >> 32) * 0xbf58476d1ce4e5b9ull;
}

UserActivityFold::UserActivityFold(UserActivityBy by, const trace::Trace &trace, const Machine &machine,
				   const CounterFold *counters)
    : by_(by), machine_(machine), counters_(counters), roles_(trace.description().classes().size()),
      in_gap_(trace.streams().size())
{
	for (const auto &stream : trace.streams())
		merged_.push_back(std::ranges::any_of(
		    merged_streams, [&](const char *name) { return stream->info().name.starts_with(name); }));
	find_activities(trace.description());
	if (counters_)
		find_boundaries(trace.description());
	if (activities_.empty())
		throw Error("this trace has no activities: declare them with EDC_ACTIVITY of monitor/edc.h");
}

// A name may have several layouts, and thus several classes, at either end.
void UserActivityFold::find_activities(const trace::Description &description)
{
	std::map<std::string, std::array<std::vector<const trace::EventClass *>, 2>> by_name;
	for (const auto &cls : description.classes())
		for (const auto &[suffix, at_end] : {std::pair("_begin", 0u), std::pair("_end", 1u)})
			if (cls->domain == trace::Domain::user && cls->name.ends_with(suffix))
				by_name[cls->name.substr(0, cls->name.rfind('_'))][at_end].push_back(cls.get());
	for (const auto &[name, classes] : by_name) {
		if (name.empty() || classes[0].empty() || classes[1].empty())
			continue;
		for (const unsigned at_end : {0u, 1u})
			for (const trace::EventClass *cls : classes[at_end]) {
				Role &role = roles_[cls->index];
				role.activity = static_cast<std::uint32_t>(activities_.size());
				role.begins = at_end == 0;
				if (cls->fields.empty())
					continue;
				role.argument = trace::FieldRef(*cls, cls->fields.front());
				role.kind = cls->fields.front().kind;
				role.base = cls->fields.front().base;
			}
		activities_.push_back(name);
	}
}

void UserActivityFold::find_boundaries(const trace::Description &description)
{
	const CountersInfo &info = counters_->info();
	for (const auto &cls : description.classes()) {
		if (info.user_id == 0 || cls->id != info.user_id || info.sets.empty())
			continue;
		boundary_id_ = cls->id;
		for (std::size_t i = 0; i < info.sets[0].count; ++i)
			boundary_fields_.emplace_back(*cls, info.counters[info.sets[0].first + i].field);
	}
}

void UserActivityFold::report_boundary(Stack &stack, const trace::Event &event) const
{
	stack.boundary.clear();
	for (const trace::FieldRef &field : boundary_fields_)
		stack.boundary.push_back(field.get(event));
}

UserActivityFold::Key UserActivityFold::key_of(const Role &role, const Thread &thread, const trace::Event &event) const
{
	if (by_ == UserActivityBy::argument)
		return {role.activity, argument_of(event)};
	if (by_ == UserActivityBy::thread)
		return {role.activity, reinterpret_cast<std::uintptr_t>(&thread)};
	// Without kernel events the leader has no name unless it posts events itself: then the number is used.
	const Thread &leader = machine_.leader(thread);
	if (leader.tid == leader.tgid && !leader.name.empty())
		return {role.activity, reinterpret_cast<std::uintptr_t>(&leader)};
	return {role.activity, static_cast<std::uint64_t>(static_cast<std::uint32_t>(thread.tgid)) << 1 | 1};
}

// "" if it is a plain number.
std::string UserActivityFold::argument_text(const Role &role, const trace::Event &event)
{
	if (const std::string *label = role.argument.label(event))
		return *label;
	if (role.base == 16)
		return fmt::format("{:#x}", argument_of(event));
	if (role.kind == trace::FieldKind::signed_integer)
		return fmt::format("{}", role.argument.get<std::int64_t>(event));
	return "";
}

UserActivityFold::Group *UserActivityFold::group_of(const Role &role, const Thread &thread, const trace::Event &event)
{
	const Key key = key_of(role, thread, event);
	auto found = groups_.find(key);
	if (found == groups_.end()) {
		if (groups_.size() >= max_groups)
			return nullptr;
		found = groups_.try_emplace(key).first;
		Group &group = found->second;
		group.thread = &thread;
		group.argument = argument_text(role, event);
	}
	found->second.in_tree |= thread.in_tree;
	return &found->second;
}

std::uint32_t UserActivityFold::owner_of(const trace::StreamInfo &stream, std::uint32_t process) const
{
	return merged_[stream.index] ? many_processes : process;
}

UserActivityFold::Stack &UserActivityFold::stack_of(const Thread &thread, std::uint32_t owner)
{
	Stack &stack = stacks_[&thread];
	if (stack.owner != owner) {
		forget(stack);
		stack.owner = owner;
		stack.listed = false;
	}
	if (!stack.listed) {
		open_[owner].push_back(&stack);
		stack.listed = true;
	}
	return stack;
}

void UserActivityFold::user_event(const Thread &thread, const trace::Event &event)
{
	const std::uint32_t owner = owner_of(*event.stream, event.packet_process());
	// The loss is over. What the owner's other streams reported during it may lack events of the same threads.
	if (in_gap_[event.stream->index]) {
		in_gap_[event.stream->index] = false;
		forget_owner(owner);
	}
	const Role &role = roles_[event.cls->index];
	if (event.cls->id == boundary_id_)
		return report_boundary(stack_of(thread, owner), event);
	if (role.activity == none) {
		if (const auto found = stacks_.find(&thread); found != stacks_.end())
			found->second.boundary.clear(); // these counters were reported for another event
		return;
	}
	Stack &stack = stack_of(thread, owner);
	if (role.begins)
		begin(role, stack, thread, event);
	else
		end(role, stack, thread, event.time);
	stack.boundary.clear();
}

void UserActivityFold::user_gap(const trace::StreamInfo &stream, std::uint32_t process)
{
	in_gap_[stream.index] = true;
	const std::uint32_t owner = owner_of(stream, process);
	if (owner == unknown_process)
		forget_all();
	else
		forget_owner(owner);
}

void UserActivityFold::begin(const Role &role, Stack &stack, const Thread &thread, const trace::Event &event)
{
	if (stack.too_deep || stack.frames.size() >= deepest || frames_ >= max_open) {
		++stack.too_deep;
		++unpaired_.begins;
		return;
	}
	Frame frame;
	frame.activity = role.activity;
	frame.group = group_of(role, thread, event);
	frame.at_begin = now(thread, event.time);
	const auto same = [&](const Frame &other) { return other.group == frame.group; };
	if (counters_ && std::ranges::none_of(stack.frames, same))
		frame.counted_at_begin = counters_->so_far(thread);
	frame.boundary = stack.boundary;
	if (closed_ && role.argument) {
		frame.argument = argument_text(role, event);
		if (frame.argument.empty())
			frame.argument = fmt::format("{}", argument_of(event));
	}
	stack.frames.push_back(frame);
	++frames_;
}

void UserActivityFold::end(const Role &role, Stack &stack, const Thread &thread, std::uint64_t time)
{
	const auto is_its_begin = [&](const Frame &frame) { return frame.activity == role.activity; };
	if (stack.too_deep) {
		--stack.too_deep;
		++unpaired_.ends;
		return;
	}
	if (std::ranges::none_of(stack.frames, is_its_begin)) {
		++unpaired_.ends;
		return;
	}
	while (!is_its_begin(stack.frames.back()))
		forget_top(stack);
	const Span span = between(stack.frames.back().at_begin, now(thread, time));
	if (counters_)
		count(stack, thread, span);
	if (const Frame &frame = stack.frames.back(); closed_)
		closed_({activities_[frame.activity], thread, frame.at_begin.ticks, time, span, frame.argument});
	close(stack, span);
}

// Adds what was counted in the innermost activity, which ends; if it is inside another of its row, that one has it.
void UserActivityFold::count(Stack &stack, const Thread &thread, const Span &span)
{
	const Frame &frame = stack.frames.back();
	const auto same = [&](const Frame &other) { return other.group == frame.group; };
	if (!frame.group || std::any_of(stack.frames.begin(), stack.frames.end() - 1, same))
		return;
	CounterSums counted = counters_->so_far(thread);
	counted -= frame.counted_at_begin;
	frame.group->counted += counted;
	count_at_boundaries(frame, stack.boundary, span);
}

// Programs are not trusted: counters that decrease are ignored.
void UserActivityFold::count_at_boundaries(const Frame &frame, const std::vector<std::uint64_t> &boundary,
					   const Span &span) const
{
	const std::size_t count = boundary_fields_.size();
	if (count == 0 || frame.boundary.size() != count || boundary.size() != count)
		return;
	for (std::size_t i = 0; i < count; ++i)
		if (boundary[i] < frame.boundary[i])
			return;
	Group &group = *frame.group;
	group.counted_at_boundaries.resize(count);
	group.cpu_at_boundaries += std::max<std::uint64_t>(span.cpu, 1);
	for (std::size_t i = 0; i < count; ++i)
		group.counted_at_boundaries[i] += boundary[i] - frame.boundary[i];
}

// A thread's own counters count while it has a CPU. Activities without them count as time in which nothing was counted.
void UserActivityFold::use_boundaries(const Group &group, UserActivityRow &row) const
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

// The innermost activity has ended.
void UserActivityFold::close(Stack &stack, const Span &span)
{
	const Frame frame = stack.frames.back();
	stack.frames.pop_back();
	--frames_;
	if (!stack.frames.empty())
		stack.frames.back().inside += span.ticks;
	if (!frame.group) {
		++left_out_;
		return;
	}
	Group &group = *frame.group;
	++group.count;
	group.sum += span.ticks;
	group.max = std::max(group.max, span.ticks);
	group.exclusive += span.ticks - std::min(frame.inside, span.ticks);
	group.histogram.add(span.ticks);
	add_total(stack, group, span);
}

// If it is inside another activity of its row, it waits for the end of that one, which includes its time.
void UserActivityFold::add_total(Stack &stack, Group &group, const Span &span)
{
	const auto outer = std::find_if(stack.frames.rbegin(), stack.frames.rend(),
					[&](const Frame &frame) { return frame.group == &group; });
	(outer == stack.frames.rend() ? group.total : outer->pending) += span;
}

// The end of the innermost activity will never be known.
void UserActivityFold::forget_top(Stack &stack)
{
	const Frame frame = stack.frames.back();
	stack.frames.pop_back();
	--frames_;
	++unpaired_.begins;
	if (!stack.frames.empty())
		stack.frames.back().inside += frame.inside;
	if (frame.group)
		add_total(stack, *frame.group, frame.pending);
}

void UserActivityFold::forget(Stack &stack)
{
	while (!stack.frames.empty())
		forget_top(stack);
	stack.too_deep = 0;
	stack.boundary.clear();
}

void UserActivityFold::forget_owner(std::uint32_t owner)
{
	const auto found = open_.find(owner);
	if (found == open_.end())
		return;
	for (Stack *stack : found->second)
		if (stack->owner == owner) {
			forget(*stack);
			stack->listed = false;
		}
	open_.erase(found);
}

void UserActivityFold::forget_all()
{
	while (!open_.empty())
		forget_owner(open_.begin()->first);
}

UserActivityRow UserActivityFold::row_of(const Key &key, const Group &group) const
{
	UserActivityRow row;
	row.activity = activities_[key[0]];
	row.in_tree = group.in_tree || group.thread->in_tree;
	row.number = key[1];
	if (by_ == UserActivityBy::argument) {
		row.name = group.argument;
	} else if (key[1] & 1) { // threads have even addresses
		row.name = "?";
		row.number = key[1] >> 1;
	} else {
		const auto &thread = *reinterpret_cast<const Thread *>(key[1]);
		row.name = thread.name.empty() ? "?" : thread.name;
		row.number = static_cast<std::uint32_t>(thread.tid);
		row.in_tree |= thread.in_tree;
	}
	row.count = group.count;
	row.total = group.total;
	row.mean = group.sum / group.count;
	row.max = group.max;
	row.p50 = std::min(group.histogram.percentile(0.5), group.max);
	row.p99 = std::min(group.histogram.percentile(0.99), group.max);
	row.exclusive = group.exclusive;
	if (counters_)
		row.counted = counters_->none();
	row.counted += group.counted;
	use_boundaries(group, row);
	row.counted.occurrences = group.count;
	return row;
}

std::vector<UserActivityRow> UserActivityFold::rows() const
{
	std::vector<UserActivityRow> rows;
	for (const auto &[key, group] : groups_)
		if (group.count != 0)
			rows.push_back(row_of(key, group));
	std::ranges::sort(rows, [](const UserActivityRow &a, const UserActivityRow &b) {
		return std::tie(b.total.ticks, a.activity, a.number) < std::tie(a.total.ticks, b.activity, b.number);
	});
	return rows;
}

} // namespace monitor::analyze
