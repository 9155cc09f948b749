// SPDX-License-Identifier: MIT
// Which events are meant, as an expression over their fields: FDL, described in Documentation/filters.md.
//
//     const poet::Filter failed(trace, "name == \"sys_exit\" and ret < 0");
//     while (cursor.next(failed) == poet::Item::event) ...
//
// A handle as Trace is; any number of threads may use one.
#pragma once

#include <memory>
#include <string_view>

#include "event.hpp"

namespace poet {

class POET_API Filter {
public:
	// Throws Error, whose sentence names the column, if the expression is none or names what the trace does not
	// have.
	Filter(const Trace &trace, std::string_view expression);

	// Whether this event of the trace is meant. Who ran is not known to a single event: it has neither `tid` nor
	// `thread`.
	bool matches(const Event &event) const;
	// Whether any event of this class of the trace can be meant.
	bool can_match(const EventClass &cls) const;
	// Whether it names `tid` or `thread`: only visit(), which reads all events in their order, knows these.
	bool asks_who_runs() const;

	class Body;
	const Body &body() const { return *body_; } // for the library itself

private:
	std::shared_ptr<const Body> body_;
};

} // namespace poet
