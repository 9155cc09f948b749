// SPDX-License-Identifier: MIT
#include "layout.h"

#include <algorithm>

#include "base/grow.h"
#include "description.h"

namespace monitor::trace {
namespace {

using FieldClassKind = FieldClass::Kind;

// Follows a header's fields as long as their offsets are fixed.
struct Follower {
	std::int32_t id_slot, time_slot;
	std::uint32_t align_bits; // of the header: no field may need more
	FlatHeader::Form form;
	std::uint64_t at_bits = 0;

	bool follow(const FieldClass &type)
	{
		const bool is_flat = type.kind == FieldClassKind::structure || type.is_scalar() ||
				     (type.kind == FieldClassKind::array && type.is_fixed);
		if (type.align_bits > align_bits || !is_flat)
			return false;
		at_bits = aligned(at_bits, type.align_bits);
		if (type.kind == FieldClassKind::structure)
			return std::ranges::all_of(type.members,
						   [this](const Member &member) { return follow(member.type); });
		if (type.slot >= 0 && type.slot != id_slot && type.slot != time_slot)
			return false; // it must be saved for other fields
		if (type.big_endian || type.is_reversed || at_bits + type.fixed_bits > FlatHeader::max_bits)
			return false;
		const FlatHeader::Part part = {static_cast<std::uint32_t>(at_bits), type.size_bits};
		if (type.slot >= 0 && (type.is_signed || type.size_bits + at_bits % 8 > 64))
			return false;
		if (type.slot >= 0 && type.slot == id_slot)
			form.id = part;
		else if (type.slot >= 0)
			form.time = part;
		at_bits += type.fixed_bits;
		return true;
	}
};

} // namespace

bool StreamClass::add(const EventClass &added)
{
	if (added.id >= small_limit)
		return large_.emplace(added.id, &added).second;
	const EventClass *&entry = grow_to(small_, added.id);
	if (entry)
		return false;
	entry = &added;
	return true;
}

const StreamClass *Layout::find(std::uint64_t id) const
{
	for (const auto &each : streams)
		if (each->id == id)
			return each.get();
	return nullptr;
}

StreamClass *Layout::find(std::uint64_t id)
{
	return const_cast<StreamClass *>(static_cast<const Layout &>(*this).find(id));
}

FlatHeader flatten(const FieldClass &header, std::int32_t id_slot, std::int32_t time_slot)
{
	FlatHeader made;
	Follower start{id_slot, time_slot, header.align_bits, {}};
	const auto &members = header.members;
	const auto variant =
	    std::ranges::find_if(members, [](const Member &m) { return m.type.kind == FieldClassKind::variant; });
	for (auto member = members.begin(); member != variant; ++member)
		if (!start.follow(member->type))
			return made;
	if (variant == members.end()) {
		start.form.size_bits = static_cast<std::uint32_t>(start.at_bits);
		made.forms.push_back(start.form);
		return made;
	}
	if (variant->type.slot != id_slot || id_slot < 0 || start.form.id.size_bits == 0)
		return made;
	made.selector = start.form.id;
	for (const Member &option : variant->type.members) {
		Follower branch = start;
		bool fixed = branch.follow(option.type);
		for (auto member = variant + 1; member != members.end(); ++member)
			fixed = fixed && branch.follow(member->type);
		if (!fixed)
			return {};
		branch.form.size_bits = static_cast<std::uint32_t>(branch.at_bits);
		for (const LabelRange &tag : option.tags) {
			branch.form.first = tag.first;
			branch.form.last = tag.last;
			made.forms.push_back(branch.form);
		}
	}
	return made;
}

} // namespace monitor::trace
