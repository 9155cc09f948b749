// SPDX-License-Identifier: MIT
#include "interpret.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "attributes.h"
#include "completion.h"
#include "fragments.h"
#include "json_sequence.h"
#include "token_layout.h"
#include "tsdl.h"
#include "types.h"

namespace monitor::trace {
namespace {

using tsdl::Block;
using tsdl::Value;
using FieldClassKind = FieldClass::Kind;
using Attribute = KnownAttribute::Kind;

const Value *find(const Block &block, std::string_view name)
{
	const auto found = std::ranges::find(block.attributes, name, &tsdl::Attribute::name);
	return found == block.attributes.end() ? nullptr : &found->value;
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
		throw ParseError(value.position, "the uuid is malformed");
	return uuid;
}

class Interpreter {
public:
	Interpreter(std::uint32_t first_index, TextForm form) : form_(form) { made_->first_index = first_index; }

	std::unique_ptr<const Description> read(const tsdl::Tree &tree)
	{
		read_byte_order(tree);
		for (const Block &block : tree.blocks) {
			if (block.keyword == "clock")
				read_clock(block);
			else if (block.keyword == "env")
				read_env(block);
		}
		for (const Block &block : tree.blocks) {
			if (block.keyword != "trace" && block.keyword != "stream")
				continue;
			define_before(tree, block.position);
			block.keyword == "trace" ? read_trace(block) : read_stream(block);
		}
		for (const Block &block : tree.blocks) {
			if (block.keyword != "event")
				continue;
			define_before(tree, block.position);
			read_event(block);
		}
		define_before(
		    tree, {std::numeric_limits<std::uint32_t>::max(), 1, std::numeric_limits<std::uint32_t>::max()});
		return finish(tree);
	}

private:
	void define_before(const tsdl::Tree &tree, TextPosition position)
	{
		for (; defined_ < tree.definitions.size() && tree.definitions[defined_].position.is_before(position);
		     ++defined_)
			types_.define(tree.definitions[defined_], root_);
	}

	// The struct of a binding, or an empty one. Definitions that precede it in its block apply to it.
	FieldClass binding_type(const Block &block, const char *binding)
	{
		FieldClass made;
		made.kind = FieldClassKind::structure;
		made.finish();
		const auto found = std::ranges::find(block.bindings, binding, &tsdl::Binding::name);
		if (found == block.bindings.end())
			return made;
		Scope scope(&root_);
		for (const auto &definition : block.definitions)
			if (definition.position.is_before(found->position))
				types_.define(definition, scope);
		made = types_.make(*found->type, scope);
		if (made.kind != FieldClassKind::structure)
			throw ParseError(found->type->position, std::string("the ") + binding + " is not a struct");
		return made;
	}

	void check_bindings(const Block &block, std::initializer_list<std::string_view> known)
	{
		std::set<std::string_view> seen;
		for (const auto &binding : block.bindings) {
			if (std::ranges::find(known, binding.name) == known.end())
				warnings_.add(binding.position,
					      "the part " + binding.name + " of the block " + block.keyword);
			else if (!seen.insert(binding.name).second)
				throw ParseError(binding.position, "the part " + binding.name + " appears twice");
		}
	}

	void read_clock(const Block &block)
	{
		check_attributes(block.attributes, "a clock", warnings_,
				 {{"name", Attribute::name},
				  {"freq", Attribute::count},
				  {"offset_s", Attribute::integer},
				  {"offset", Attribute::integer},
				  {"uuid", Attribute::text},
				  {"description", Attribute::text},
				  {"precision", Attribute::count},
				  {"absolute", Attribute::boolean}});
		Clock clock;
		std::int64_t offset = 0;
		for (const auto &[position, name, value] : block.attributes) {
			if (name == "name")
				clock.name = name_of(value);
			else if (name == "freq")
				clock.frequency_hz = number(value);
			else if (name == "offset_s")
				clock.offset_s = signed_number(value);
			else if (name == "offset")
				offset = signed_number(value);
			else if (name == "uuid")
				uuid_of(value);
		}
		if (clock.name.empty() || clock.frequency_hz == 0)
			throw ParseError(block.position, "the clock has no name or no frequency");
		clock.set_offset(offset);
		constexpr std::size_t max_clocks = 100;
		if (made_->clocks.size() == max_clocks)
			throw ParseError(block.position, "more than 100 clocks are not supported");
		for (const Clock &other : made_->clocks)
			if (other.name == clock.name)
				throw ParseError(block.position, "the clock " + clock.name + " is defined twice");
		types_.add_clock(clock.name);
		made_->clocks.push_back(std::move(clock));
	}

	void read_trace(const Block &block)
	{
		if (std::exchange(has_trace_, true))
			throw ParseError(block.position, "a second trace block is not supported");
		check_attributes(block.attributes, "the trace", warnings_,
				 {{"major", Attribute::count},
				  {"minor", Attribute::count},
				  {"uuid", Attribute::text},
				  {"byte_order", Attribute::word}});
		const Value *major = find(block, "major"), *minor = find(block, "minor"), *uuid = find(block, "uuid");
		if (!major || !minor)
			throw ParseError(block.position, "the trace block lacks major or minor");
		if (number(*major) != 1 || number(*minor) != 8)
			throw ParseError(major->position, "a version other than CTF 1.8 is not supported");
		if (uuid)
			made_->uuid = uuid_of(*uuid);
		made_->has_uuid = uuid;
		check_bindings(block, {"packet.header"});
		layout_->packet_header = binding_type(block, "packet.header");
	}

	// Read first, as types before the trace block depend on it.
	void read_byte_order(const tsdl::Tree &tree)
	{
		const auto block = std::ranges::find(tree.blocks, "trace", &Block::keyword);
		if (block == tree.blocks.end())
			throw ParseError({}, "the description lacks a trace block");
		const Value *byte_order = find(*block, "byte_order");
		if (!byte_order)
			throw ParseError(block->position, "the trace block lacks byte_order");
		if (byte_order->kind != Value::Kind::word || byte_order->text == "network")
			throw ParseError(byte_order->position, "expected a byte order here: le or be");
		made_->big_endian = is_big_endian(*byte_order);
		if (form_ != TextForm::plain && made_->big_endian != (form_ == TextForm::big_endian))
			throw ParseError(byte_order->position, "the description is in packets of the other byte order");
		types_.set_big_endian(made_->big_endian);
	}

	void read_env(const Block &block)
	{
		for (const auto &[position, name, value] : block.attributes) {
			if (name == "real_time_steps") {
				if (auto steps = parse_steps(value.text))
					steps_ = std::move(*steps);
				else
					warnings_.add(position, "the form of real_time_steps");
			}
			const char *sign = value.negative ? "-" : "";
			made_->env.emplace_back(name, value.kind == Value::Kind::integer
							  ? sign + std::to_string(value.magnitude)
							  : value.text);
		}
	}

	void read_stream(const Block &block)
	{
		auto stream = std::make_unique<StreamClass>();
		stream->position = block.position;
		check_attributes(block.attributes, "a stream", warnings_, {{"id", Attribute::count}});
		if (const Value *id = find(block, "id"))
			stream->id = number(*id);
		constexpr std::size_t max_streams = 1000;
		if (layout_->streams.size() == max_streams)
			throw ParseError(block.position, "more than 1000 streams are not supported");
		if (layout_->find(stream->id))
			throw ParseError(block.position, "two streams have the id " + std::to_string(stream->id));
		check_bindings(block, {"packet.context", "event.header", "event.context"});
		stream->packet_context = binding_type(block, "packet.context");
		stream->event_header = binding_type(block, "event.header");
		stream->event_context = binding_type(block, "event.context");
		layout_->streams.push_back(std::move(stream));
	}

	void read_event(const Block &block)
	{
		auto cls = std::make_shared<EventClass>();
		if (layout_->streams.empty()) // a description may have none
			layout_->streams.push_back(std::make_unique<StreamClass>());
		check_attributes(block.attributes, "an event", warnings_,
				 {{"name", Attribute::name},
				  {"id", Attribute::count},
				  {"stream_id", Attribute::count},
				  {"loglevel", Attribute::count},
				  {"model.emf.uri", Attribute::text}});
		std::uint64_t stream_id = layout_->streams.front()->id;
		for (const auto &attribute : block.attributes)
			set_attribute(*cls, stream_id, attribute);
		StreamClass *stream = layout_->find(stream_id);
		if (!stream || (!find(block, "stream_id") && layout_->streams.size() > 1))
			throw ParseError(block.position,
					 "the event " + cls->name + " belongs to a stream that is not described");
		cls->index = made_->first_index + static_cast<std::uint32_t>(events_.size());
		check_bindings(block, {"context", "fields"});
		cls->context = binding_type(block, "context");
		cls->payload = binding_type(block, "fields");
		if (!stream->add(*cls))
			throw ParseError(block.position, "two event classes have the same id");
		events_.push_back(std::move(cls));
		streams_.push_back(stream);
	}

	void set_attribute(EventClass &cls, std::uint64_t &stream, const tsdl::Attribute &attribute) const
	{
		const Value &value = attribute.value;
		if (attribute.name == "name")
			cls.name = value.text;
		else if (attribute.name == "id")
			cls.id = number(value);
		else if (attribute.name == "stream_id")
			stream = number(value);
	}

	std::unique_ptr<const Description> finish(const tsdl::Tree &tree)
	{
		made_->warning = warnings_.text();
		if (is_token_layout(*layout_, events_)) {
			for (const auto &cls : events_)
				made_->add_token(token_class(*cls));
			made_->clock = made_->clocks.front();
			made_->clock.steps = std::move(steps_);
			return std::move(made_);
		}
		if (tree.reserved_name)
			throw *tree.reserved_name;
		complete(std::move(layout_), events_, streams_, *made_);
		return std::move(made_);
	}

	Scope root_;
	std::size_t defined_ = 0; // number of definitions made from the root
	Warnings warnings_;
	Types types_{warnings_};
	std::unique_ptr<Description> made_ = std::make_unique<Description>();
	std::unique_ptr<Layout> layout_ = std::make_unique<Layout>();
	std::vector<std::shared_ptr<EventClass>> events_;
	std::vector<StreamClass *> streams_; // of each event
	std::vector<RealTimeStep> steps_;
	TextForm form_;
	bool has_trace_ = false;
};

} // namespace

std::unique_ptr<const Description> read_description(std::string_view untrusted_text, std::string &why,
						    std::uint32_t first_index, TextForm form)
{
	try {
		if (json::is_sequence(untrusted_text))
			return interpret_fragments(untrusted_text, first_index);
		return Interpreter(first_index, form).read(tsdl::parse(untrusted_text));
	} catch (const ParseError &error) {
		why = error.position().in_words() + ": " + error.what();
		return nullptr;
	}
}

} // namespace monitor::trace
