// SPDX-License-Identifier: MIT
// Which thread runs where, the names of threads, and the system call that each is in, as far as tokens report them.
// Every event passes through: before() returns the thread that posted it and notes which one runs, after() takes over
// what it says. Names come from the tokens that carry a comm; the running thread comes from sched_switch, thread_runs,
// thread_state and, until the first switch after a loss, from the header of each packet that opens. A thread is in the
// call of its last entry until an exit; what it clones starts in the same call. Not thread-safe. A copy is a snapshot
// (copy on write): both share their state until one of them changes it. Invariant: what no token reported is unknown,
// except that thread 0 is named idle; a gap makes the running thread of its CPU unknown, and the calls of all threads;
// in a recording of which a filter left out events, all calls are unknown.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "event.h"
#include "field_ref.h"
#include "trace.h"

namespace monitor::trace {

// The kernel's name (comm) of a thread that executes this file.
std::string_view command_of(std::string_view file);

// MAJOR:MINOR of the kernel's dev_t, for fields of that name in the events of monitor's card.
std::string device_text(std::uint64_t device);
bool is_device(const EventClass &cls, std::string_view field);

// Whether a field of this name is a TID: readers then need the thread's name, too.
bool names_a_thread(std::string_view field);

class Threads {
public:
	static constexpr std::int64_t unknown = -1;

	// The system call that a thread is in.
	struct Call {
		bool is_known = false;
		std::uint8_t abi = 0; // EDC_ABI_*
		std::uint16_t id = 0;
	};

	// What is known about a thread.
	struct Info {
		char text[62] = {}; // its name, which may be empty; truncated
		std::uint8_t length = 0;
		bool is_named = false;
		bool plain = false;  // can be printed without quotes
		bool hidden = false; // the kernel hides this thread from the probes
		std::int64_t process = unknown;
		Call call;
		std::uint32_t gaps_before_call = 0; // gaps_ when its call became known

		std::string_view view() const { return {text, length}; }
	};

	explicit Threads(const Trace &trace);
	// For events without a trace. `has_all_calls`: no filter left out entries or exits.
	Threads(const Description &description, bool has_all_calls);
	// Adds a stream; its index is the next one.
	void add_stream(const StreamInfo &info);
	// The description has new classes.
	void add_classes(const Description &description);

	// The thread that runs where the event was posted, or unknown; always unknown for the recorder's own events.
	std::int64_t before(const Event &event)
	{
		const Role &role = roles_[event.cls->index];
		Running &running = running_[cpu_slot_[event.stream->index]];
		if (role.kind == EventRole::context)
			return role.first_pid.get<std::int32_t>(event);
		if (event.stream->is_recorder())
			return unknown;
		if (event.stream->is_user())
			return before_user(event, role);
		if (role.kind == EventRole::sched_switch || role.kind == EventRole::runs) {
			running = {role.first_pid.get<std::int32_t>(event), false, true};
		} else if (event.opens_packet() && !running.is_sure && role.kind != EventRole::in_switch) {
			running = {event.packet_tid(), false, false};
		} else if (running.hidden && role.kind >= EventRole::of_running) {
			running = {}; // its switch-out was not seen
		}
		return running.tid;
	}

	void after(const Event &event)
	{
		const Role &role = roles_[event.cls->index];
		if (role.kind == EventRole::enters || role.kind == EventRole::leaves)
			follow_call(event, role);
		else if (role.kind != EventRole::none && role.kind != EventRole::of_running &&
			 role.kind != EventRole::in_switch)
			learn(event, role);
	}

	void gap(const StreamInfo &stream)
	{
		if (stream.is_user())
			return;
		running_[cpu_slot_[stream.index]] = {};
		++gaps_;
	}

	// For a reader that starts in the middle (answers/statistics/partitions.h): sets state that only earlier events
	// report.
	void hide(std::int64_t tid, std::uint32_t machine)
	{
		if (Info *info = find_or_add(tid, machine))
			info->hidden = true;
	}
	// Keeps hidden threads and their processes.
	void forget_names();
	// Whether generic CTF events rely on an earlier switch, which may be long ago, to identify their thread.
	bool relies_on_switches() const { return relies_on_switches_; }

	// nullptr: no token named this thread.
	const Info *name(std::int64_t pid, std::uint32_t machine) const
	{
		const Info *known = find(pid, machine);
		return known && known->is_named ? known : nullptr;
	}
	// The process that a thread belongs to, or unknown.
	std::int64_t process(std::int64_t pid, std::uint32_t machine) const
	{
		const Info *known = find(pid, machine);
		return known ? known->process : unknown;
	}
	// The thread's call, or unknown; at an exit, before after(), the call that it ends.
	Call call(std::int64_t pid, std::uint32_t machine) const
	{
		const Info *known = find(pid, machine);
		return known && known->gaps_before_call == gaps_ ? known->call : Call();
	}
	// The number of known threads, named or not.
	std::size_t count() const { return names_.size(); }

	// Calls visit(machine, pid, name) for every thread that has one.
	template <class Visit> void visit_names(Visit &&visit) const
	{
		for (std::size_t number = 0; number < pages_.size(); ++number)
			for (std::size_t i = 0; pages_[number] && i < page_size; ++i)
				if (const std::uint32_t name = pages_[number][i]; name && names_[name - 1]->is_named)
					visit(static_cast<std::uint32_t>((number * page_size + i) / pid_limit),
					      static_cast<std::int64_t>((number * page_size + i) % pid_limit),
					      names_[name - 1]->view());
	}

private:
	enum class EventRole : std::uint8_t {
		none,
		sched_switch,
		runs,
		name,
		creation,
		exec,
		state,
		in_switch,
		writer,
		context,
		of_running, // this and the following are posted only by the running thread
		enters,
		leaves
	};
	struct Role {
		EventRole kind = EventRole::none;
		// first_pid: the thread that the event is about; second_pid: the other one of a switch or an exec.
		FieldRef first_pid, second_pid, process, name, cpu, flags, program;
		FieldRef call, abi; // of an entry
	};

	struct Running {
		std::int64_t tid = unknown;
		bool hidden = false;
		bool is_sure = false; // known from a switch to a visible thread, so packet headers are not needed
	};

	static constexpr std::int64_t pid_limit = 1 << 22; // exclusive; the kernel's PID_MAX_LIMIT
	static constexpr std::size_t page_size = 4096, pages_of_machine = pid_limit / page_size;

	static std::size_t index_of(std::int64_t pid, std::uint32_t machine)
	{
		return static_cast<std::size_t>(machine) * pid_limit + static_cast<std::size_t>(pid);
	}
	// Also finds hidden threads without a name.
	const Info *find(std::int64_t pid, std::uint32_t machine) const
	{
		if (pid < 0 || pid >= pid_limit)
			return nullptr;
		const auto index = index_of(pid, machine);
		const auto &page = pages_[index / page_size];
		const std::uint32_t number = page ? page[index % page_size] : 0;
		return number ? names_[number - 1].get() : nullptr;
	}
	std::int64_t before_user(const Event &event, const Role &role);
	static std::vector<Role> roles_of(const Description &description);
	static Role role_of_token(const EventClass &cls);
	static Role role_of_generic_ctf(const EventClass &cls);
	void learn(const Event &event, const Role &role);
	void follow_call(const Event &event, const Role &role);
	void set_call(std::int64_t pid, std::uint32_t machine, const Call &call);
	void add_machines(std::size_t count);                                  // adds machines up to this number
	std::size_t find_slot(std::uint32_t machine, std::uint32_t cpu) const; // slots_.size(): not found
	Info *find_or_add(std::int64_t pid, std::uint32_t machine);            // nullptr: pid out of range
	void learn_name(std::int64_t pid, const Event &event, const Role &role);
	void set_name(std::int64_t pid, std::uint32_t machine, std::string_view text);
	void set_process(std::int64_t pid, std::uint32_t machine, std::int64_t process);

	std::shared_ptr<const std::vector<Role>> all_roles_;
	const Role *roles_;                                          // by class index
	std::vector<std::size_t> cpu_slot_;                          // by stream index
	std::vector<std::pair<std::uint32_t, std::uint32_t>> slots_; // machine and CPU of each slot
	std::vector<Running> running_;                               // by slot
	std::vector<std::int64_t> writer_;                           // of user streams, by stream index
	std::vector<std::shared_ptr<std::uint32_t[]>> pages_;        // index of a name + 1, by machine and pid
	std::vector<std::shared_ptr<Info>> names_;
	std::uint32_t gaps_ = 0; // number of gaps so far
	bool relies_on_switches_ = false;
	bool has_all_calls_ = false;
};

} // namespace monitor::trace
