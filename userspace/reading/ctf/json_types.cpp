// SPDX-License-Identifier: MIT
#include "json_types.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <utility>

#include "types.h"

namespace monitor::trace {
namespace {

using json::Node;
using FieldClassKind = FieldClass::Kind;
using JsonKind = json::Value::Kind;

constexpr std::uint64_t register_bits = 64;
constexpr std::uint64_t max_number = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t max_signed = std::numeric_limits<std::int64_t>::max();

std::uint32_t alignment(const Node &node, std::string_view name)
{
	const auto found = node.find(name);
	const std::uint64_t align_bits = found ? found->number(1) : 1;
	if (!std::has_single_bit(align_bits))
		found->refuse("an alignment must be a power of two");
	if (align_bits > max_align_bits)
		found->refuse("an alignment of more than 4096 bits is not supported");
	return static_cast<std::uint32_t>(align_bits);
}

std::uint16_t roles_of(const Node &node)
{
	std::uint16_t roles = 0;
	const auto list = node.find("roles", JsonKind::list);
	if (!list)
		return roles;
	for (const Node &role : list->elements())
		roles |= static_cast<std::uint16_t>(
		    1u << role.one_of({"packet-magic-number", "metadata-stream-uuid", "data-stream-class-id",
				       "data-stream-id", "packet-total-length", "packet-content-length",
				       "default-clock-timestamp", "packet-end-default-clock-timestamp",
				       "discarded-event-record-counter-snapshot", "packet-sequence-number",
				       "event-record-class-id"}));
	return roles;
}

std::uint64_t bound(const Node &node)
{
	node.expect(JsonKind::integer);
	return node.value().number;
}

bool runs_backwards(const Node &first, const Node &last)
{
	const json::Value &a = first.value(), &b = last.value();
	return a.is_negative != b.is_negative ? b.is_negative : b.number < a.number;
}

// [[first, last], ...], not empty; negative numbers are in two's complement.
std::vector<LabelRange> ranges_of(const Node &list, Reference &reference)
{
	std::vector<LabelRange> made;
	list.expect(JsonKind::list);
	for (const Node &range : list.elements()) {
		range.expect(JsonKind::list);
		if (range.size() != 2)
			range.refuse("expected the first and the last value of a range");
		const Node first = range.element(0), last = range.element(1);
		made.push_back({bound(first), bound(last)});
		if (runs_backwards(first, last))
			range.refuse("a range runs backwards");
		reference.has_negative |= first.value().is_negative;
		reference.has_large |= !last.value().is_negative && last.value().number > max_signed;
	}
	if (made.empty())
		list.refuse("expected at least one range");
	return made;
}

// Merges ranges that overlap, as a value needs one name only.
std::vector<LabelRange> merged(std::vector<LabelRange> ranges, bool is_signed)
{
	const auto key = [&](std::uint64_t value) { return is_signed ? value ^ (max_signed + 1) : value; };
	std::ranges::sort(ranges, {}, [&](const LabelRange &range) { return key(range.first); });
	std::vector<LabelRange> made;
	for (const LabelRange &range : ranges) {
		if (made.empty() || key(range.first) > key(made.back().last))
			made.push_back(range);
		else if (key(range.last) > key(made.back().last))
			made.back().last = range.last;
	}
	return made;
}

// The names of an integer's values.
std::shared_ptr<const Enumeration> mappings(const Node &node, const FieldClass &integer)
{
	std::vector<Enumeration::Label> labels;
	const auto named = node.find("mappings", JsonKind::object);
	if (!named)
		return nullptr;
	for (const Node &ranges : named->elements()) {
		Reference reference;
		for (const LabelRange &range : merged(ranges_of(ranges, reference), integer.is_signed))
			labels.push_back({range.first, range.last, ranges.name()});
		if (integer.is_signed ? reference.has_large : reference.has_negative)
			ranges.refuse("a range is outside of what the integer can be");
	}
	if (labels.empty())
		return nullptr;
	auto made = std::make_shared<const Enumeration>(std::move(labels), integer.is_signed);
	if (!made->ok())
		named->refuse("too many ranges overlap");
	return made;
}

std::shared_ptr<const std::vector<Flag>> flags_of(const Node &node, std::uint32_t size_bits)
{
	auto made = std::make_shared<std::vector<Flag>>();
	const Node named = node.at("flags");
	named.expect(JsonKind::object);
	for (const Node &ranges : named.elements()) {
		Reference reference;
		Flag flag{ranges.name(), 0};
		for (const LabelRange &range : ranges_of(ranges, reference)) {
			if (reference.has_negative || range.first >= size_bits)
				ranges.refuse("the bits of a flag are numbered from 0 to " +
					      std::to_string(size_bits - 1));
			const std::uint64_t last = std::min<std::uint64_t>(range.last, size_bits - 1);
			flag.bits |= max_number >> (63 - (last - range.first)) << range.first;
		}
		made->push_back(std::move(flag));
	}
	if (made->empty())
		named.refuse("expected at least one flag");
	return made;
}

std::uint8_t base_of(const Node &node)
{
	const auto base = node.find("preferred-display-base");
	if (!base)
		return 10;
	const std::uint64_t number = base->number();
	if (number != 2 && number != 8 && number != 10 && number != 16)
		base->refuse("expected 2, 8, 10 or 16");
	return static_cast<std::uint8_t>(number);
}

enum class Bits : std::uint8_t { array, map, boolean, integer, real };

// Common to fields with a fixed number of bits. `more`: other members that this one may have.
FieldClass fixed_length(const Node &node, Bits meaning, std::initializer_list<std::string_view> more = {})
{
	node.expect_only({"type", "attributes", "extensions", "length", "byte-order", "bit-order", "alignment"}, more);
	FieldClass made;
	const bool may_be_wide = meaning == Bits::array || meaning == Bits::integer;
	const Node length = node.at("length");
	made.size_bits = static_cast<std::uint32_t>(length.number(1, std::numeric_limits<std::uint32_t>::max()));
	if (made.size_bits > (may_be_wide ? max_integer_bits : register_bits))
		length.refuse(std::string("more than ") + (may_be_wide ? "4096" : "64") +
			      " bits are not supported here");
	made.align_bits = alignment(node, "alignment");
	made.big_endian = node.at("byte-order").one_of({"little-endian", "big-endian"}) == 1;
	if (const auto order = node.find("bit-order"))
		made.is_reversed = (order->one_of({"first-to-last", "last-to-first"}) == 1) != made.big_endian;
	if (made.is_reversed && made.size_bits > register_bits)
		length.refuse("more than 64 bits in this bit order are not supported");
	return made;
}

constexpr const char *wide_refusal = "an integer of more than 64 bits can have no role and no names";

FieldClass bit_array(const Node &node)
{
	FieldClass made = fixed_length(node, Bits::array);
	made.base = 16;
	return made.size_bits > register_bits ? wide_integer(std::move(made)) : made;
}

FieldClass bit_map(const Node &node)
{
	FieldClass made = fixed_length(node, Bits::map, {"flags"});
	made.base = 16;
	made.flags = flags_of(node, made.size_bits);
	return made;
}

FieldClass boolean(const Node &node)
{
	static const auto words = std::make_shared<const Enumeration>(
	    std::vector<Enumeration::Label>{{0, 0, "false"}, {1, max_number, "true"}}, false);
	FieldClass made = fixed_length(node, Bits::boolean);
	made.labels = words;
	made.is_boolean = true;
	return made;
}

FieldClass real(const Node &node)
{
	FieldClass made = fixed_length(node, Bits::real);
	if (made.size_bits != 16 && made.size_bits != 32 && made.size_bits != 64)
		node.at("length").refuse("only floating-point numbers of 16, 32 and 64 bits are supported");
	made.kind = FieldClassKind::floating_point;
	return made;
}

FieldClass fixed_integer(const Node &node, bool is_signed)
{
	FieldClass made = is_signed
			      ? fixed_length(node, Bits::integer, {"preferred-display-base", "mappings"})
			      : fixed_length(node, Bits::integer, {"preferred-display-base", "mappings", "roles"});
	made.is_signed = is_signed;
	made.base = base_of(node);
	made.labels = mappings(node, made);
	made.roles = is_signed ? std::uint16_t(0) : roles_of(node);
	if (made.size_bits <= register_bits)
		return made;
	if (made.roles || made.labels)
		node.refuse(wide_refusal);
	return wide_integer(std::move(made));
}

FieldClass variable_integer(const Node &node, bool is_signed)
{
	if (is_signed)
		node.expect_only({"type", "attributes", "extensions", "preferred-display-base", "mappings"});
	else
		node.expect_only({"type", "attributes", "extensions", "preferred-display-base", "mappings", "roles"});
	FieldClass made;
	made.kind = FieldClassKind::varint;
	made.align_bits = 8;
	made.size_bits = register_bits;
	made.is_signed = is_signed;
	made.base = base_of(node);
	made.labels = mappings(node, made);
	made.roles = is_signed ? std::uint16_t(0) : roles_of(node);
	return made;
}

Encoding encoding_of(const Node &node)
{
	const auto encoding = node.find("encoding");
	return encoding
		   ? static_cast<Encoding>(encoding->one_of({"utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"}))
		   : Encoding::utf8;
}

FieldClass terminated_string(const Node &node)
{
	node.expect_only({"type", "attributes", "extensions", "encoding"});
	FieldClass made;
	made.kind = FieldClassKind::string;
	made.align_bits = 8;
	made.is_text = true;
	made.encoding = encoding_of(node);
	return made;
}

std::shared_ptr<Reference> location(const Node &node)
{
	auto made = std::make_shared<Reference>();
	made->position = node.position();
	node.expect_only({"origin", "path"});
	if (const auto origin = node.find("origin"))
		made->scope = static_cast<std::int8_t>(origin->one_of(
		    {"packet-header", "packet-context", "event-record-header", "event-record-common-context",
		     "event-record-specific-context", "event-record-payload"}));
	const Node path = node.at("path");
	path.expect(JsonKind::list);
	for (std::size_t i = 0; i < path.size(); ++i) {
		const Node step = path.element(i);
		const bool is_up = step.value().kind == JsonKind::null;
		made->path += (i > 0 ? "." : "") + (is_up ? std::string("..") : step.text());
		if (!is_up)
			made->steps.emplace_back(step.text());
		else if (made->steps.empty() || !made->steps.back())
			made->steps.emplace_back(std::nullopt);
		else
			made->steps.pop_back();
	}
	if (made->steps.empty() || !made->steps.back() || path.element(path.size() - 1).value().kind == JsonKind::null)
		path.refuse("expected the names that lead to a field");
	if (made->scope >= 0 && !made->steps.front())
		path.refuse("a path from an origin cannot lead to what is around that");
	return made;
}

// Bytes; their number is `length`, or a field's value.
FieldClass bytes(const Node &node, bool is_static)
{
	FieldClass made, byte;
	byte.size_bits = byte.align_bits = 8;
	made.kind = is_static ? FieldClassKind::array : FieldClassKind::sequence;
	made.align_bits = 8;
	if (is_static)
		made.length = node.at("length").number(0, max_fixed_bits / 8);
	else
		made.reference = location(node.at("length-field-location"));
	made.element.push_back(std::move(byte));
	return made;
}

FieldClass counted_string(const Node &node, bool is_static)
{
	node.expect_only(
	    {"type", "attributes", "extensions", "encoding", is_static ? "length" : "length-field-location"});
	FieldClass made = bytes(node, is_static);
	made.is_text = made.element.front().is_text = true;
	made.encoding = encoding_of(node);
	return made;
}

FieldClass blob(const Node &node, bool is_static)
{
	if (is_static)
		node.expect_only({"type", "attributes", "extensions", "media-type", "length", "roles"});
	else
		node.expect_only({"type", "attributes", "extensions", "media-type", "length-field-location"});
	if (const auto type = node.find("media-type"))
		type->text();
	FieldClass made = bytes(node, is_static);
	made.element.front().base = 16;
	made.roles = is_static ? roles_of(node) : std::uint16_t(0);
	if (made.roles & ~role_bit(Role::metadata_stream_uuid))
		node.at("roles").refuse("bytes can only have the role metadata-stream-uuid");
	if (made.roles && made.length != 16)
		node.at("length").refuse("a uuid has 16 bytes");
	return made;
}

} // namespace

void check_common_members(const Node &node)
{
	if (const auto attributes = node.find("attributes"))
		attributes->expect(JsonKind::object);
	const auto extensions = node.find("extensions", JsonKind::object);
	if (!extensions || extensions->size() == 0)
		return;
	const Node owner = extensions->element(0);
	std::string name = extensions->value().names.front();
	if (owner.value().kind == JsonKind::object && owner.size() > 0)
		name += ' ' + owner.value().names.front();
	extensions->refuse("the trace uses the extension " + name +
			   ", which changes its meaning and is not known to this version");
}

const FieldClass &JsonTypes::count_nodes(const FieldClass &made, const Node &node)
{
	nodes_ += made.nodes();
	if (nodes_ > max_type_nodes)
		node.refuse("the description has too many fields");
	return made;
}

void JsonTypes::add_alias(const Node &name, const Node &type)
{
	if (!aliases_.emplace(name.text(), make(type)).second)
		name.refuse("the field class " + name.text() + " is defined twice");
}

FieldClass JsonTypes::make(const Node &node)
{
	FieldClass made;
	if (node.value().kind == JsonKind::text) {
		const auto found = aliases_.find(node.text());
		if (found == aliases_.end())
			node.refuse("the field class " + node.text() + " is not defined before this one");
		return count_nodes(found->second, node);
	}
	check_common_members(node);
	made = make_object(node);
	++nodes_;
	made.finish();
	if (made.fixed_bits > max_fixed_bits)
		node.refuse("a field is too large");
	return made;
}

FieldClass JsonTypes::make_object(const Node &node)
{
	switch (node.at("type").one_of(
	    {"fixed-length-bit-array", "fixed-length-bit-map", "fixed-length-boolean", "fixed-length-unsigned-integer",
	     "fixed-length-signed-integer", "fixed-length-floating-point-number", "variable-length-unsigned-integer",
	     "variable-length-signed-integer", "null-terminated-string", "static-length-string",
	     "dynamic-length-string", "static-length-blob", "dynamic-length-blob", "structure", "static-length-array",
	     "dynamic-length-array", "optional", "variant"})) {
	case 0:
		return bit_array(node);
	case 1:
		return bit_map(node);
	case 2:
		return boolean(node);
	case 3:
		return fixed_integer(node, false);
	case 4:
		return fixed_integer(node, true);
	case 5:
		return real(node);
	case 6:
		return variable_integer(node, false);
	case 7:
		return variable_integer(node, true);
	case 8:
		return terminated_string(node);
	case 9:
		return counted_string(node, true);
	case 10:
		return counted_string(node, false);
	case 11:
		return blob(node, true);
	case 12:
		return blob(node, false);
	case 13:
		return structure(node);
	case 14:
		return array(node, true);
	case 15:
		return array(node, false);
	case 16:
		return optional(node);
	default:
		return variant(node);
	}
}

FieldClass JsonTypes::structure(const Node &node)
{
	node.expect_only({"type", "attributes", "extensions", "minimum-alignment", "member-classes"});
	FieldClass made;
	made.kind = FieldClassKind::structure;
	made.align_bits = alignment(node, "minimum-alignment");
	const auto list = node.find("member-classes", JsonKind::list);
	if (!list)
		return made;
	std::set<std::string_view> names;
	for (const Node &member : list->elements()) {
		member.expect_only({"name", "field-class", "attributes", "extensions"});
		check_common_members(member);
		const Node name = member.at("name");
		if (!names.insert(name.text()).second)
			name.refuse("the name " + name.text() + " appears twice in a structure");
		made.members.push_back({name.text(), make(member.at("field-class")), node.position(), {}});
		made.align_bits = std::max(made.align_bits, made.members.back().type.align_bits);
	}
	return made;
}

FieldClass JsonTypes::array(const Node &node, bool is_static)
{
	node.expect_only({"type", "attributes", "extensions", "minimum-alignment", "element-field-class",
			  is_static ? "length" : "length-field-location"});
	FieldClass made;
	made.kind = is_static ? FieldClassKind::array : FieldClassKind::sequence;
	made.element.push_back(make(node.at("element-field-class")));
	const FieldClass &element = made.element.front();
	made.align_bits = std::max(alignment(node, "minimum-alignment"), element.align_bits);
	made.base = element.base;
	if (!is_static) {
		made.reference = location(node.at("length-field-location"));
		return made;
	}
	const Node length = node.at("length");
	made.length = length.number();
	if (element.stride() != 0 && made.length > max_fixed_bits / element.stride())
		length.refuse("an array is too large");
	return made;
}

FieldClass JsonTypes::optional(const Node &node)
{
	node.expect_only(
	    {"type", "attributes", "extensions", "selector-field-location", "selector-field-ranges", "field-class"});
	FieldClass made;
	made.kind = FieldClassKind::optional;
	const auto selector = location(node.at("selector-field-location"));
	ValueTest test;
	const auto ranges = node.find("selector-field-ranges");
	selector->has_boolean_tag = !ranges;
	test.values = ranges ? ranges_of(*ranges, *selector) : std::vector<LabelRange>{{1, max_number}};
	made.presence = std::make_shared<std::vector<FieldClass::Presence>>(1, FieldClass::Presence{-1, test});
	made.reference = selector;
	made.element.push_back(make(node.at("field-class")));
	return made;
}

FieldClass JsonTypes::variant(const Node &node)
{
	node.expect_only({"type", "attributes", "extensions", "selector-field-location", "options"});
	FieldClass made;
	made.kind = FieldClassKind::variant;
	const auto selector = location(node.at("selector-field-location"));
	const Node list = node.at("options");
	list.expect(JsonKind::list);
	std::set<std::string> names;
	for (const Node &option : list.elements()) {
		option.expect_only({"name", "field-class", "selector-field-ranges", "attributes", "extensions"});
		check_common_members(option);
		const auto named = option.find("name");
		std::string name =
		    named ? named->text() : std::to_string(made.members.size()); // an option needs no name
		if (!names.insert(name).second)
			option.refuse("the name " + name + " appears twice in a variant");
		made.members.push_back({std::move(name), make(option.at("field-class")), node.position(),
					ranges_of(option.at("selector-field-ranges"), *selector)});
	}
	if (made.members.empty())
		list.refuse("a variant has no options");
	made.reference = selector;
	return made;
}

} // namespace monitor::trace
