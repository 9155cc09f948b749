// SPDX-License-Identifier: MIT
// The field classes of a CTF 2 description: what each kind of JSON object means.
//
// An alias is copied at each use, as in CTF 1.8 (types.h), and a location is resolved there (json_slots.h). Throws
// ParseError for what CTF 2 does not define; section 5 of https://diamon.org/ctf/. Invariant: the result has
// FieldClass's invariants, except for the slots.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "field_class.h"
#include "json_sequence.h"

namespace monitor::trace {

// What a field means to the reader; FieldClass::roles has a bit for each.
enum class Role : std::uint8_t {
	packet_magic_number,
	metadata_stream_uuid,
	data_stream_class_id,
	data_stream_id,
	packet_total_length,
	packet_content_length,
	default_clock_timestamp,
	packet_end_default_clock_timestamp,
	discarded_event_record_counter_snapshot,
	packet_sequence_number,
	event_record_class_id,
};

constexpr std::uint16_t role_bit(Role role)
{
	return static_cast<std::uint16_t>(1u << static_cast<unsigned>(role));
}

class JsonTypes {
public:
	// Later types may refer to this name.
	void add_alias(const json::Node &name, const json::Node &type);
	FieldClass make(const json::Node &node);

private:
	FieldClass make_object(const json::Node &node);
	FieldClass structure(const json::Node &node);
	FieldClass array(const json::Node &node, bool is_static);
	FieldClass optional(const json::Node &node);
	FieldClass variant(const json::Node &node);
	const FieldClass &count_nodes(const FieldClass &made, const json::Node &node);

	std::map<std::string, FieldClass, std::less<>> aliases_;
	std::size_t nodes_ = 0;
};

// Checks the members that any object may have: `attributes` are user-defined; refuses `extensions`, which would change
// the meaning.
void check_common_members(const json::Node &node);

} // namespace monitor::trace
