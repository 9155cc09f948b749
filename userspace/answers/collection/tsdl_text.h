// SPDX-License-Identifier: MIT
// The TSDL description of a converted TDL file: one clock, one stream, and an event class for each record.
//
// EventBits (event_bits.h) writes the fields of a class as described here: both walk the same tree in the same order.
// PacketWriter (packet_writer.h) writes packets and event headers as described here. Everything is little endian and
// starts with whole bytes. Names start with an underscore, which readers drop: so no name is a keyword. A list of
// variable length is preceded by its length, as _NAME_length. CTF has no fields that only some events of a class have.
// So there is a class for every combination of them that occurs (a shape); in repeated structures, and if there would
// be too many shapes, such a field is a list of one or none.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "reading/ctf/description.h"

namespace monitor::collection {

// Which optional fields of a class are present.
struct Shape {
	bool is_open = false; // each optional field is a list of one or none
	std::string present;  // else '1' or '0' for each, in the order of the walk; fields beyond its end are present
};

class TsdlText {
public:
	using Env = std::vector<std::pair<std::string, std::string>>;

	TsdlText(const trace::Clock &clock, const Uuid &uuid, const Env &env, bool has_cpu);

	void add_event(std::uint32_t id, const trace::EventClass &cls, const Shape &shape);
	std::size_t size_bytes() const { return head_.size() + types_.size() + events_.size(); }
	std::string text() const { return head_ + types_ + events_; }

private:
	// Of one structure. `present`: the rest of the shape's; nullptr: it is open.
	std::string structure(const trace::FieldClass &type, const char **present, std::size_t depth);
	std::string member(const trace::Member &member, const std::string &name, std::set<std::string> &taken,
			   const char **present, std::size_t depth);
	std::string type_name(const trace::FieldClass &type, const char **present, std::size_t depth);
	std::string enumeration(const trace::FieldClass &type);

	std::string head_, types_, events_;
	std::map<std::tuple<const trace::Enumeration *, std::uint32_t, bool, unsigned>, std::string> enumerations_;
};

// A list that is not a text.
inline bool is_list(const trace::FieldClass &type)
{
	using FieldClassKind = trace::FieldClass::Kind;
	return (type.kind == FieldClassKind::array || type.kind == FieldClassKind::sequence) && !type.is_text;
}

} // namespace monitor::collection
