// SPDX-License-Identifier: MIT
#include "subject_knowledge.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace monitor::states {
namespace {

using analyze::Mode;
using filter::KnownName;
using trace::Enumeration;

enum ThreadState : std::uint64_t { thread_running, thread_ready, thread_blocked, thread_throttled };
enum CpuState : std::uint64_t { cpu_running, cpu_idle, cpu_offline };

constexpr std::uint64_t idle_mode = analyze::modes; // beyond all modes: idle
constexpr std::uint64_t offline_mode = idle_mode + 1;

// What a thread waits for outside of a system call, numbered after the system calls.
constexpr std::uint64_t blocked_on_fault = 1u << 20, blocked_on_kernel = blocked_on_fault + 1;

std::shared_ptr<const Enumeration> labels(std::vector<Enumeration::Label> all)
{
	return std::make_shared<const Enumeration>(std::move(all), false);
}

Enumeration::Label label(std::uint64_t value, const char *name)
{
	return {value, value, name};
}

std::shared_ptr<const Enumeration> states_of(Subject subject)
{
	if (subject == Subject::cpu)
		return labels({label(cpu_running, "running"), label(cpu_idle, "idle"), label(cpu_offline, "offline")});
	return labels({label(thread_running, "running"), label(thread_ready, "ready"), label(thread_blocked, "blocked"),
		       label(thread_throttled, "throttled")});
}

std::shared_ptr<const Enumeration> modes_of(Subject subject)
{
	std::vector<Enumeration::Label> all;
	for (const auto &[mode, name] :
	     {std::pair(Mode::user, "user"), std::pair(Mode::kernel, "kernel"), std::pair(Mode::irq, "irq"),
	      std::pair(Mode::softirq, "softirq"), std::pair(Mode::unattributed, "unattributed")})
		all.push_back(label(static_cast<std::uint64_t>(mode), name));
	if (subject == Subject::cpu)
		all.insert(all.end(), {label(idle_mode, "idle"), label(offline_mode, "offline")});
	return labels(std::move(all));
}

// The labels of the system calls in this trace.
std::vector<Enumeration::Label> calls_of(const trace::Description &description)
{
	for (const auto &cls : description.classes())
		if (const trace::Field *id = cls->find("id"); id && id->labels && cls->name.ends_with("sys_enter"))
			return id->labels->labels();
	return {};
}

bool applies_to(Known known, Subject subject)
{
	switch (known) {
	case Known::state:
	case Known::mode:
	case Known::call:
	case Known::activity:
	case Known::outer_activity:
		return subject != Subject::machine;
	case Known::blocked_on:
		return subject == Subject::thread;
	case Known::running:
	case Known::idle:
		return subject == Subject::machine;
	default:
		return true;
	}
}

bool is_field_of_another_tracer(const trace::Description &description, const std::string &name)
{
	return std::ranges::any_of(description.classes(),
				   [&](const auto &cls) { return cls->size_bytes == 0 && cls->find(name); });
}

// Why the trace never has it, or "".
std::string lacking(Known known, const std::string &name, Subject subject, const Recorded &recorded)
{
	if (!applies_to(known, subject))
		return fmt::format("{} is not known in a tree of a {}: it is in trees of a {}", name,
				   subject_name(subject),
				   known == Known::blocked_on                        ? "thread"
				   : known == Known::running || known == Known::idle ? "machine"
										     : "cpu or a thread");
	const bool is_activity = known == Known::activity || known == Known::outer_activity;
	const bool is_derived = known == Known::state || known == Known::mode || known == Known::call ||
				known == Known::blocked_on || is_activity;
	if (recorded.without_tokens)
		return fmt::format("{} follows from events, and this recording has none (--no-tokens)", name);
	if (is_derived && recorded.partial)
		return fmt::format("{} follows from events of which the recording's --filter left out some: use fields "
				   "of the events that it kept",
				   name);
	const bool is_identity = known == Known::tid || known == Known::process || known == Known::thread;
	if (is_activity && !recorded.activities)
		return fmt::format("{} needs events NAME_begin and NAME_end of programs, and this trace has none",
				   name);
	const bool needs_switches = subject != Subject::thread || !(is_activity || is_identity);
	if (needs_switches && !recorded.switches)
		return fmt::format("{} follows from sched_switch, which this trace lacks: use fields of its events",
				   name);
	if (subject == Subject::thread && (known == Known::state || known == Known::blocked_on) && !recorded.wakings)
		return fmt::format(
		    "{} of a thread follows from sched_waking, which this trace lacks: record the family sched, too",
		    name);
	if ((known == Known::call || known == Known::blocked_on) && !recorded.calls)
		return fmt::format("{} follows from sys_enter and sys_exit, which this trace lacks: record the family "
				   "syscall, too, or do without it",
				   name);
	return "";
}

} // namespace

Recorded recorded(const analyze::FoldInput &input, const analyze::RecordingInfo &info, const analyze::EventKinds &kinds)
{
	Recorded found;
	const auto has = [&](const char *event, analyze::EventMeaning kind) {
		return info.present ? info.has_program(event) : kinds.has(kind);
	};
	found.switches = has("sched_switch", analyze::EventMeaning::sched_switch);
	found.wakings = has("sched_waking", analyze::EventMeaning::sched_waking);
	found.partial = info.has_partial();
	found.without_tokens = !info.has_tokens && !input.is_running;
	found.calls =
	    has("sys_enter", analyze::EventMeaning::sys_enter) && has("sys_exit", analyze::EventMeaning::sys_exit);
	std::vector<std::string_view> begun, ended;
	for (const auto &cls : input.description.classes()) {
		if (cls->domain != trace::Domain::user || cls->size_bytes == 0)
			continue;
		found.user_events = true;
		const std::string_view name = cls->name;
		if (name.ends_with("_begin"))
			begun.push_back(name.substr(0, name.size() - 6));
		else if (name.ends_with("_end"))
			ended.push_back(name.substr(0, name.size() - 4));
	}
	found.activities = input.has_more_classes ||
			   std::find_first_of(begun.begin(), begun.end(), ended.begin(), ended.end()) != begun.end();
	found.user_events = found.user_events || input.has_more_classes;
	return found;
}

filter::KnownNames known_names(Subject subject, const Recorded &recorded, const trace::Description &description)
{
	filter::KnownNames names;
	for (const auto &[known, name] :
	     {std::pair(Known::state, "state"), std::pair(Known::mode, "mode"), std::pair(Known::call, "call"),
	      std::pair(Known::blocked_on, "blocked_on"), std::pair(Known::activity, "activity"),
	      std::pair(Known::outer_activity, "outer_activity"), std::pair(Known::tid, "tid"),
	      std::pair(Known::process, "process"), std::pair(Known::thread, "thread"),
	      std::pair(Known::running, "running"), std::pair(Known::idle, "idle")}) {
		KnownName made;
		made.name = name;
		made.is_text = known == Known::activity || known == Known::outer_activity || known == Known::thread;
		made.lacking = lacking(known, made.name, subject, recorded);
		if (!made.lacking.empty() && is_field_of_another_tracer(description, made.name))
			made.name.clear(); // the field has precedence
		names.push_back(std::move(made));
	}
	const auto at = [&](Known known) -> KnownName & { return names[static_cast<std::size_t>(known)]; };
	at(Known::state).labels = states_of(subject);
	at(Known::mode).labels = modes_of(subject);
	std::vector<Enumeration::Label> calls = calls_of(description);
	if (!calls.empty())
		at(Known::call).labels = labels(calls);
	calls.insert(calls.end(), {label(blocked_on_fault, "fault"), label(blocked_on_kernel, "kernel")});
	at(Known::blocked_on).labels = labels(std::move(calls));
	return names;
}

filter::Knowledge::Answer SubjectKnowledge::find_number(std::uint32_t index, std::uint64_t &value)
{
	switch (static_cast<Known>(index)) {
	case Known::state:
		return state(value);
	case Known::mode:
		return mode(value);
	case Known::call:
		return call(value);
	case Known::blocked_on:
		return blocked_on(value);
	case Known::tid:
	case Known::process:
		if (is_idle_ && !thread_)
			return value = 0, Answer::known;
		if (!thread_)
			return Answer::unknown;
		value = static_cast<std::uint64_t>(
		    std::max(static_cast<Known>(index) == Known::tid ? thread_->tid : thread_->tgid, 0));
		return Answer::known;
	case Known::running:
		return cpus_in_use(false, value);
	case Known::idle:
		return cpus_in_use(true, value);
	default:
		return Answer::absent;
	}
}

filter::Knowledge::Answer SubjectKnowledge::find_text(std::uint32_t index, std::string_view &value)
{
	switch (static_cast<Known>(index)) {
	case Known::activity:
		return activity(false, value);
	case Known::outer_activity:
		return activity(true, value);
	case Known::thread:
		if (is_idle())
			return value = "idle", Answer::known;
		if (!thread_)
			return Answer::unknown;
		value = thread_->name;
		return value.empty() ? Answer::unknown : Answer::known;
	default:
		return Answer::absent;
	}
}

filter::Knowledge::Answer SubjectKnowledge::state(std::uint64_t &value) const
{
	if (subject_ == Subject::cpu) {
		value = is_offline() ? cpu_offline : is_idle() ? cpu_idle : cpu_running;
		return is_offline() || is_idle_ || thread_ ? Answer::known : Answer::unknown;
	}
	if (!thread_ || !fold_.is_known(*thread_))
		return Answer::unknown;
	switch (thread_->state) {
	case analyze::State::running:
		return value = thread_running, Answer::known;
	case analyze::State::runnable:
		return value = thread_ready, Answer::known;
	case analyze::State::throttled:
		return value = thread_throttled, Answer::known;
	case analyze::State::blocked:
		return value = thread_blocked, Answer::known;
	default:
		return Answer::unknown;
	}
}

filter::Knowledge::Answer SubjectKnowledge::mode(std::uint64_t &value) const
{
	if (is_offline())
		return value = offline_mode, Answer::known;
	if (is_idle_)
		return value = idle_mode, Answer::known;
	if (!thread_ || (subject_ == Subject::thread && !fold_.is_known(*thread_)))
		return Answer::unknown;
	const analyze::Cpu *cpu = cpu_;
	if (subject_ == Subject::thread) {
		if (thread_->state != analyze::State::running || thread_->cpu >= fold_.cpus().size())
			return Answer::absent;
		cpu = &fold_.cpus()[thread_->cpu];
		if (cpu->current != thread_)
			return Answer::unknown;
	}
	const Mode mode = fold_.mode_on(*cpu);
	value = is_idle() && mode == Mode::kernel ? idle_mode : static_cast<std::uint64_t>(mode);
	return mode == Mode::unknown ? Answer::unknown : Answer::known;
}

filter::Knowledge::Answer SubjectKnowledge::call(std::uint64_t &value) const
{
	if (is_idle() || is_offline())
		return Answer::absent;
	if (!thread_ || !fold_.is_known(*thread_))
		return Answer::unknown;
	if (thread_->ring == analyze::Ring::unknown || thread_->ring == analyze::Ring::within)
		return Answer::unknown;
	value = thread_->syscall;
	const bool in_call = thread_->ring == analyze::Ring::system_call;
	return !in_call ? Answer::absent : thread_->syscall == EDC_NO_SYSCALL ? Answer::unknown : Answer::known;
}

filter::Knowledge::Answer SubjectKnowledge::blocked_on(std::uint64_t &value) const
{
	if (!thread_ || !fold_.is_known(*thread_))
		return Answer::unknown;
	if (thread_->state != analyze::State::blocked)
		return Answer::absent;
	if (thread_->ring == analyze::Ring::fault)
		return value = blocked_on_fault, Answer::known;
	if (thread_->ring == analyze::Ring::system_call && thread_->syscall != EDC_NO_SYSCALL)
		return value = thread_->syscall, Answer::known;
	return value = blocked_on_kernel, thread_->is_kernel ? Answer::known : Answer::unknown;
}

filter::Knowledge::Answer SubjectKnowledge::cpus_in_use(bool idle, std::uint64_t &value) const
{
	value = 0;
	for (const std::uint32_t number : cpus_) {
		const analyze::Thread *current = fold_.cpus()[number].current;
		if (!current)
			return Answer::unknown;
		value += (current->tid == 0) == idle;
	}
	return Answer::known;
}

filter::Knowledge::Answer SubjectKnowledge::activity(bool outermost, std::string_view &value) const
{
	if (is_idle())
		return Answer::absent;
	if (!thread_)
		return Answer::unknown;
	if (losses_) {
		const auto seen = seen_.find(thread_);
		if (seen == seen_.end() || seen->second != losses_)
			return Answer::unknown;
	}
	const activities::Tracker::Ends open = tracker_->open_of(*thread_);
	const std::uint32_t number = outermost ? open.outermost : open.innermost;
	if (number == activities::no_activity)
		return Answer::absent;
	value = tracker_->names()[number];
	return Answer::known;
}

} // namespace monitor::states
