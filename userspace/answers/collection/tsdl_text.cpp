// SPDX-License-Identifier: MIT
#include "tsdl_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace monitor::collection {
namespace {

using trace::FieldClass;
using FieldClassKind = FieldClass::Kind;

constexpr const char *layout = R"(
typealias integer {{ size = 8; align = 8; }} := u8;
typealias integer {{ size = 32; align = 8; }} := u32;
typealias integer {{ size = 64; align = 8; }} := u64;
typealias integer {{ size = 64; align = 8; map = clock.{0}.value; }} := time;

trace {{
	major = 1;
	minor = 8;
	uuid = "{1}";
	byte_order = le;
	packet.header := struct {{ u32 magic; u8 uuid[16]; u32 stream_id; }};
}};

stream {{
	id = 0;
	packet.context := struct {{
		time timestamp_begin;
		time timestamp_end;
		u64 content_size;
		u64 packet_size;
		u64 packet_seq_num;
		u64 events_discarded;
{2}	}};
	event.header := struct {{ u32 id; time timestamp; }};
}};

)";

std::string in_quotes(const std::string &text)
{
	std::string made = "\"";
	for (const char c : text)
		if (c == '"' || c == '\\')
			made += fmt::format("\\{}", c);
		else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
			made += fmt::format("\\{:03o}", static_cast<unsigned>(c));
		else
			made += c;
	return made + '"';
}

// Names in TDL may contain dots.
std::string identifier(std::string name)
{
	std::replace(name.begin(), name.end(), '.', '_');
	return name;
}

std::string unused_name(std::string name, std::set<std::string> &taken)
{
	while (!taken.insert(name).second)
		name.insert(0, 1, '_');
	return name;
}

std::string indent(std::size_t depth)
{
	return std::string(depth, '\t');
}

std::string integer(const FieldClass &type)
{
	return fmt::format("integer {{ size = {}; align = 8; signed = {}; base = {}; }}", type.size_bits,
			   type.is_signed, type.base == trace::dotted_base ? 16 : type.base);
}

} // namespace

TsdlText::TsdlText(const trace::Clock &clock, const Uuid &uuid, const Env &env, bool has_cpu)
{
	head_ = "/* CTF 1.8 */\n\nenv {\n";
	for (const auto &[name, value] : env)
		head_ += fmt::format("\t{} = {};\n", name, in_quotes(value));
	const std::string clock_name = identifier(clock.name) + "_clock";
	head_ += fmt::format("}};\n\nclock {{\n\tname = {};\n\tfreq = {};\n\toffset_s = {};\n\toffset = {};\n}};\n",
			     clock_name, clock.frequency_hz, clock.offset_s, clock.offset);
	head_ += fmt::format(layout, clock_name, uuid_text(uuid), has_cpu ? "\t\tu32 cpu_id;\n" : "");
}

void TsdlText::add_event(std::uint32_t id, const trace::EventClass &cls, const Shape &shape)
{
	const char *present = shape.present.c_str();
	const std::string fields = structure(cls.payload, shape.is_open ? nullptr : &present, 1);
	events_ += fmt::format("event {{\n\tname = {};\n\tid = {};\n\tstream_id = 0;\n\tfields := {};\n}};\n\n",
			       in_quotes(cls.name), id, fields);
}

std::string TsdlText::structure(const FieldClass &type, const char **present, std::size_t depth)
{
	std::set<std::string> taken;
	std::vector<std::string> names;
	for (const trace::Member &member : type.members)
		names.push_back(member.type.is_hidden ? "" : unused_name('_' + identifier(member.name), taken));
	std::string made = "struct {\n";
	for (std::size_t i = 0; i < names.size(); ++i)
		if (!type.members[i].type.is_hidden)
			made += member(type.members[i], names[i], taken, present, depth + 1);
	return made + indent(depth) + "} align(8)";
}

std::string TsdlText::member(const trace::Member &member, const std::string &name, std::set<std::string> &taken,
			     const char **present, std::size_t depth)
{
	const FieldClass *type = &member.type;
	const bool is_optional = type->kind == FieldClassKind::optional;
	if (is_optional) {
		type = &type->element.front();
		if (present && **present && *(*present)++ == '0')
			return "";
	}
	const bool is_counted = (is_optional && !present) || (is_list(*type) && type->kind == FieldClassKind::sequence);
	const bool is_repeated = is_list(*type);
	const std::string element_type =
	    is_repeated ? type_name(type->element.front(), nullptr, depth) : type_name(*type, present, depth);
	if (!is_counted)
		return indent(depth) + element_type + ' ' + name +
		       (is_repeated ? fmt::format("[{}]", type->length) : "") + ";\n";
	const std::string length = unused_name('_' + name + "_length", taken);
	return fmt::format("{0}u32 {1};\n{0}{2} {3}[{1}];\n", indent(depth), length, element_type, name);
}

std::string TsdlText::type_name(const FieldClass &type, const char **present, std::size_t depth)
{
	if (type.is_text)
		return "string";
	if (type.kind == FieldClassKind::structure)
		return structure(type, present, depth);
	if (type.kind == FieldClassKind::floating_point)
		return type.size_bits == 32 ? "floating_point { exp_dig = 8; mant_dig = 24; align = 8; }"
					    : "floating_point { exp_dig = 11; mant_dig = 53; align = 8; }";
	return type.labels ? enumeration(type) : integer(type);
}

// Named bits have labels for all their combinations already.
std::string TsdlText::enumeration(const FieldClass &type)
{
	std::string &name = enumerations_[{type.labels.get(), type.size_bits, type.is_signed, type.base}];
	if (!name.empty())
		return name;
	name = fmt::format("names_{}", enumerations_.size());
	types_ += fmt::format("typealias enum : {} {{", integer(type));
	const char *separator = "";
	for (const auto &label : type.labels->labels()) {
		const auto number = [&](std::uint64_t value) {
			return type.is_signed ? fmt::format("{}", static_cast<std::int64_t>(value))
					      : fmt::format("{}", value);
		};
		types_ += fmt::format("{}\n\t{} = {}", separator, in_quotes(label.text), number(label.first));
		if (label.last != label.first)
			types_ += " ... " + number(label.last);
		separator = ",";
	}
	types_ += fmt::format("\n}} := {};\n\n", name);
	return name;
}

} // namespace monitor::collection
