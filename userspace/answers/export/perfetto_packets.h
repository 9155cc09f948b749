// SPDX-License-Identifier: MIT
// Packets of a Perfetto trace, and the numbers of their fields.
// Each packet is built in a reused string, framed, and appended to the output.
#pragma once

#include <cstdint>
#include <string>

#include <protozero/pbf_writer.hpp>

#include "output.h"
#include "reading/ctf/clock.h"

namespace monitor::exporting::perfetto {

using protozero::pbf_writer;
using Tag = protozero::pbf_tag_type;

// Clocks, as Perfetto numbers them.
enum class ClockId : std::uint32_t { realtime = 1, monotonic = 3, monotonic_raw = 5 };
// The packets of a sequence have one writer.
enum class Sequence : std::uint32_t { ftrace = 1, tracks = 2 };

// Field numbers of the packet.
inline constexpr Tag packet_ftrace = 1, packet_process_tree = 2, packet_clocks = 6, packet_time = 8,
		     packet_sequence = 10, packet_track_event = 11, packet_config = 33, packet_ftrace_stats = 34,
		     packet_system = 45, packet_clock_id = 58, packet_track = 60;

class PacketStream {
public:
	PacketStream(Output &output, const trace::Clock &clock) : output_(output), clock_(clock) {}

	// Calls fill(pbf_writer &) for the packet's fields.
	template <class Fill> void packet(Sequence sequence, Fill &&fill)
	{
		body_.clear();
		pbf_writer body(body_);
		fill(body);
		body.add_uint32(packet_sequence, static_cast<std::uint32_t>(sequence));
		write_body();
	}
	// The same with a time.
	template <class Fill> void packet_at(std::uint64_t time, Sequence sequence, Fill &&fill)
	{
		packet(sequence, [&](pbf_writer &body) {
			body.add_uint64(packet_time, ns(time));
			body.add_uint32(packet_clock_id, static_cast<std::uint32_t>(ClockId::monotonic_raw));
			fill(body);
		});
	}

	// Appends encoded fields to the current message.
	void append(std::string_view fields) { body_ += fields; }

	std::uint64_t ns(std::uint64_t time) const { return clock_.to_ns(time); }

private:
	void write_body();

	Output &output_;
	const trace::Clock &clock_;
	std::string head_, body_;
};

// Converts to UTF-8, as names may be any bytes.
std::string utf8(std::string_view text);

} // namespace monitor::exporting::perfetto
