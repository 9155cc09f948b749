// SPDX-License-Identifier: MIT
#include "references.h"

#include <algorithm>

namespace monitor::trace {
namespace {

using FieldClassKind = FieldClass::Kind;

// The roots of absolute paths.
constexpr std::string_view root_names[] = {"trace.packet.header",  "stream.packet.context", "stream.event.header",
					   "stream.event.context", "event.context",         "event.fields"};

// Removes the first word of a dotted path.
std::string_view take_word(std::string_view &path)
{
	const std::size_t dot = path.find('.');
	const std::string_view word = path.substr(0, dot);
	path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
	return word;
}

// Follows the members that the path names; nullptr: there is no such field.
FieldClass *descend(FieldClass *type, std::size_t visible, std::string_view path)
{
	while (!path.empty()) {
		if (type->kind != FieldClassKind::structure)
			return nullptr;
		const std::string_view word = take_word(path);
		const auto end = type->members.begin() + static_cast<std::ptrdiff_t>(visible);
		const auto found =
		    std::find_if(type->members.begin(), end, [&](const Member &m) { return m.name == word; });
		if (found == end)
			return nullptr;
		type = &found->type;
		visible = type->members.size();
	}
	return type;
}

} // namespace

std::int32_t References::save(FieldClass &integer)
{
	if (integer.slot < 0)
		integer.slot = new_slot(integer.clock >= 0);
	return integer.slot;
}

void ScopeWalk::walk(const std::vector<std::shared_ptr<EventClass>> &events, const std::vector<StreamClass *> &streams)
{
	packet_header();
	enter(0, layout_.packet_header);
	for (const auto &each : layout_.streams) {
		stream(*each);
		enter(1, each->packet_context);
		enter(2, each->event_header);
		enter(3, each->event_context);
		for (std::size_t i = 0; i < events.size(); ++i) {
			if (streams[i] != each.get())
				continue;
			event(*events[i]);
			enter(4, events[i]->context);
			enter(5, events[i]->payload);
			roots_.resize(4);
		}
		roots_.resize(1);
	}
}

std::int32_t ScopeWalk::new_slot(bool is_time)
{
	const std::int32_t slot = layout_.slots;
	layout_.slots += is_time ? 2 : 1;
	return slot;
}

void ScopeWalk::enter(std::int8_t number, FieldClass &root)
{
	frames_.clear();
	roots_.push_back({number, &root});
	resolve(root);
}

void ScopeWalk::resolve(FieldClass &type)
{
	if (type.reference)
		resolve_reference(type);
	for (FieldClass &element : type.element)
		resolve(element);
	if (type.kind == FieldClassKind::structure)
		frames_.push_back({&type, 0});
	for (Member &member : type.members) {
		resolve(member.type);
		if (type.kind == FieldClassKind::structure)
			++frames_.back().passed;
	}
	if (type.kind == FieldClassKind::structure)
		frames_.pop_back();
}

// Finds the path in the root of this name, among fields that precede the walk's position.
FieldClass *References::find_absolute(std::string_view path, bool &is_absolute)
{
	for (auto root = roots_.rbegin(); root != roots_.rend(); ++root) {
		const std::string_view name = root_names[root->number];
		if (path.size() <= name.size() + 1 || !path.starts_with(name) || path[name.size()] != '.')
			continue;
		is_absolute = true;
		const bool is_current = root == roots_.rbegin();
		return descend(root->type, is_current ? frames_.front().passed : root->type->members.size(),
			       path.substr(name.size() + 1));
	}
	return nullptr;
}

FieldClass *References::find(const Reference &reference, std::string &why)
{
	bool is_absolute = false;
	FieldClass *found = find_absolute(reference.path, is_absolute);
	for (auto frame = frames_.rbegin(); !found && !is_absolute && frame != frames_.rend(); ++frame)
		found = descend(frame->structure, frame->passed, reference.path);
	for (auto root = roots_.rbegin(); !found && !is_absolute && root != roots_.rend(); ++root)
		if (root != roots_.rbegin())
			found = descend(root->type, root->type->members.size(), reference.path);
	if (!found)
		why = "there is no field " + reference.path + " before this one";
	return found;
}

void References::resolve_reference(FieldClass &type)
{
	if (type.reference->path.empty())
		throw ParseError(type.reference->position, "a variant has no tag");
	std::string why;
	FieldClass *found = find(*type.reference, why);
	const bool is_sequence = type.kind == FieldClassKind::sequence;
	if (found && found->kind != FieldClassKind::integer)
		why = "the field " + type.reference->path + " is not an integer";
	else if (found && is_sequence && found->is_signed)
		why = "the length " + type.reference->path + " is a signed integer";
	else if (found && !is_sequence && !found->labels)
		why = "the tag " + type.reference->path + " is not an enum";
	if (!why.empty())
		throw ParseError(type.reference->position, why);
	type.slot = save(*found);
	if (!is_sequence)
		choose_tags(type, *found);
}

// An option without a label is never selected, which 4.2.2 allows.
void References::choose_tags(FieldClass &variant, const FieldClass &tag)
{
	for (Member &option : variant.members) {
		option.tags.clear();
		for (const auto &label : tag.labels->labels())
			if (label.text == option.name)
				option.tags.push_back({label.first, label.last});
	}
}

} // namespace monitor::trace
