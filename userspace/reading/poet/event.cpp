// SPDX-License-Identifier: MIT
// Values of events: what is not inline in the public header.
#include "core.h"
#include "value_text.h"

namespace poet {

using namespace monitor::trace;

Field::Field(std::shared_ptr<const detail::FieldTable> table)
    : table_(std::move(table)), places_(table_->places.data()), tables_(table_->core.get())
{
}

const std::string &Field::name() const
{
	return table_->name;
}

monitor::trace::Event detail::Access::internal(const Event &event)
{
	const Core &core = Access::core(event);
	monitor::trace::Event made;
	made.cls = &core.internal(event.class_);
	made.data = event.data_;
	made.time = event.time_;
	made.stream = &core.trace().streams()[event.stream_]->info();
	if (made.is_token()) {
		made.packet = static_cast<const std::byte *>(event.place_);
		return made;
	}
	const auto &described = *static_cast<const GenericCtf *>(event.place_);
	made.packet = described.packet;
	made.packet_cpu = described.cpu;
	made.at_bits = described.at_bits;
	made.end_bits = described.end_bits;
	made.slots = described.slots;
	return made;
}

Mode Event::mode() const
{
	return detail::Access::internal(*this).mode() == EDC_MODE_USER ? Mode::user : Mode::kernel;
}

bool Event::has_ref(const detail::Ref *ref) const
{
	return ref && ref->ref.is_in(detail::Access::internal(*this));
}

bool Event::integer(const detail::Ref *ref, std::uint64_t &bits, bool &is_signed) const
{
	if (!ref || !ref->field->is_integer())
		return false;
	const auto event = detail::Access::internal(*this);
	if (!ref->ref.is_in(event))
		return false;
	bits = ref->ref.get(event);
	is_signed = ref->field->kind == FieldKind::signed_integer;
	return true;
}

std::optional<double> Event::real(const detail::Ref *ref) const
{
	if (!ref || ref->field->kind != FieldKind::real)
		return std::nullopt;
	const auto event = detail::Access::internal(*this);
	return ref->ref.is_in(event) ? std::optional(ref->ref.get<double>(event)) : std::nullopt;
}

std::optional<std::string_view> Event::text(const detail::Ref *ref) const
{
	if (!ref || ref->field->kind != FieldKind::text)
		return std::nullopt;
	const auto event = detail::Access::internal(*this);
	return ref->ref.is_in(event) ? std::optional(ref->ref.get<std::string_view>(event)) : std::nullopt;
}

const detail::Ref *Event::ref_of(std::string_view name) const
{
	return detail::Access::core(*this).ref(class_, name);
}

Value Event::value(const Field &field) const
{
	const detail::Ref *ref = place_of(field).ref;
	return ref ? detail::value_of(*ref, detail::Access::internal(*this)) : Value();
}

Value Event::value(std::size_t field_number) const
{
	if (field_number >= event_class().fields.size())
		return {};
	return detail::value_of(*detail::Access::core(*this).ref(class_, field_number),
				detail::Access::internal(*this));
}

std::vector<Value> Event::values(const Field &field) const
{
	const detail::Ref *ref = place_of(field).ref;
	return ref ? detail::values_of(*ref, detail::Access::internal(*this)) : std::vector<Value>();
}

std::string_view Event::label(const Field &field) const
{
	const detail::Ref *ref = place_of(field).ref;
	if (!ref || !ref->field->labels)
		return {};
	const auto event = detail::Access::internal(*this);
	const std::string *label = ref->ref.is_in(event) ? ref->ref.label(event) : nullptr;
	return label ? std::string_view(*label) : std::string_view();
}

std::string Event::text_of(const Field &field) const
{
	const detail::Ref *ref = place_of(field).ref;
	return ref ? detail::text_of(*ref, detail::Access::internal(*this)) : std::string();
}

std::string Event::to_text() const
{
	std::string text = name();
	const auto event = detail::Access::internal(*this);
	const detail::Core &core = detail::Access::core(*this);
	for (std::size_t i = 0; i < event_class().fields.size(); ++i) {
		const detail::Ref &ref = *core.ref(class_, i);
		if (ref.ref.is_in(event))
			text += ' ' + ref.field->name + '=' + detail::text_of(ref, event);
	}
	return text;
}

} // namespace poet
