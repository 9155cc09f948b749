// SPDX-License-Identifier: MIT
#include "completion.h"

#include <string_view>

#include "fields.h"
#include "references.h"

namespace monitor::trace {
namespace {

using FieldClassKind = FieldClass::Kind;

// Calls visit(name, integer) for every integer in the tree, except in arrays.
template <class Visit> void visit_integers(FieldClass &type, const Visit &visit)
{
	for (Member &member : type.members) {
		if (member.type.kind == FieldClassKind::integer)
			visit(member.name, member.type);
		visit_integers(member.type, visit);
	}
}

// A direct member, which must be an unsigned integer; nullptr: there is no member of this name.
FieldClass *integer(FieldClass &structure, std::string_view name)
{
	for (Member &member : structure.members) {
		if (member.name != name)
			continue;
		if (member.type.kind != FieldClassKind::integer || member.type.is_signed)
			throw ParseError(member.position, member.name + " is not an unsigned integer");
		return &member.type;
	}
	return nullptr;
}

// Removes leading underscores, which only keep names apart from keywords, as babeltrace does.
void strip_underscores(FieldClass &type)
{
	for (FieldClass &element : type.element)
		strip_underscores(element);
	for (Member &member : type.members) {
		if (member.name.starts_with('_'))
			member.name.erase(0, 1);
		strip_underscores(member.type);
	}
}

class Completion : public References {
public:
	Completion(Layout &layout, Description &description) : References(layout), description_(description) {}

private:
	void packet_header() override
	{
		layout_.magic = slot_of(layout_.packet_header, "magic");
		layout_.stream = slot_of(layout_.packet_header, "stream_id");
		layout_.instance = slot_of(layout_.packet_header, "stream_instance_id");
		for (const Member &member : layout_.packet_header.members)
			check_header_member(member, &member == &layout_.packet_header.members.front());
		if (layout_.streams.size() > 1 && layout_.stream < 0)
			throw ParseError(layout_.streams[1]->position,
					 "a packet header without stream_id allows one stream only");
	}

	void stream(StreamClass &stream) override
	{
		find_clock(stream);
		save_context(stream);
		save_header(stream);
	}

	void check_header_member(const Member &member, bool is_first)
	{
		const FieldClass &type = member.type;
		if (member.name == "magic" && type.size_bits != 32)
			throw ParseError(member.position, "the magic of a packet must have 32 bits");
		if (member.name == "magic" && !is_first)
			throw ParseError(member.position, "the magic of a packet must come first");
		if (member.name != "uuid")
			return;
		if (type.kind != FieldClassKind::array || type.is_wide || type.length != 16 || type.fixed_bits != 128)
			throw ParseError(member.position, "the uuid of a packet must be an array of 16 bytes");
		layout_.uuid_path = {static_cast<std::uint32_t>(&member - layout_.packet_header.members.data())};
	}

	std::int32_t slot_of(FieldClass &structure, std::string_view name)
	{
		FieldClass *found = integer(structure, name);
		return found ? save(*found) : -1;
	}

	// An integer that is a time by its name, but has no clock, gets the only clock.
	void use_only_clock(FieldClass &type)
	{
		if (type.clock >= 0)
			return;
		if (description_.clocks.empty())
			description_.clocks.emplace_back().name = "default";
		if (description_.clocks.size() == 1)
			type.clock = 0;
	}

	void find_clock(StreamClass &stream)
	{
		for (const char *name : {"timestamp_begin", "timestamp_end"})
			if (FieldClass *found = integer(stream.packet_context, name))
				use_only_clock(*found);
		visit_integers(stream.event_header, [this](const std::string &name, FieldClass &type) {
			if (name == "timestamp")
				use_only_clock(type);
		});
		const auto set_stream_clock = [&](const std::string &, FieldClass &type) {
			if (type.clock >= 0 && stream.clock < 0)
				stream.clock = type.clock;
		};
		visit_integers(stream.event_header, set_stream_clock);
		visit_integers(stream.packet_context, set_stream_clock);
	}

	void save_context(StreamClass &stream)
	{
		auto &context = stream.context;
		FieldClass &type = stream.packet_context;
		context.begin = slot_of(type, "timestamp_begin");
		context.end = slot_of(type, "timestamp_end");
		context.content = slot_of(type, "content_size");
		context.packet = slot_of(type, "packet_size");
		context.discarded = slot_of(type, "events_discarded");
		context.sequence = slot_of(type, "packet_seq_num");
		context.cpu = slot_of(type, "cpu_id");
		if (context.discarded >= 0)
			stream.discarded_bits = integer(type, "events_discarded")->size_bits;
		if (context.sequence >= 0)
			stream.sequence_bits = integer(type, "packet_seq_num")->size_bits;
	}

	// A compact header has several ids and times, in the options of a variant: the last one read counts.
	void save_header(StreamClass &stream)
	{
		integer(stream.event_header, "id");
		visit_integers(stream.event_header, [&](const std::string &name, FieldClass &type) {
			if (name == "id" && type.clock < 0) {
				type.slot = stream.event_id;
				stream.event_id = save(type);
			} else if (type.clock >= 0) {
				type.slot = stream.event_time;
				stream.event_time = save(type);
			}
		});
	}

	Description &description_;
};

// The clock that all streams have, or nanoseconds since the epoch.
Clock common_clock(const Layout &layout, const std::vector<Clock> &clocks)
{
	const Clock *common = nullptr;
	for (const auto &stream : layout.streams) {
		if (stream->clock < 0)
			continue;
		const Clock &clock = clocks[static_cast<std::size_t>(stream->clock)];
		if (common && !common->is_same(clock))
			return {};
		common = &clock;
	}
	return common ? *common : Clock();
}

void set_scopes(EventClass &cls, const StreamClass &stream)
{
	std::size_t count = 0;
	const FieldClass *const all[] = {&stream.event_context, &cls.context, &cls.payload};
	for (const FieldClass *scope : all)
		if (!scope->members.empty())
			cls.scopes[count++] = scope;
}

} // namespace

void complete(std::unique_ptr<Layout> layout, const std::vector<std::shared_ptr<EventClass>> &events,
	      const std::vector<StreamClass *> &streams, Description &description)
{
	Completion(*layout, description).walk(events, streams);
	for (const auto &stream : layout->streams)
		strip_underscores(stream->event_context);
	for (const auto &event : events) {
		strip_underscores(event->context);
		strip_underscores(event->payload);
	}
	list_all(std::move(layout), events, streams, description);
}

void list_all(std::unique_ptr<Layout> layout, const std::vector<std::shared_ptr<EventClass>> &events,
	      const std::vector<StreamClass *> &streams, Description &description)
{
	layout->packet_header.finish();
	for (const auto &stream : layout->streams) {
		stream->packet_context.finish();
		stream->event_header.finish();
		stream->event_context.finish();
		stream->flat = flatten(stream->event_header, stream->event_id, stream->event_time);
	}
	const std::string *domain = description.find_env("domain");
	for (std::size_t i = 0; i < events.size(); ++i) {
		EventClass &cls = *events[i];
		cls.context.finish();
		cls.payload.finish();
		cls.domain = domain && *domain == "kernel" ? Domain::kernel : Domain::user;
		set_scopes(cls, *streams[i]);
		if (streams[i]->event_id < 0 && (!streams[i]->only || cls.id == 0))
			streams[i]->only = &cls;
		list_fields(cls);
		description.add(events[i]);
	}
	description.clock = common_clock(*layout, description.clocks);
	description.layout = std::move(layout);
}

} // namespace monitor::trace
