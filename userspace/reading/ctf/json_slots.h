// SPDX-License-Identifier: MIT
// The slots of a CTF 2 layout: fields that have a role, and fields that give a length or select an option.
//
// Assigned when all fragments are read, as Completion does for CTF 1.8: every location gets the slot of the field that
// it leads to. A path may lead to one field in each option of a variant; these share a slot, and the last that was read
// counts.
#pragma once

#include <cstdint>
#include <vector>

#include "json_types.h"
#include "references.h"

namespace monitor::trace {

class JsonSlots : public ScopeWalk {
public:
	using ScopeWalk::ScopeWalk;

private:
	// Where a path leads, so far.
	struct Search {
		const Reference &reference;
		std::vector<FieldClass *> found;
		const char *why = nullptr; // what is wrong with its target
	};

	void packet_header() override;
	// Uses StreamClass::clock, and sets it to -1 if no field has the time.
	void stream(StreamClass &stream) override;
	void event(const EventClass &cls) override;
	void resolve_reference(FieldClass &type) override;

	void assign_roles(FieldClass &type, const char *scope, std::uint16_t allowed, TextPosition position);
	void assign_role(FieldClass &type, Role role);
	std::int32_t role_slot(Role role) const { return role_slots_[static_cast<std::size_t>(role)]; }
	void find_uuid(const FieldClass &structure, std::vector<std::uint32_t> &path);

	void search(FieldClass &type, std::size_t step, Search &search, bool has_passed, std::size_t frame);
	void search_member(FieldClass &structure, std::size_t step, Search &search, bool has_passed, std::size_t frame);
	void search_options(FieldClass &variant, std::size_t step, Search &search, bool has_passed, std::size_t frame);
	static void check(const FieldClass &type, const FieldClass &selector);

	static constexpr std::size_t roles_ = 11;

	std::int8_t clock_ = -1; // of the stream class
	std::int32_t role_slots_[roles_] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
	std::uint32_t role_bits_[roles_] = {};
};

} // namespace monitor::trace
