// SPDX-License-Identifier: MIT
// Selects events by an expression over their fields, written in FDL (Documentation/filters.md).
//
//     const poet::Filter failed(trace, "name == \"sys_exit\" and ret < 0");
//     while (cursor.next(failed) == poet::Item::event) ...
//
// A handle like Trace; any number of threads may use it.
#pragma once

#include <memory>
#include <string_view>

#include "event.hpp"

namespace poet {

class POET_API Filter {
public:
	// Throws Error, which reports the column, if the expression is invalid or names something that the trace does
	// not have.
	Filter(const Trace &trace, std::string_view expression);

	// Whether this event of the trace matches. A single event does not reveal which thread ran: it has neither
	// `tid` nor `thread`.
	bool matches(const Event &event) const;
	// Whether any event of this class of the trace can match.
	bool can_match(const EventClass &cls) const;
	// Whether the expression uses `tid` or `thread`: only visit(), which reads all events in order, can supply
	// these.
	bool asks_who_runs() const;

	class Body;
	const Body &body() const { return *body_; } // for the library itself

private:
	std::shared_ptr<const Body> body_;
};

} // namespace poet
