// SPDX-License-Identifier: MIT
#include "token_layout.h"

#include <algorithm>
#include <span>

#include "monitor/ring.h"
#include "monitor/token.h"

namespace monitor::trace {
namespace {

using FieldClassKind = FieldClass::Kind;

constexpr std::uint32_t token_bits = 64;
constexpr std::uint32_t payload_from = EDC_MODE_SHIFT + 1; // the first bit after the header and context of a token

// One field of the layouts that include/monitor defines. `count` is 0 if it is not an array.
struct ExpectedField {
	const char *name;
	std::uint64_t offset_bits, size_bits, count;
	bool is_time;
};

constexpr ExpectedField in_bits(const char *name, std::size_t offset_bytes, std::size_t size_bytes, std::size_t count,
				bool is_time)
{
	return {name, offset_bytes * 8, size_bytes * 8 / (count ? count : 1), count, is_time};
}
#define BLOCK_FIELD(field, count, is_time) \
	in_bits(#field, offsetof(edc_block, field), sizeof(edc_block::field), count, is_time)
constexpr ExpectedField packet_header[] = {BLOCK_FIELD(magic, 0, false), BLOCK_FIELD(uuid, 16, false),
					   BLOCK_FIELD(stream_id, 0, false), BLOCK_FIELD(stream_instance_id, 0, false)};
constexpr ExpectedField packet_context[] = {BLOCK_FIELD(timestamp_begin, 0, true),
					    BLOCK_FIELD(timestamp_end, 0, true),
					    BLOCK_FIELD(content_size, 0, false),
					    BLOCK_FIELD(packet_size, 0, false),
					    BLOCK_FIELD(packet_seq_num, 0, false),
					    BLOCK_FIELD(events_discarded, 0, false),
					    BLOCK_FIELD(cpu_id, 0, false),
					    BLOCK_FIELD(level, 0, false),
					    BLOCK_FIELD(tid, 0, false),
					    BLOCK_FIELD(process, 0, false)};
#undef BLOCK_FIELD
constexpr ExpectedField event_header[] = {{"id", 0, EDC_ID_BITS, 0, false}, {"timestamp", EDC_TIME_SHIFT, 32, 0, true}};
constexpr ExpectedField event_context[] = {{"mode", EDC_MODE_SHIFT, 1, 0, false}};

bool has_fields(const FieldClass &structure, std::span<const ExpectedField> expected, std::uint64_t at_bits)
{
	if (structure.members.size() != expected.size())
		return false;
	for (std::size_t i = 0; i < expected.size(); ++i) {
		const auto &[name, type, position, tags] = structure.members[i];
		at_bits = aligned(at_bits, type.align_bits);
		const FieldClass &one = type.kind == FieldClassKind::array ? type.element.front() : type;
		const std::uint64_t count = type.kind == FieldClassKind::array ? type.length : 0;
		if (name != expected[i].name || at_bits != expected[i].offset_bits ||
		    one.kind != FieldClassKind::integer || one.is_signed || one.big_endian ||
		    one.size_bits != expected[i].size_bits || count != expected[i].count ||
		    (one.clock >= 0) != expected[i].is_time)
			return false;
		at_bits += type.fixed_bits;
	}
	return true;
}

bool is_token_field(const FieldClass &type, std::uint64_t at_bits)
{
	if (type.kind == FieldClassKind::array)
		return type.is_text && type.length > 0 && at_bits % 8 == 0;
	return type.kind == FieldClassKind::integer && !type.big_endian && type.clock < 0 &&
	       at_bits % 8 + type.size_bits <= 64;
}

bool is_token(const EventClass &cls)
{
	if (cls.id == 0 || cls.id >= Description::max_tokens || !cls.context.members.empty())
		return false;
	std::uint64_t at_bits = aligned(payload_from, cls.payload.align_bits);
	for (const auto &[name, type, position, tags] : cls.payload.members) {
		at_bits = aligned(at_bits, type.align_bits);
		if (!is_token_field(type, at_bits))
			return false;
		at_bits += type.fixed_bits;
	}
	return at_bits <= (1 + EDC_MAX_WORDS) * token_bits;
}

Domain domain_of(std::uint64_t id)
{
	return id < EDC_ID_KERNEL_FIRST ? Domain::recording : id < EDC_ID_USER_FIRST ? Domain::kernel : Domain::user;
}

} // namespace

bool is_token_layout(const Layout &layout, const std::vector<std::shared_ptr<EventClass>> &classes)
{
	if (layout.streams.size() != 1 || !has_fields(layout.packet_header, packet_header, 0))
		return false;
	const StreamClass &stream = *layout.streams.front();
	return stream.id == 0 && stream.event_header.align_bits == token_bits &&
	       has_fields(stream.packet_context, packet_context, offsetof(edc_block, timestamp_begin) * 8) &&
	       has_fields(stream.event_header, event_header, 0) &&
	       has_fields(stream.event_context, event_context, payload_from - 1) &&
	       std::ranges::all_of(classes, [](const auto &cls) { return is_token(*cls); });
}

namespace {

// As in any CTF, removes the leading underscore that keeps names of programs and counters apart from keywords.
std::string shown_name(const std::string &name)
{
	return name.size() > 1 && name.front() == '_' ? name.substr(1) : name;
}

} // namespace

EventClass token_class(const EventClass &described)
{
	EventClass made;
	made.id = described.id;
	made.name = described.name;
	made.domain = domain_of(described.id);
	std::uint64_t at_bits = aligned(payload_from, described.payload.align_bits);
	for (const auto &[name, type, position, tags] : described.payload.members) {
		at_bits = aligned(at_bits, type.align_bits);
		Field field;
		field.name = shown_name(name);
		field.kind = type.kind == FieldClassKind::array ? FieldKind::text
			     : type.is_signed                   ? FieldKind::signed_integer
								: FieldKind::unsigned_integer;
		field.base = type.base;
		field.offset_bits = static_cast<std::uint32_t>(at_bits);
		field.size_bits = static_cast<std::uint32_t>(type.fixed_bits);
		field.labels = type.labels;
		made.fields.push_back(std::move(field));
		at_bits += type.fixed_bits;
	}
	made.size_bytes = static_cast<std::uint32_t>(aligned(at_bits, token_bits) / 8);
	return made;
}

} // namespace monitor::trace
