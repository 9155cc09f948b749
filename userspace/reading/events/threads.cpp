// SPDX-License-Identifier: MIT
#include "threads.h"

#include <algorithm>

#include "base/text.h"
#include "monitor/card.h"

namespace monitor::trace {

std::string_view command_of(std::string_view file)
{
	constexpr std::size_t max_command = 15; // TASK_COMM_LEN without the NUL
	return file.substr(file.rfind('/') + 1, max_command);
}

std::string device_text(std::uint64_t device)
{
	return std::to_string(device >> 20) + ':' + std::to_string(device & 0xfffff);
}

bool is_device(const EventClass &cls, std::string_view field)
{
	return cls.domain == Domain::kernel && cls.size_bytes != 0 && field == "dev";
}

bool names_a_thread(std::string_view field)
{
	constexpr std::string_view known[] = {"pid",      "prev_pid", "next_pid",   "parent_pid", "tid",
					      "prev_tid", "next_tid", "parent_tid", "vtid",       "vpid"};
	return std::find(std::begin(known), std::end(known), field) != std::end(known);
}

Threads::Threads(const Description &description, bool has_all_calls)
    : all_roles_(std::make_shared<const std::vector<Role>>(roles_of(description))), roles_(all_roles_->data()),
      has_all_calls_(has_all_calls)
{
}

Threads::Threads(const Trace &trace) : Threads(trace.description(), !trace.lacks_calls())
{
	add_machines(trace.machines().size());
	for (const auto &stream : trace.streams())
		add_stream(stream->info());
	bool has_switches = false, has_none = false;
	for (const auto &cls : trace.description().classes()) {
		const EventRole kind = roles_[cls->index].kind;
		has_switches = has_switches || (cls->size_bytes == 0 && kind == EventRole::sched_switch);
		has_none = has_none || (cls->size_bytes == 0 && kind == EventRole::none);
	}
	relies_on_switches_ = has_switches && has_none;
}

void Threads::add_classes(const Description &description)
{
	all_roles_ = std::make_shared<const std::vector<Role>>(roles_of(description));
	roles_ = all_roles_->data();
}

void Threads::add_stream(const StreamInfo &info)
{
	add_machines(std::size_t{info.machine} + 1);
	cpu_slot_.push_back(find_slot(info.machine, info.cpu));
	if (cpu_slot_.back() == slots_.size()) {
		slots_.emplace_back(info.machine, info.cpu);
		running_.emplace_back();
	}
	writer_.push_back(unknown);
}

void Threads::add_machines(std::size_t count)
{
	const std::size_t before = pages_.size() / pages_of_machine;
	if (count <= before)
		return;
	pages_.resize(count * pages_of_machine);
	for (std::size_t machine = before; machine < count; ++machine)
		set_name(0, static_cast<std::uint32_t>(machine), "idle");
}

void Threads::forget_names()
{
	for (std::shared_ptr<Info> &name : names_) {
		name = std::make_shared<Info>(*name);
		name->length = 0;
		name->is_named = false;
	}
	for (std::size_t machine = 0; machine < pages_.size() / pages_of_machine; ++machine)
		set_name(0, static_cast<std::uint32_t>(machine), "idle");
}

std::size_t Threads::find_slot(std::uint32_t machine, std::uint32_t cpu) const
{
	const auto found = std::ranges::find(slots_, std::pair(machine, cpu));
	return static_cast<std::size_t>(found - slots_.begin());
}

std::vector<Threads::Role> Threads::roles_of(const Description &description)
{
	std::vector<Role> roles(description.classes().size());
	for (const auto &cls : description.classes()) {
		if (cls->size_bytes == 0)
			roles[cls->index] = role_of_generic_ctf(*cls);
		else if (cls->domain != Domain::user) // programs may name their events like the kernel's
			roles[cls->index] = role_of_token(*cls);
	}
	return roles;
}

Threads::Role Threads::role_of_token(const EventClass &cls)
{
	Role role;
	role.first_pid = FieldRef(cls, "pid");
	role.process = FieldRef(cls, "tgid");
	role.name = FieldRef(cls, "comm");
	if (cls.name == "sched_switch") {
		role.kind = EventRole::sched_switch;
		role.first_pid = FieldRef(cls, "prev_pid");
		role.second_pid = FieldRef(cls, "next_pid");
	} else if (cls.name == "thread_runs") {
		role.kind = EventRole::runs;
	} else if (cls.name == "thread_state") {
		role.kind = EventRole::state;
		role.cpu = FieldRef(cls, "cpu");
		role.flags = FieldRef(cls, "flags");
	} else if (cls.name == "sched_wakeup_new") {
		role.kind = EventRole::creation;
	} else if (cls.name == "sched_process_exec") {
		role.kind = EventRole::exec;
		role.second_pid = FieldRef(cls, "old_pid");
	} else if (cls.name == "sched_process_exit" && role.name) {
		role.kind = EventRole::name;
	} else if (cls.name == "task_rename") {
		role.kind = EventRole::name;
		role.name = FieldRef(cls, "newcomm");
	} else if (cls.name == "thread") {
		role.kind = EventRole::writer;
	} else if (cls.name == "thread_counts") {
		role.kind = EventRole::in_switch; // of an ended thread
	} else if (cls.name == "sys_enter") {
		role.kind = EventRole::enters;
		role.call = FieldRef(cls, "id");
		role.abi = FieldRef(cls, "abi");
	} else if (cls.name == "sys_exit") {
		role.kind = EventRole::leaves;
	} else if (cls.name == "page_fault_user" || cls.name == "minor_fault" || cls.name == "major_fault") {
		role.kind = EventRole::of_running;
	}
	return role;
}

// Other tracers report the thread in a context, if configured to, or by sched_switch.
Threads::Role Threads::role_of_generic_ctf(const EventClass &cls)
{
	const auto first_of = [&](std::initializer_list<const char *> names) {
		for (const char *name : names)
			if (const Field *field = cls.find(name))
				return FieldRef(cls, *field);
		return FieldRef();
	};
	Role role;
	if (cls.name == "sched_switch" || cls.name == "sched:sched_switch") {
		role.kind = EventRole::sched_switch;
		role.first_pid = first_of({"prev_tid", "prev_pid"});
		role.second_pid = first_of({"next_tid", "next_pid"});
		role.name = first_of({"next_comm"});
		return role;
	}
	role.first_pid = first_of({"context.vtid", "context.tid", "perf_tid", "vtid", "tid"});
	role.name = first_of({"context.procname", "procname", "perf_comm"});
	if (role.first_pid)
		role.kind = EventRole::context;
	if (cls.name == "sched_process_exec" || cls.name == "sched:sched_process_exec")
		role.program = first_of({"filename"});
	return role;
}

// Tokens in a user stream name the thread of the process that writes.
std::int64_t Threads::before_user(const Event &event, const Role &role)
{
	std::int64_t &writer = writer_[event.stream->index];
	if (role.kind == EventRole::writer)
		writer = role.first_pid.get<std::int32_t>(event);
	else if (event.opens_packet())
		writer = event.packet_tid();
	return writer;
}

void Threads::learn(const Event &event, const Role &role)
{
	const std::int64_t pid = role.first_pid.get<std::int32_t>(event);
	const std::uint32_t machine = event.stream->machine;
	if (role.process)
		set_process(pid, machine, role.process.get<std::int32_t>(event));
	if (role.kind == EventRole::writer)
		return;
	Running &running = running_[cpu_slot_[event.stream->index]];
	if (role.kind == EventRole::sched_switch) {
		running = {unknown, false, true};
		if (role.second_pid) {
			running.tid = role.second_pid.get<std::int32_t>(event);
			learn_name(running.tid, event, role);
			const Info *next = find(running.tid, machine);
			running.hidden = next && next->hidden;
			running.is_sure = !running.hidden;
		}
		return;
	}
	learn_name(pid, event, role);
	if (role.program)
		set_name(pid, machine, command_of(role.program.get<std::string_view>(event)));
	// A thread that is not the group leader takes over the leader's number.
	if (role.kind == EventRole::exec && role.second_pid &&
	    running.tid == role.second_pid.get<std::int32_t>(event)) {
		set_call(pid, machine, call(running.tid, machine));
		running.tid = pid;
	}
	if (role.kind == EventRole::creation)
		set_call(pid, machine, call(running.tid, machine));
	if (role.kind != EventRole::state)
		return;
	const std::uint64_t flags = role.flags.get(event);
	if (flags & EDC_THREAD_HIDDEN)
		if (Info *hidden = find_or_add(pid, machine))
			hidden->hidden = true;
	if (flags & EDC_THREAD_RUNNING) {
		const std::size_t slot = find_slot(machine, role.cpu.get<std::uint32_t>(event));
		if (slot == slots_.size())
			return;
		Running &there = running_[slot];
		if (there.tid == unknown)
			there.tid = pid;
	}
}

void Threads::follow_call(const Event &event, const Role &role)
{
	Call call;
	if (role.kind == EventRole::enters && has_all_calls_)
		call = {true, role.abi.get<std::uint8_t>(event), role.call.get<std::uint16_t>(event)};
	set_call(running_[cpu_slot_[event.stream->index]].tid, event.stream->machine, call);
}

void Threads::set_call(std::int64_t pid, std::uint32_t machine, const Call &call)
{
	const Info *known = find(pid, machine);
	if (!call.is_known && !(known && known->call.is_known))
		return;
	if (Info *changed = find_or_add(pid, machine)) {
		changed->call = call;
		changed->gaps_before_call = gaps_;
	}
}

Threads::Info *Threads::find_or_add(std::int64_t pid, std::uint32_t machine)
{
	if (pid < 0 || pid >= pid_limit)
		return nullptr;
	auto &page = pages_[index_of(pid, machine) / page_size];
	const std::size_t index = index_of(pid, machine) % page_size;
	if (!page || page[index] == 0) {
		if (!page || page.use_count() > 1) {
			auto own = std::make_shared<std::uint32_t[]>(page_size);
			if (page)
				std::copy_n(page.get(), page_size, own.get());
			page = std::move(own);
		}
		names_.push_back(std::make_shared<Info>());
		page[index] = static_cast<std::uint32_t>(names_.size());
	}
	std::shared_ptr<Info> &name = names_[page[index] - 1];
	if (name.use_count() > 1)
		name = std::make_shared<Info>(*name);
	return name.get();
}

void Threads::set_process(std::int64_t pid, std::uint32_t machine, std::int64_t process)
{
	const Info *known = find(pid, machine);
	if (known && known->process == process)
		return;
	if (Info *name = find_or_add(pid, machine))
		name->process = process;
}

// A thread may be named "", but in the context of another tracer that is no name.
void Threads::learn_name(std::int64_t pid, const Event &event, const Role &role)
{
	const auto text = role.name.get<std::string_view>(event);
	if (role.name && (event.is_token() || !text.empty()))
		set_name(pid, event.stream->machine, text);
}

void Threads::set_name(std::int64_t pid, std::uint32_t machine, std::string_view text)
{
	const Info *known = find(pid, machine);
	if (known && known->is_named && known->view() == text)
		return;
	Info *const changed = find_or_add(pid, machine);
	if (!changed)
		return;
	Info &name = *changed;
	name.is_named = true;
	name.length = static_cast<std::uint8_t>(std::min(text.size(), sizeof name.text));
	text.copy(name.text, name.length);
	name.plain = is_plain(name.view());
}

} // namespace monitor::trace
