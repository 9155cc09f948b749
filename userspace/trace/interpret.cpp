// SPDX-License-Identifier: MIT
#include "interpret.h"

#include <algorithm>
#include <set>
#include <span>

#include "monitor/ring.h"
#include "tsdl.h"
#include "types.h"

namespace monitor::trace {
namespace {

using tsdl::Block;
using tsdl::Refusal;
using tsdl::Type;
using tsdl::Value;

constexpr std::uint32_t token_bits = 64;
constexpr std::uint32_t payload_from = EDC_MODE_SHIFT + 1; // the first bit behind header and context of a token

// One field of the layouts that include/monitor fixes. `count` is 0 for what is no array.
struct Fixed {
	const char *name;
	std::uint64_t offset_bits, size_bits, count;
	bool is_time;
};

constexpr Fixed in_bits(const char *name, std::size_t offset_bytes, std::size_t size_bytes, std::size_t count,
			bool is_time)
{
	return {name, offset_bytes * 8, size_bytes * 8 / (count ? count : 1), count, is_time};
}
#define BLOCK_FIELD(field, count, is_time) \
	in_bits(#field, offsetof(edc_block, field), sizeof(edc_block::field), count, is_time)
constexpr Fixed packet_header[] = {BLOCK_FIELD(magic, 0, false), BLOCK_FIELD(uuid, 16, false),
				   BLOCK_FIELD(stream_id, 0, false), BLOCK_FIELD(stream_instance_id, 0, false)};
constexpr Fixed packet_context[] = {BLOCK_FIELD(timestamp_begin, 0, true),
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
constexpr Fixed event_header[] = {{"id", 0, EDC_ID_BITS, 0, false}, {"timestamp", EDC_TIME_SHIFT, 32, 0, true}};
constexpr Fixed event_context[] = {{"mode", EDC_MODE_SHIFT, 1, 0, false}};

class Interpreter {
public:
	std::unique_ptr<const Description> read(const tsdl::Tree &tree);

private:
	void check_fixed(const Block &block, const char *binding, std::span<const Fixed> fixed,
			 std::uint64_t from) const;

	void read_clock(const Block &block);
	void read_trace(const Block &block);
	void read_env(const Block &block);
	void read_stream(const Block &block);
	void read_event(const Block &block);
	void read_payload(EventClass &cls, const Type &type) const;
	Field field(const Placed &placed) const;

	Types types_;
	std::unique_ptr<Description> made_ = std::make_unique<Description>();
	bool has_clock_ = false, has_trace_ = false, has_stream_ = false;
};

const Value *find(const Block &block, std::string_view name)
{
	for (const auto &attribute : block.attributes)
		if (attribute.name == name)
			return &attribute.value;
	return nullptr;
}

const tsdl::Binding *find_binding(const Block &block, std::string_view name)
{
	for (const auto &binding : block.bindings)
		if (binding.name == name)
			return &binding;
	return nullptr;
}

void Interpreter::check_fixed(const Block &block, const char *binding, std::span<const Fixed> fixed,
			      std::uint64_t from) const
{
	const auto *bound = find_binding(block, binding);
	if (!bound)
		throw Refusal(block.position, std::string("the ") + binding + " is missing");
	const std::string what = std::string("another layout of the ") + binding + " is not read";
	const auto placed = types_.lay_out(*bound->type, from);
	for (std::size_t i = 0; i < std::min(fixed.size(), placed.size()); ++i) {
		const auto &[declaration, type, offset_bits] = placed[i];
		const std::uint64_t count = declaration->is_array ? declaration->array_length : 0;
		if (declaration->name != fixed[i].name || offset_bits != fixed[i].offset_bits || type.is_signed ||
		    type.size_bits != fixed[i].size_bits || count != fixed[i].count ||
		    type.clock.empty() == fixed[i].is_time)
			throw Refusal(declaration->position, what);
	}
	if (placed.size() != fixed.size())
		throw Refusal(bound->position, what);
}

void Interpreter::read_clock(const Block &block)
{
	if (has_clock_)
		throw Refusal(block.position, "a second clock is not read");
	has_clock_ = true;
	Clock &clock = made_->clock;
	for (const auto &[position, name, value] : block.attributes) {
		if (name == "name")
			clock.name = name_of(value);
		else if (name == "freq")
			clock.frequency_hz = number(value);
		else if (name == "offset_s")
			clock.offset_s = signed_number(value);
		else if (name == "offset")
			clock.offset = number(value);
		else if (name != "absolute" && name != "uuid" && name != "description" && name != "precision")
			throw Refusal(position, "the clock attribute " + name + " is not read");
	}
	if (clock.name.empty() || clock.frequency_hz == 0)
		throw Refusal(block.position, "the clock has no name or no frequency");
}

std::array<std::uint8_t, 16> uuid_of(const Value &value)
{
	std::array<std::uint8_t, 16> uuid{};
	constexpr std::string_view form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", digits = "0123456789abcdef";
	bool ok = value.text.size() == form.size();
	for (std::size_t i = 0, digit = 0; ok && i < form.size(); ++i) {
		const char lower = value.text[i] >= 'A' && value.text[i] <= 'F' ? value.text[i] + 32 : value.text[i];
		const std::size_t nibble = digits.find(lower);
		if (form[i] == '-')
			ok = lower == '-';
		else if ((ok = nibble != std::string_view::npos))
			uuid[digit / 2] = static_cast<std::uint8_t>(uuid[digit / 2] << 4 | nibble), ++digit;
	}
	if (!ok)
		throw Refusal(value.position, "the uuid is malformed");
	return uuid;
}

void Interpreter::read_trace(const Block &block)
{
	if (has_trace_)
		throw Refusal(block.position, "a second trace block is not read");
	has_trace_ = true;
	const Value *major = find(block, "major"), *minor = find(block, "minor");
	const Value *uuid = find(block, "uuid"), *byte_order = find(block, "byte_order");
	if (!major || !minor || !uuid || !byte_order)
		throw Refusal(block.position, "the trace block lacks major, minor, uuid or byte_order");
	if (number(*major) != 1 || number(*minor) != 8)
		throw Refusal(major->position, "another version than CTF 1.8 is not read");
	check_little_endian(*byte_order);
	if (byte_order->text != "le")
		throw Refusal(byte_order->position, "expected a byte order here");
	made_->uuid = uuid_of(*uuid);
	check_fixed(block, "packet.header", packet_header, 0);
}

void Interpreter::read_env(const Block &block)
{
	for (const auto &[position, name, value] : block.attributes) {
		const char *sign = value.negative ? "-" : "";
		made_->env.emplace_back(
		    name, value.kind == Value::Kind::integer ? sign + std::to_string(value.magnitude) : value.text);
	}
}

void Interpreter::read_stream(const Block &block)
{
	if (has_stream_)
		throw Refusal(block.position, "a second stream class is not read");
	has_stream_ = true;
	for (const auto &[position, name, value] : block.attributes)
		if (name != "id" || number(value) != 0)
			throw Refusal(position, "a stream class of another id than 0 is not read");
	check_fixed(block, "packet.context", packet_context, offsetof(edc_block, timestamp_begin) * 8);
	check_fixed(block, "event.header", event_header, 0);
	check_fixed(block, "event.context", event_context, payload_from - 1);
	if (types_.structure(*find_binding(block, "event.header")->type).align_bits != token_bits)
		throw Refusal(find_binding(block, "event.header")->position,
			      "tokens not aligned to 64 bits are not read");
	if (block.bindings.size() != 3)
		throw Refusal(block.bindings.back().position, "this part of a stream is not read");
}

void Interpreter::read_event(const Block &block)
{
	EventClass cls;
	for (const auto &[position, name, value] : block.attributes) {
		if (name == "name")
			cls.name = name_of(value);
		else if (name == "id" && (number(value) == 0 || number(value) >= Description::max_classes))
			throw Refusal(value.position, "an event class with an id of other than 1 to 4095 is not read");
		else if (name == "id")
			cls.id = static_cast<std::uint16_t>(number(value));
		else if (name == "stream_id" && number(value) != 0)
			throw Refusal(value.position, "a stream class of another id than 0 is not read");
		else if (name != "stream_id" && name != "loglevel" && name != "model.emf.uri")
			throw Refusal(position, "the event attribute " + name + " is not read");
	}
	if (cls.name.empty() || cls.id == 0)
		throw Refusal(block.position, "an event class has no name or no id");
	std::set<std::string_view> bound;
	for (const auto &binding : block.bindings) {
		if (binding.name != "fields" || !bound.insert(binding.name).second)
			throw Refusal(binding.position, "the part " + binding.name + " of an event is not read");
		read_payload(cls, *binding.type);
	}
	if (!made_->add(std::move(cls)))
		throw Refusal(block.position, "two event classes have the same id");
}

void Interpreter::read_payload(EventClass &cls, const Type &type) const
{
	std::uint64_t end_bits = payload_from;
	const auto placed = types_.lay_out(type, end_bits);
	cls.size_bytes = static_cast<std::uint32_t>(round_up(end_bits, token_bits) / 8);
	if (round_up(end_bits, token_bits) > (1 + EDC_MAX_WORDS) * token_bits)
		throw Refusal(type.position, "an event with more than 7 payload words is not read");
	std::set<std::string_view> names;
	for (const Placed &each : placed) {
		if (!names.insert(each.declaration->name).second)
			throw Refusal(each.declaration->position, "two fields of an event have the same name");
		cls.fields.push_back(field(each));
	}
}

Field Interpreter::field(const Placed &placed) const
{
	const auto &[declaration, type, offset_bits] = placed;
	Field made;
	made.name = declaration->name;
	made.offset_bits = static_cast<std::uint32_t>(offset_bits);
	made.size_bits = type.size_bits;
	made.base = type.base;
	made.labels = type.labels;
	if (type.is_signed)
		made.kind = FieldKind::signed_integer;
	if (declaration->is_array) {
		if (!type.is_text)
			throw Refusal(declaration->position, "an array of other than text is not read");
		made.kind = FieldKind::text;
		made.size_bits = static_cast<std::uint32_t>(declaration->array_length * 8);
	} else if (offset_bits % 8 + type.size_bits > 64) {
		throw Refusal(declaration->position, "an integer that touches nine bytes is not read");
	}
	return made;
}

std::unique_ptr<const Description> Interpreter::read(const tsdl::Tree &tree)
{
	for (const Block &block : tree.blocks)
		if (block.keyword == "clock")
			read_clock(block);
	types_.set_clock(made_->clock.name);
	for (const tsdl::Binding &alias : tree.aliases)
		types_.define(alias);
	for (const Block &block : tree.blocks) {
		if (block.keyword == "trace")
			read_trace(block);
		else if (block.keyword == "env")
			read_env(block);
		else if (block.keyword == "stream")
			read_stream(block);
		else if (block.keyword == "event")
			read_event(block);
		else if (block.keyword != "clock")
			throw Refusal(block.position, "the block " + block.keyword + " is not read");
	}
	if (!has_clock_ || !has_trace_ || !has_stream_)
		throw Refusal({}, "the description lacks a clock, trace or stream block");
	return std::move(made_);
}

} // namespace

std::unique_ptr<const Description> read_description(std::string_view untrusted_text, std::string &why)
{
	try {
		return Interpreter().read(tsdl::parse(untrusted_text));
	} catch (const Refusal &refusal) {
		why = "line " + std::to_string(refusal.position().line) + ", column " +
		      std::to_string(refusal.position().column) + ": " + refusal.what() +
		      " (only traces written by monitor are read for now)";
		return nullptr;
	}
}

} // namespace monitor::trace
