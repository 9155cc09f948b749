// SPDX-License-Identifier: MIT
#include "perfetto_packets.h"

#include "base/escape.h"

namespace monitor::exporting::perfetto {

void PacketStream::write_body()
{
	constexpr Tag trace_packet = 1;
	head_.clear();
	protozero::add_varint_to_buffer(
	    &head_, protozero::tag_and_type(trace_packet, protozero::pbf_wire_type::length_delimited));
	protozero::add_varint_to_buffer(&head_, body_.size());
	output_.append(head_);
	output_.append(body_);
}

std::string utf8(std::string_view text)
{
	return is_utf8(text) ? std::string(text) : printable(text);
}

} // namespace monitor::exporting::perfetto
