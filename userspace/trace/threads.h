// SPDX-License-Identifier: MIT
// Who runs where, and what the threads are called, as far as the tokens tell.
//
// The protocol (protocol.h) lets every event pass through: before() tells who posted it, after() learns from it. Names
// come from the tokens that carry a comm, the running thread from sched_switch, after a gap from the packet's tid. One
// thread. Invariant: what no token told is unknown; a gap makes the running thread of its CPU unknown.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "event.h"
#include "trace.h"

namespace monitor::trace {

class Threads {
public:
	struct Name {
		char text[62] = {};
		std::uint8_t length = 0;
		bool plain = false;  // needs no quotes
		bool hidden = false; // the kernel hides this thread from the probes

		std::string_view view() const { return {text, length}; }
	};

	static constexpr std::int64_t unknown = -1;

	explicit Threads(const Trace &trace);

	// The thread that runs where the event was posted, or unknown; always unknown for the recorder's own events.
	std::int64_t before(const Event &event)
	{
		const Role &role = roles_[event.cls->id];
		Running &running = running_[cpu_slot_[event.stream->index]];
		if (event.stream->is_recorder())
			return unknown;
		if (event.stream->is_user())
			return before_user(event, role);
		if (role.kind == Kind::sched_switch) {
			running = {role.first_pid.get<std::int32_t>(event), false};
		} else {
			if (running.hidden && (role.kind == Kind::of_running || event.opens_packet()))
				running = {unknown, false}; // its way out was not seen
			if (running.tid == unknown && event.opens_packet())
				running.tid = event.packet_tid();
		}
		return running.tid;
	}

	void after(const Event &event)
	{
		if (roles_[event.cls->id].kind != Kind::none && roles_[event.cls->id].kind != Kind::of_running)
			learn(event, roles_[event.cls->id]);
	}

	void gap(const StreamInfo &stream)
	{
		if (!stream.is_user())
			running_[cpu_slot_[stream.index]] = {};
	}

	// nullptr: no token named this thread.
	const Name *name(std::int64_t pid) const
	{
		if (pid < 0 || pid >= max_pid)
			return nullptr;
		const auto &page = pages_[static_cast<std::size_t>(pid) / page_size];
		const std::uint32_t number = page ? page[static_cast<std::size_t>(pid) % page_size] : 0;
		return number && names_[number - 1].length ? &names_[number - 1] : nullptr;
	}

private:
	enum class Kind : std::uint8_t { none, sched_switch, name, exec, state, of_running, writer };
	struct Role {
		Kind kind = Kind::none;
		FieldRef first_pid, second_pid, name, cpu, flags;
	};

	struct Running {
		std::int64_t tid = unknown;
		bool hidden = false;
	};

	static constexpr std::int64_t max_pid = 1 << 22; // the kernel's own limit
	static constexpr std::size_t page_size = 4096;

	std::int64_t before_user(const Event &event, const Role &role);
	void assign_roles(const Description &description);
	void learn(const Event &event, const Role &role);
	Name *name_of(std::int64_t pid); // makes it; nullptr: there is no such pid
	void set_name(std::int64_t pid, std::string_view text);

	std::vector<Role> roles_;                             // by class id
	std::vector<std::size_t> cpu_slot_;                   // by stream index
	std::vector<std::uint32_t> slot_cpu_;                 // by slot
	std::vector<Running> running_;                        // by slot
	std::vector<std::int64_t> writer_;                    // of user streams, by stream index
	std::vector<std::unique_ptr<std::uint32_t[]>> pages_; // number of a name + 1, by pid
	std::deque<Name> names_;
};

} // namespace monitor::trace
