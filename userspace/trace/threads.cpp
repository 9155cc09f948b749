// SPDX-License-Identifier: MIT
#include "threads.h"

#include <algorithm>

#include "monitor/card.h"
#include "text.h"

namespace monitor::trace {

Threads::Threads(const Trace &trace)
    : roles_(trace.description().id_limit()), pages_(static_cast<std::size_t>(max_pid) / page_size)
{
	for (const auto &stream : trace.streams()) {
		const std::uint32_t cpu = stream->info().cpu;
		const auto slot = std::find(slot_cpu_.begin(), slot_cpu_.end(), cpu);
		cpu_slot_.push_back(static_cast<std::size_t>(slot - slot_cpu_.begin()));
		if (slot == slot_cpu_.end())
			slot_cpu_.push_back(cpu);
	}
	running_.resize(slot_cpu_.size());
	writer_.assign(trace.streams().size(), unknown);
	assign_roles(trace.description());
	set_name(0, "idle");
}

void Threads::assign_roles(const Description &description)
{
	for (const auto &cls : description.classes()) {
		if (cls->id >= EDC_ID_USER_FIRST)
			continue; // programs may call their events what they like
		Role &role = roles_[cls->id];
		role.first_pid = FieldRef(*cls, "pid");
		role.name = FieldRef(*cls, "comm");
		if (cls->name == "sched_switch") {
			role.kind = Kind::sched_switch;
			role.first_pid = FieldRef(*cls, "prev_pid");
			role.second_pid = FieldRef(*cls, "next_pid");
		} else if (cls->name == "thread_state") {
			role.kind = Kind::state;
			role.cpu = FieldRef(*cls, "cpu");
			role.flags = FieldRef(*cls, "flags");
		} else if (cls->name == "sched_wakeup_new") {
			role.kind = Kind::name;
		} else if (cls->name == "sched_process_exec") {
			role.kind = Kind::exec;
			role.second_pid = FieldRef(*cls, "old_pid");
		} else if (cls->name == "task_rename") {
			role.kind = Kind::name;
			role.name = FieldRef(*cls, "newcomm");
		} else if (cls->name == "thread") {
			role.kind = Kind::writer;
		} else if (cls->name == "sys_enter" || cls->name == "sys_exit" || cls->name == "page_fault_user" ||
			   cls->name == "minor_fault" || cls->name == "major_fault") {
			role.kind = Kind::of_running;
		}
	}
}

// A user stream's own tokens say which thread of its process writes.
std::int64_t Threads::before_user(const Event &event, const Role &role)
{
	std::int64_t &writer = writer_[event.stream->index];
	if (role.kind == Kind::writer)
		writer = role.first_pid.get<std::int32_t>(event);
	else if (event.opens_packet())
		writer = event.packet_tid();
	return writer;
}

void Threads::learn(const Event &event, const Role &role)
{
	if (role.kind == Kind::writer)
		return;
	const std::int64_t pid = role.first_pid.get<std::int32_t>(event);
	Running &running = running_[cpu_slot_[event.stream->index]];
	if (role.kind == Kind::sched_switch) {
		running = {};
		if (role.second_pid) {
			running.tid = role.second_pid.get<std::int32_t>(event);
			const Name *next = name(running.tid);
			running.hidden = next && next->hidden;
		}
		return;
	}
	if (role.name)
		set_name(pid, role.name.get<std::string_view>(event));
	// a thread that is not its group's first takes over the first one's pid
	if (role.kind == Kind::exec && role.second_pid && running.tid == role.second_pid.get<std::int32_t>(event))
		running.tid = pid;
	if (role.kind != Kind::state)
		return;
	const std::uint64_t flags = role.flags.get(event);
	if (flags & EDC_THREAD_HIDDEN)
		if (Name *hidden = name_of(pid))
			hidden->hidden = true;
	if (flags & EDC_THREAD_RUNNING) {
		const auto slot = std::find(slot_cpu_.begin(), slot_cpu_.end(), role.cpu.get<std::uint32_t>(event));
		if (slot == slot_cpu_.end())
			return;
		Running &there = running_[static_cast<std::size_t>(slot - slot_cpu_.begin())];
		if (there.tid == unknown)
			there.tid = pid;
	}
}

Threads::Name *Threads::name_of(std::int64_t pid)
{
	if (pid < 0 || pid >= max_pid)
		return nullptr;
	auto &page = pages_[static_cast<std::size_t>(pid) / page_size];
	if (!page)
		page = std::make_unique<std::uint32_t[]>(page_size);
	std::uint32_t &number = page[static_cast<std::size_t>(pid) % page_size];
	if (number == 0) {
		names_.emplace_back();
		number = static_cast<std::uint32_t>(names_.size());
	}
	return &names_[number - 1];
}

void Threads::set_name(std::int64_t pid, std::string_view text)
{
	Name *const known = text.empty() ? nullptr : name_of(pid);
	if (!known)
		return;
	Name &name = *known;
	name.length = static_cast<std::uint8_t>(std::min(text.size(), sizeof name.text));
	text.copy(name.text, name.length);
	name.plain = is_plain(name.view());
}

} // namespace monitor::trace
