// SPDX-License-Identifier: MIT
#include "fragments.h"

#include <algorithm>
#include <utility>

#include "completion.h"
#include "json_sequence.h"
#include "json_slots.h"
#include "json_types.h"

namespace monitor::trace {
namespace {

using json::Node;
using FieldClassKind = FieldClass::Kind;
using JsonKind = json::Value::Kind;

constexpr std::size_t max_clocks = 100, max_streams = 1000;

void check_names(const Node &fragment)
{
	for (const char *name : {"namespace", "name", "uid"})
		if (const auto found = fragment.find(name))
			found->text();
}

std::int64_t seconds_of(const Node &node)
{
	node.expect(JsonKind::integer);
	const auto number = static_cast<std::int64_t>(node.value().number);
	constexpr std::int64_t max_seconds = std::int64_t(1) << 62;
	if ((number < 0) != node.value().is_negative || number > max_seconds || number < -max_seconds)
		node.refuse("expected an integer of less than 63 bits");
	return number;
}

// Clocks of the same origin are comparable.
std::string origin_of(const Node &fragment)
{
	const auto origin = fragment.find("origin");
	if (!origin)
		return "unknown";
	if (origin->value().kind == JsonKind::text) {
		origin->one_of({"unix-epoch"});
		return "";
	}
	origin->expect_only({"namespace", "name", "uid"});
	check_names(*origin);
	const auto space = origin->find("namespace");
	return (space ? space->text() + ' ' : "") + origin->at("name").text() + ' ' + origin->at("uid").text();
}

class Fragments {
public:
	explicit Fragments(std::uint32_t first_index) { made_->first_index = first_index; }

	std::unique_ptr<const Description> read(std::string_view untrusted_text)
	{
		layout_->packet_header.kind = FieldClassKind::structure;
		json::read_sequence(untrusted_text, [this](const Node &fragment) { read_fragment(fragment); });
		if (!has_preamble_)
			throw ParseError({}, "a description of CTF 2 must begin with a preamble");
		JsonSlots(*layout_).walk(events_, streams_);
		for (const auto &stream : layout_->streams)
			if (stream->clock >= 0)
				warn_of_origin(made_->clocks[static_cast<std::size_t>(stream->clock)]);
		list_all(std::move(layout_), events_, streams_, *made_);
		return std::move(made_);
	}

private:
	void read_fragment(const Node &fragment)
	{
		const std::size_t type =
		    fragment.at("type").one_of({"preamble", "field-class-alias", "trace-class", "clock-class",
						"data-stream-class", "event-record-class"});
		if ((type == 0) == has_preamble_)
			fragment.refuse(type == 0 ? "a second preamble is not supported"
						  : "a description of CTF 2 must begin with a preamble");
		has_preamble_ = true;
		check_common_members(fragment);
		switch (type) {
		case 0:
			return preamble(fragment);
		case 1:
			fragment.expect_only({"type", "attributes", "extensions", "name", "field-class"});
			return types_.add_alias(fragment.at("name"), fragment.at("field-class"));
		case 2:
			return trace_class(fragment);
		case 3:
			return clock_class(fragment);
		case 4:
			return stream_class(fragment);
		default:
			return event_class(fragment);
		}
	}

	void preamble(const Node &fragment)
	{
		fragment.expect_only({"type", "attributes", "extensions", "version", "uuid"});
		const Node version = fragment.at("version");
		if (version.number() != 2)
			version.refuse("a version other than CTF 2 is not supported");
		if (const auto uuid = fragment.find("uuid", JsonKind::list)) {
			if (uuid->size() != made_->uuid.size())
				uuid->refuse("a uuid has 16 bytes");
			for (std::size_t i = 0; i < uuid->size(); ++i)
				made_->uuid[i] = static_cast<std::uint8_t>(uuid->element(i).number(0, 255));
			made_->has_uuid = true;
		}
	}

	void trace_class(const Node &fragment)
	{
		fragment.expect_only({"type", "attributes", "extensions", "namespace", "name", "uid", "environment",
				      "packet-header-field-class"});
		if (std::exchange(has_trace_class_, true))
			fragment.refuse("a second trace class is not supported");
		check_names(fragment);
		if (const auto environment = fragment.find("environment", JsonKind::object))
			for (const Node &entry : environment->elements()) {
				const json::Value &value = entry.value();
				if (value.kind != JsonKind::text && value.kind != JsonKind::integer)
					entry.refuse("expected an integer or a text");
				made_->env.emplace_back(entry.name(),
							value.kind == JsonKind::text ? value.text
							: value.is_negative
							    ? std::to_string(static_cast<std::int64_t>(value.number))
							    : std::to_string(value.number));
			}
		layout_->packet_header = scope(fragment, "packet-header-field-class");
	}

	void clock_class(const Node &fragment)
	{
		fragment.expect_only({"type", "attributes", "extensions", "id", "namespace", "name", "uid", "frequency",
				      "description", "origin", "offset-from-origin", "precision", "accuracy"});
		check_names(fragment);
		const Node id = fragment.at("id");
		if (std::ranges::find(clock_ids_, id.text()) != clock_ids_.end())
			id.refuse("two clock classes have this id");
		if (clock_ids_.size() == max_clocks)
			fragment.refuse("more than 100 clocks are not supported");
		Clock clock;
		const auto name = fragment.find("name");
		clock.name = name ? name->text() : id.text();
		clock.frequency_hz = fragment.at("frequency").number(1);
		clock.origin = origin_of(fragment);
		for (const char *interval : {"precision", "accuracy"})
			if (const auto found = fragment.find(interval))
				found->number();
		if (const auto description = fragment.find("description"))
			description->text();
		if (const auto offset = fragment.find("offset-from-origin")) {
			offset->expect_only({"seconds", "cycles"});
			if (const auto seconds = offset->find("seconds"))
				clock.offset_s = seconds_of(*seconds);
			if (const auto cycles = offset->find("cycles"))
				clock.offset = cycles->number(0, clock.frequency_hz - 1);
		}
		clock_ids_.push_back(id.text());
		made_->clocks.push_back(std::move(clock));
	}

	void stream_class(const Node &fragment)
	{
		fragment.expect_only({"type", "attributes", "extensions", "namespace", "name", "uid", "id",
				      "default-clock-class-id", "packet-context-field-class",
				      "event-record-header-field-class", "event-record-common-context-field-class"});
		check_names(fragment);
		auto stream = std::make_unique<StreamClass>();
		stream->position = fragment.position();
		if (const auto id = fragment.find("id"))
			stream->id = id->number();
		if (layout_->streams.size() == max_streams)
			fragment.refuse("more than 1000 data stream classes are not supported");
		if (layout_->find(stream->id))
			fragment.refuse("two data stream classes have the id " + std::to_string(stream->id));
		if (const auto clock = fragment.find("default-clock-class-id")) {
			const auto found = std::ranges::find(clock_ids_, clock->text());
			if (found == clock_ids_.end())
				clock->refuse("there is no clock class " + clock->text() + " before this one");
			stream->clock = static_cast<std::int8_t>(found - clock_ids_.begin());
		}
		stream->packet_context = scope(fragment, "packet-context-field-class");
		stream->event_header = scope(fragment, "event-record-header-field-class");
		stream->event_context = scope(fragment, "event-record-common-context-field-class");
		layout_->streams.push_back(std::move(stream));
	}

	void event_class(const Node &fragment)
	{
		fragment.expect_only({"type", "attributes", "extensions", "namespace", "name", "uid", "id",
				      "data-stream-class-id", "specific-context-field-class", "payload-field-class"});
		check_names(fragment);
		auto cls = std::make_shared<EventClass>();
		const auto name = fragment.find("name"), id = fragment.find("id"),
			   stream_id = fragment.find("data-stream-class-id");
		if (name)
			cls->name = name->text();
		if (id)
			cls->id = id->number();
		StreamClass *stream = layout_->find(stream_id ? stream_id->number() : 0);
		if (!stream)
			fragment.refuse("the event record class " + cls->name +
					" belongs to a data stream class that is not described before it");
		cls->index = made_->first_index + static_cast<std::uint32_t>(events_.size());
		cls->context = scope(fragment, "specific-context-field-class");
		cls->payload = scope(fragment, "payload-field-class");
		if (!stream->add(*cls))
			fragment.refuse("two event record classes have the id " + std::to_string(cls->id));
		events_.push_back(std::move(cls));
		streams_.push_back(stream);
	}

	FieldClass scope(const Node &fragment, std::string_view name)
	{
		FieldClass made;
		made.kind = FieldClassKind::structure;
		made.finish();
		const auto found = fragment.find(name);
		if (!found)
			return made;
		made = types_.make(*found);
		if (made.kind != FieldClassKind::structure)
			found->refuse("expected a structure");
		return made;
	}

	void warn_of_origin(const Clock &clock)
	{
		if (!clock.origin.empty())
			made_->warning = "the clock " + clock.name +
					 " does not count from 1970: its dates are not known, and its times can only "
					 "be compared with those of clocks of the same origin";
	}

	JsonTypes types_;
	std::unique_ptr<Description> made_ = std::make_unique<Description>();
	std::unique_ptr<Layout> layout_ = std::make_unique<Layout>();
	std::vector<std::string> clock_ids_;
	std::vector<std::shared_ptr<EventClass>> events_;
	std::vector<StreamClass *> streams_; // of each event
	bool has_preamble_ = false, has_trace_class_ = false;
};

} // namespace

std::unique_ptr<const Description> interpret_fragments(std::string_view untrusted_text, std::uint32_t first_index)
{
	return Fragments(first_index).read(untrusted_text);
}

} // namespace monitor::trace
