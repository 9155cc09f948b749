// SPDX-License-Identifier: MIT
#include "references.h"

#include <algorithm>

namespace monitor::trace {
namespace {

using Kind = FieldClass::Kind;

// Removes the first of the words between dots.
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
		if (type->kind != Kind::structure)
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
	if (integer.slot < 0) {
		integer.slot = slots_;
		slots_ += integer.clock >= 0 ? 2 : 1;
	}
	return integer.slot;
}

void References::enter(std::string name, FieldClass &root)
{
	frames_.clear();
	roots_.push_back({std::move(name), &root});
	resolve(root);
}

void References::resolve(FieldClass &type)
{
	if (type.reference)
		refer(type);
	for (FieldClass &element : type.element)
		resolve(element);
	if (type.kind == Kind::structure)
		frames_.push_back({&type, 0});
	for (Member &member : type.members) {
		resolve(member.type);
		if (type.kind == Kind::structure)
			++frames_.back().visible;
	}
	if (type.kind == Kind::structure)
		frames_.pop_back();
}

// In the root of this name, among what the walk has passed of it.
FieldClass *References::find_absolute(std::string_view path, bool &is_absolute)
{
	for (auto root = roots_.rbegin(); root != roots_.rend(); ++root) {
		if (path.size() <= root->name.size() + 1 || path.substr(0, root->name.size()) != root->name ||
		    path[root->name.size()] != '.')
			continue;
		is_absolute = true;
		const bool is_current = root == roots_.rbegin();
		return descend(root->type, is_current ? frames_.front().visible : root->type->members.size(),
			       path.substr(root->name.size() + 1));
	}
	return nullptr;
}

FieldClass *References::find(const Reference &reference, std::string &why)
{
	bool is_absolute = false;
	FieldClass *found = find_absolute(reference.path, is_absolute);
	for (auto frame = frames_.rbegin(); !found && !is_absolute && frame != frames_.rend(); ++frame)
		found = descend(frame->structure, frame->visible, reference.path);
	for (auto root = roots_.rbegin(); !found && !is_absolute && root != roots_.rend(); ++root)
		if (root != roots_.rbegin())
			found = descend(root->type, root->type->members.size(), reference.path);
	if (!found)
		why = "there is no field " + reference.path + " before this one";
	return found;
}

void References::refer(FieldClass &type)
{
	if (type.reference->path.empty())
		throw Refusal(type.reference->position, "a variant has no tag");
	std::string why;
	FieldClass *found = find(*type.reference, why);
	const bool is_sequence = type.kind == Kind::sequence;
	if (found && found->kind != Kind::integer)
		why = "the field " + type.reference->path + " is not an integer";
	else if (found && is_sequence && found->is_signed)
		why = "the length " + type.reference->path + " is a signed integer";
	else if (found && !is_sequence && !found->labels)
		why = "the tag " + type.reference->path + " is not an enum";
	if (!why.empty())
		throw Refusal(type.reference->position, why);
	type.slot = save(*found);
	if (!is_sequence)
		choose_tags(type, *found);
}

// An option without a label is never selected: 4.2.2 allows it.
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
