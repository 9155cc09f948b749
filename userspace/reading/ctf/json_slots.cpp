// SPDX-License-Identifier: MIT
#include "json_slots.h"

#include <algorithm>
#include <string>

namespace monitor::trace {
namespace {

using FieldClassKind = FieldClass::Kind;

constexpr std::uint64_t sign_bit = std::uint64_t(1) << 63;

constexpr Role first_of_packet_context = Role::packet_total_length, first_of_event = Role::default_clock_timestamp;

std::uint16_t bits_of(std::initializer_list<Role> roles)
{
	std::uint16_t bits = 0;
	for (const Role role : roles)
		bits |= role_bit(role);
	return bits;
}

bool has_role(const FieldClass &type)
{
	return type.roles != 0 || std::ranges::any_of(type.element, has_role) ||
	       std::ranges::any_of(type.members, [](const Member &member) { return has_role(member.type); });
}

// The same value must not select two options.
void check_options(const FieldClass &variant, bool is_signed)
{
	std::vector<LabelRange> all;
	for (const Member &option : variant.members)
		all.insert(all.end(), option.tags.begin(), option.tags.end());
	const std::uint64_t sign = is_signed ? sign_bit : 0;
	std::ranges::sort(all, {}, [&](const LabelRange &range) { return range.first ^ sign; });
	for (std::size_t i = 1; i < all.size(); ++i)
		if ((all[i].first ^ sign) <= (all[i - 1].last ^ sign))
			throw ParseError(variant.reference->position, "two ranges of a variant's options overlap");
}

} // namespace

// All fields of a role share a slot: the last one read counts.
void JsonSlots::assign_role(FieldClass &type, Role role)
{
	const auto number = static_cast<std::size_t>(role);
	if (role == Role::default_clock_timestamp)
		type.clock = clock_;
	std::int32_t &slot = role_slots_[number];
	if (slot < 0)
		slot = type.slot >= 0 ? type.slot : new_slot(type.clock >= 0);
	if (type.slot < 0)
		type.slot = slot;
	slot = type.slot;
	role_bits_[number] = type.size_bits;
}

void JsonSlots::assign_roles(FieldClass &type, const char *scope, std::uint16_t allowed, TextPosition position)
{
	if (type.roles & ~allowed)
		throw ParseError(position,
				 std::string("a field of the ") + scope + " has a role that it cannot have there");
	if (std::uint16_t roles = type.roles & ~role_bit(Role::metadata_stream_uuid)) {
		const bool is_time = roles & role_bit(Role::default_clock_timestamp);
		if ((is_time || (roles & role_bit(Role::packet_end_default_clock_timestamp))) && clock_ < 0)
			throw ParseError(position, std::string("a field of the ") + scope +
						       " is a time, but its data stream class has no default clock");
		if (is_time) // first: its slot is followed by another
			assign_role(type, Role::default_clock_timestamp);
		for (std::size_t i = 0; i < roles_; ++i)
			if (roles & 1u << i && static_cast<Role>(i) != Role::default_clock_timestamp)
				assign_role(type, static_cast<Role>(i));
	}
	for (FieldClass &element : type.element)
		assign_roles(element, scope, allowed, position);
	for (Member &member : type.members)
		assign_roles(member.type, scope, allowed, member.position);
}

void JsonSlots::find_uuid(const FieldClass &structure, std::vector<std::uint32_t> &path)
{
	for (std::uint32_t i = 0; i < structure.members.size() && layout_.uuid_path.empty(); ++i) {
		const FieldClass &type = structure.members[i].type;
		path.push_back(i);
		if (type.roles & role_bit(Role::metadata_stream_uuid))
			layout_.uuid_path = path;
		else if (type.kind == FieldClassKind::structure)
			find_uuid(type, path);
		path.pop_back();
	}
}

void JsonSlots::packet_header()
{
	FieldClass &header = layout_.packet_header;
	const TextPosition position = header.members.empty() ? TextPosition() : header.members.front().position;
	for (const Member &member : header.members)
		if ((member.type.roles & role_bit(Role::packet_magic_number)) &&
		    (&member != header.members.data() || member.type.size_bits != 32 ||
		     member.type.kind != FieldClassKind::integer))
			throw ParseError(position, "the magic of a packet must come first and have 32 bits");
	assign_roles(header, "packet header",
		     bits_of({Role::packet_magic_number, Role::metadata_stream_uuid, Role::data_stream_class_id,
			      Role::data_stream_id}),
		     position);
	std::vector<std::uint32_t> path;
	find_uuid(header, path);
	layout_.magic = role_slot(Role::packet_magic_number);
	layout_.stream = role_slot(Role::data_stream_class_id);
	layout_.instance = role_slot(Role::data_stream_id);
}

void JsonSlots::stream(StreamClass &stream)
{
	clock_ = stream.clock;
	std::fill(role_slots_ + static_cast<int>(first_of_packet_context), std::end(role_slots_), -1);
	assign_roles(stream.packet_context, "packet context",
		     bits_of({Role::packet_total_length, Role::packet_content_length, Role::default_clock_timestamp,
			      Role::packet_end_default_clock_timestamp, Role::discarded_event_record_counter_snapshot,
			      Role::packet_sequence_number}),
		     stream.position);
	stream.context.begin = role_slot(Role::default_clock_timestamp);
	stream.context.end = role_slot(Role::packet_end_default_clock_timestamp);
	stream.context.content = role_slot(Role::packet_content_length);
	stream.context.packet = role_slot(Role::packet_total_length);
	stream.context.discarded = role_slot(Role::discarded_event_record_counter_snapshot);
	stream.context.sequence = role_slot(Role::packet_sequence_number);
	if (stream.context.discarded >= 0)
		stream.discarded_bits = role_bits_[static_cast<int>(Role::discarded_event_record_counter_snapshot)];
	if (stream.context.sequence >= 0)
		stream.sequence_bits = role_bits_[static_cast<int>(Role::packet_sequence_number)];
	// The CPU's number has no role in CTF 2.
	for (Member &member : stream.packet_context.members)
		if (member.name == "cpu_id" && member.type.is_integer() && !member.type.is_signed) {
			if (member.type.slot < 0)
				member.type.slot = new_slot(false);
			stream.context.cpu = member.type.slot;
		}
	std::fill(role_slots_ + static_cast<int>(first_of_event), std::end(role_slots_), -1);
	assign_roles(stream.event_header, "event record header",
		     bits_of({Role::default_clock_timestamp, Role::event_record_class_id}), stream.position);
	stream.event_id = role_slot(Role::event_record_class_id);
	stream.event_time = role_slot(Role::default_clock_timestamp);
	if (stream.event_time < 0 && stream.context.begin < 0 && stream.context.end < 0)
		stream.clock = -1;
	assign_roles(stream.event_context, "event record common context", 0, stream.position);
}

void JsonSlots::event(const EventClass &cls)
{
	for (const FieldClass *scope : {&cls.context, &cls.payload})
		if (has_role(*scope))
			throw ParseError(scope->members.front().position,
					 "a field of the event record class " + cls.name +
					     " has a role, which it cannot have there");
}

// `has_passed`: the walk is past all of `type`. Else it is inside, and `frame` is the next structure on its path.
void JsonSlots::search(FieldClass &type, std::size_t step, Search &search, bool has_passed, std::size_t frame)
{
	const bool is_end = step == search.reference.steps.size();
	switch (type.kind) {
	case FieldClassKind::structure:
		if (!is_end)
			search_member(type, step, search, has_passed, frame);
		break;
	case FieldClassKind::variant:
		search_options(type, step, search, has_passed, frame);
		break;
	case FieldClassKind::optional:
	case FieldClassKind::array:
	case FieldClassKind::sequence:
		if (is_end && type.kind != FieldClassKind::optional)
			break;
		if (has_passed)
			search.why = "is in a list or an optional field that this one is not in";
		else
			this->search(type.element.front(), step, search, has_passed, frame);
		break;
	default:
		if (is_end && has_passed && type.is_integer())
			search.found.push_back(&type);
	}
}

void JsonSlots::search_member(FieldClass &structure, std::size_t step, Search &search, bool has_passed,
			      std::size_t frame)
{
	if (!has_passed && (frame >= frames_.size() || frames_[frame].structure != &structure))
		return; // in an option that is not selected at the walk's position
	const std::size_t current = has_passed ? structure.members.size() : frames_[frame].passed;
	const std::string &name = *search.reference.steps[step];
	for (std::size_t i = 0; i < structure.members.size(); ++i)
		if (structure.members[i].name == name && i <= current)
			this->search(structure.members[i].type, step + 1, search, has_passed || i < current, frame + 1);
}

void JsonSlots::search_options(FieldClass &variant, std::size_t step, Search &search, bool has_passed,
			       std::size_t frame)
{
	const std::size_t before = search.found.size();
	std::size_t options_with_match = 0;
	for (Member &option : variant.members) {
		const std::size_t found = search.found.size();
		this->search(option.type, step, search, has_passed, frame);
		options_with_match += search.found.size() > found;
	}
	if (has_passed && search.found.size() > before && options_with_match < variant.members.size())
		search.why = "is only in some of the options of a variant";
}

void JsonSlots::resolve_reference(FieldClass &type)
{
	const Reference &reference = *type.reference;
	const auto refuse = [&](const std::string &what) {
		throw ParseError(reference.position, "the field " + reference.path + ' ' + what);
	};
	Search search{reference, {}};
	const auto named = std::ranges::find_if(reference.steps, [](const auto &step) { return step.has_value(); });
	const auto levels_up = static_cast<std::size_t>(named - reference.steps.begin());
	if (reference.scope < 0) {
		if (levels_up >= frames_.size())
			refuse("is outside of its scope");
		const std::size_t frame = frames_.size() - 1 - levels_up;
		search_member(*frames_[frame].structure, levels_up, search, false, frame);
	} else {
		for (const Root &root : roots_)
			if (root.number == reference.scope)
				this->search(*root.type, 0, search, &root != &roots_.back(), 0);
	}
	if (search.why)
		refuse(search.why);
	if (search.found.empty())
		refuse("is not an integer before the field that needs it");
	std::int32_t slot = -1;
	for (const FieldClass *selector : search.found) {
		check(type, *selector);
		if (selector->is_signed != search.found.front()->is_signed)
			refuse("is signed in one option of a variant and unsigned in another");
		if (selector->slot >= 0 && slot >= 0 && slot != selector->slot)
			refuse("is in several options of a variant, and other fields refer to one of these");
		slot = std::max(slot, selector->slot);
	}
	if (slot < 0)
		slot = new_slot(false);
	for (FieldClass *selector : search.found)
		selector->slot = slot;
	if (type.kind == FieldClassKind::variant)
		check_options(type, search.found.front()->is_signed);
	if (type.kind != FieldClassKind::optional) {
		type.slot = slot;
		return;
	}
	FieldClass::Presence presence = type.presence->front();
	presence.slot = slot;
	type.presence = std::make_shared<std::vector<FieldClass::Presence>>(1, std::move(presence));
}

void JsonSlots::check(const FieldClass &type, const FieldClass &selector)
{
	const Reference &reference = *type.reference;
	const auto refuse = [&](const std::string &what) {
		throw ParseError(reference.position, "the field " + reference.path + ' ' + what);
	};
	if (type.kind == FieldClassKind::sequence && (selector.is_signed || selector.is_boolean))
		refuse("is a length, but not an unsigned integer");
	if (type.kind == FieldClassKind::sequence)
		return;
	if (reference.has_boolean_tag != selector.is_boolean)
		refuse(selector.is_boolean ? "is a boolean, of which there are no ranges"
					   : "is not a boolean, so ranges are needed");
	if (selector.is_signed ? reference.has_large : reference.has_negative)
		refuse("can never be in one of the ranges");
}

} // namespace monitor::trace
