// SPDX-License-Identifier: MIT
#include "event_json.h"

#include "base/text.h"

namespace monitor::query {

EventJson::ClassFields &EventJson::of_class(const trace::EventClass &cls)
{
	std::unique_ptr<ClassFields> &of_class = classes_[cls.index];
	if (of_class)
		return *of_class;
	of_class = std::make_unique<ClassFields>();
	if (cls.size_bytes != 0) {
		for (const trace::Field &field : cls.fields)
			of_class->token_fields.push_back(
			    {(of_class->token_fields.empty() ? "" : ",") + json_text(field.name) + ":", &field,
			     trace::FieldRef(cls, field)});
		return *of_class;
	}
	for (const trace::FieldClass *scope : cls.scopes)
		if (scope == &cls.payload)
			of_class->payload.emplace_back(*scope, true);
		else if (scope)
			of_class->contexts.emplace_back(*scope, true);
	return *of_class;
}

void EventJson::put_field(const trace::Event &event, const TokenField &part)
{
	line_.put(part.before);
	const std::string *label = part.field->kind == trace::FieldKind::text ? nullptr : part.value.label(event);
	if (label || part.field->kind == trace::FieldKind::text) {
		const std::string_view text = label ? *label : part.value.get<std::string_view>(event);
		line_.reserve(text.size() * max_escaped_chars + 2);
		line_.set_end(put_json(line_.end(), text));
		return;
	}
	line_.reserve(max_number_chars);
	line_.set_end(part.field->kind == trace::FieldKind::signed_integer
			  ? put_signed(line_.end(), part.value.get<std::int64_t>(event))
			  : put_unsigned(line_.end(), part.value.get(event)));
}

std::string_view EventJson::fields(const trace::Event &event)
{
	ClassFields &of_class = this->of_class(*event.cls);
	line_.clear();
	line_.put("{");
	for (const TokenField &part : of_class.token_fields)
		put_field(event, part);
	std::uint64_t at_bits = event.at_bits;
	ignored_.clear();
	for (trace::ContextText &context : of_class.contexts)
		context.put(event.view(), at_bits, ignored_); // only skips it
	for (const trace::FieldText &payload : of_class.payload)
		payload.put(event.view(), at_bits, line_);
	line_.put("}");
	return line_.view();
}

std::string_view EventJson::context(const trace::Event &event)
{
	ClassFields &of_class = this->of_class(*event.cls);
	if (of_class.contexts.empty())
		return {};
	line_.clear();
	std::uint64_t at_bits = event.at_bits;
	const char *before = "{";
	for (trace::ContextText &context : of_class.contexts) {
		line_.put(std::exchange(before, ","));
		context.put(event.view(), at_bits, line_);
	}
	line_.put("}");
	return line_.view();
}

} // namespace monitor::query
