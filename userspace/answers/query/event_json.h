// SPDX-License-Identifier: MIT
// The fields of an event as a JSON object, as `monitor list --json` prints them.
//
// Used for the columns `fields` and `context` of the tables of events (event_table.h). A class is compiled for its
// first event. One thread.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "reading/ctf/context_text.h"
#include "reading/ctf/line_buffer.h"
#include "reading/events/event.h"
#include "reading/events/field_ref.h"

namespace monitor::query {

class EventJson {
public:
	explicit EventJson(std::size_t classes) : classes_(classes) {}

	// Valid until the next call.
	std::string_view fields(const trace::Event &event);
	// Empty if the class has no context.
	std::string_view context(const trace::Event &event);

private:
	struct TokenField { // a field of a token
		std::string before;
		const trace::Field *field;
		trace::FieldRef value;
	};
	struct ClassFields {
		std::vector<TokenField> token_fields;
		std::vector<trace::ContextText> contexts;
		std::vector<trace::FieldText> payload; // one, or none if it is empty
	};

	ClassFields &of_class(const trace::EventClass &cls);
	void put_field(const trace::Event &event, const TokenField &part);

	std::vector<std::unique_ptr<ClassFields>> classes_; // by class index
	trace::LineBuffer line_, ignored_;
};

} // namespace monitor::query
