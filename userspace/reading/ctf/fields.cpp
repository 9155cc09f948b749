// SPDX-License-Identifier: MIT
#include "fields.h"

#include <algorithm>
#include <string>

namespace monitor::trace {
namespace {

using FieldClassKind = FieldClass::Kind;

// Beyond this, a field is found by walking.
constexpr std::uint64_t max_offset_bits = 1u << 30;

FieldKind kind_of(const FieldClass &type)
{
	if (type.is_integer())
		return type.is_signed ? FieldKind::signed_integer : FieldKind::unsigned_integer;
	if (type.kind == FieldClassKind::floating_point)
		return FieldKind::real;
	return type.is_text ? FieldKind::text : FieldKind::list;
}

// Walks the scopes of a class like those of an event. Offsets are known as long as all sizes are fixed and no field
// needs more alignment than the first scope.
class Lister {
public:
	explicit Lister(EventClass &cls) : cls_(cls) {}

	void add_scope(std::uint32_t number)
	{
		path_ = {number};
		add(*cls_.scopes[number], "", false);
	}
	bool is_known() const { return known_; }
	std::uint64_t at_bits() const { return at_bits_; }

private:
	void add(const FieldClass &type, const std::string &name, bool is_optional)
	{
		if (type.kind == FieldClassKind::variant) {
			known_ = false;
			return add_members(type, name, true);
		}
		if (type.kind == FieldClassKind::optional) {
			known_ = false;
			return type.is_hidden ? void() : add(type.element.front(), name, true);
		}
		known_ = known_ && type.align_bits <= cls_.align_bits;
		at_bits_ = aligned(at_bits_, type.align_bits);
		if (type.kind == FieldClassKind::structure)
			return add_members(type, name, is_optional);
		if (!type.is_hidden)
			add_leaf(type, name, is_optional);
		known_ = known_ && (type.is_scalar() || type.is_fixed);
		at_bits_ += type.fixed_bits;
	}

	void add_members(const FieldClass &type, const std::string &name, bool is_optional)
	{
		for (std::size_t i = 0; i < type.members.size(); ++i) {
			const Member &member = type.members[i];
			path_.push_back(static_cast<std::uint32_t>(i));
			add(member.type, name.empty() ? member.name : name + '.' + member.name, is_optional);
			path_.pop_back();
		}
	}

	void add_leaf(const FieldClass &type, const std::string &name, bool is_optional)
	{
		Field field;
		field.name = name;
		field.kind = kind_of(type);
		field.big_endian = type.big_endian;
		field.is_fixed = known_ && at_bits_ + type.fixed_bits < max_offset_bits && cls_.align_bits >= 8 &&
				 (type.is_scalar() || (type.is_text && type.is_fixed)) && !type.is_reversed &&
				 type.encoding == Encoding::utf8;
		field.is_optional = is_optional;
		field.is_coded = type.is_coded;
		field.base = type.base;
		field.offset_bits = field.is_fixed ? static_cast<std::uint32_t>(at_bits_) : 0;
		field.size_bits = field.is_fixed || type.is_scalar()    ? static_cast<std::uint32_t>(type.fixed_bits)
				  : type.kind == FieldClassKind::varint ? type.size_bits
									: 0;
		field.labels = type.labels;
		field.path = path_;
		field.type = &type;
		cls_.fields.push_back(std::move(field));
	}

	EventClass &cls_;
	std::vector<std::uint32_t> path_;
	bool known_ = true;
	std::uint64_t at_bits_ = 0; // from the start of the first scope, while known_
};

// Renames fields of contexts that clash; the payload's keep their names.
void rename_clashing_fields(EventClass &cls, std::size_t payload)
{
	for (std::size_t i = payload; i-- > 0;) {
		Field &field = cls.fields[i];
		const bool is_taken =
		    std::any_of(cls.fields.begin() + static_cast<std::ptrdiff_t>(i) + 1, cls.fields.end(),
				[&](const Field &other) { return other.name == field.name; });
		if (is_taken)
			field.name = "context." + field.name;
	}
}

} // namespace

void list_fields(EventClass &cls)
{
	cls.align_bits = cls.scopes[0] ? cls.scopes[0]->align_bits : 1;
	Lister lister(cls);
	std::size_t payload = 0;
	bool is_fixed = true;
	for (std::uint32_t number = 0; number < EventClass::max_scopes && cls.scopes[number]; ++number) {
		payload = cls.fields.size();
		lister.add_scope(number);
		cls.plan.add(*cls.scopes[number]);
		is_fixed = is_fixed && cls.scopes[number]->is_fixed;
	}
	cls.is_fixed = is_fixed && lister.is_known();
	cls.fixed_bits = lister.at_bits();
	rename_clashing_fields(cls, payload);
}

} // namespace monitor::trace
