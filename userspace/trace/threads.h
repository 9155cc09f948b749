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
		bool plain = false; // needs no quotes

		std::string_view view() const { return {text, length}; }
	};

	static constexpr std::int64_t unknown = -1;

	explicit Threads(const Trace &trace);

	// The thread that runs where the event was posted, or unknown; always unknown for the recorder's own events.
	std::int64_t before(const Event &event)
	{
		const Role &role = roles_[event.cls->id];
		std::int64_t &running = running_[cpu_slot_[event.stream->index]];
		if (event.stream->is_recorder())
			return unknown;
		if (role.kind == Kind::sched_switch)
			running = role.first_pid.get<std::int32_t>(event);
		else if (running == unknown && event.opens_packet())
			running = event.packet_tid();
		return running;
	}

	void after(const Event &event)
	{
		if (roles_[event.cls->id].kind != Kind::none)
			learn(event, roles_[event.cls->id]);
	}

	void gap(const StreamInfo &stream) { running_[cpu_slot_[stream.index]] = unknown; }

	// nullptr: no token named this thread.
	const Name *name(std::int64_t pid) const
	{
		if (pid < 0 || pid >= max_pid)
			return nullptr;
		const auto &page = pages_[static_cast<std::size_t>(pid) / page_size];
		const std::uint32_t number = page ? page[static_cast<std::size_t>(pid) % page_size] : 0;
		return number ? &names_[number - 1] : nullptr;
	}

private:
	enum class Kind : std::uint8_t { none, sched_switch, name, exec, state };
	struct Role {
		Kind kind = Kind::none;
		FieldRef first_pid, second_pid, name, cpu, flags;
	};

	static constexpr std::int64_t max_pid = 1 << 22; // the kernel's own limit
	static constexpr std::size_t page_size = 4096;

	void assign_roles(const Description &description);
	void learn(const Event &event, const Role &role);
	void set_name(std::int64_t pid, std::string_view text);

	std::vector<Role> roles_;                             // by class id
	std::vector<std::size_t> cpu_slot_;                   // by stream index
	std::vector<std::uint32_t> slot_cpu_;                 // by slot
	std::vector<std::int64_t> running_;                   // by slot
	std::vector<std::unique_ptr<std::uint32_t[]>> pages_; // number of a name + 1, by pid
	std::deque<Name> names_;
};

} // namespace monitor::trace
