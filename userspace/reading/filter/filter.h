// SPDX-License-Identifier: MIT
// FDL: selects events by an expression over their fields. Documentation/filters.md is the reference.
//
//     const Filter filter("name == \"sys_exit\" and ret < 0", trace.description(), trace.begin_time());
//     if (filter.matches(event)) ...
//
// Text -> parse() -> Expression -> check() against the description -> compile() per event class -> Program per class.
// Made by callers that take an expression from a user (`monitor list --filter`); depends on no command, prints nothing.
// matches() is const and allocates nothing: any number of threads may call it.
// Invariant: matches() never accepts an event of a class that can_match() rejects.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "program.h"
#include "reading/ctf/description.h"
#include "reading/events/event.h"
#include "source.h"

namespace monitor::filter {

class Filter {
public:
	// `time` counts from begin_time. `known` may be asked for besides the event: then matches() needs a Knowledge.
	// Throws Refusal. The description must outlive the filter. With `doubts`, names that the description lacks may
	// be those of classes that come later: sentences about them are added.
	Filter(std::string_view untrusted_text, const trace::Description &description, std::uint64_t begin_time,
	       const KnownNames &known = {}, std::vector<std::string> *doubts = nullptr);

	// Whether any event of this class can match: events of other classes need not be looked at.
	bool can_match(const trace::EventClass &cls) const { return programs_[cls.index].can_match(); }

	const Program &program(const trace::EventClass &cls) const { return programs_[cls.index]; }

	// Whether the expression uses the running thread, or its name. Names are those that earlier tokens reported.
	bool needs_threads() const { return needs_threads_; }
	bool needs_names() const { return needs_names_; }
	bool uses_time() const { return uses_time_; } // since begin_time, by the description's clock
	// Whether the expression uses this name of `known`, and whether it uses anything else: the event.
	bool uses_known(std::string_view name) const;
	bool uses_event() const { return uses_event_; }
	// Names of the event in the expression.
	const std::vector<std::string> &names() const { return names_; }

	// An event of the description. Without `running` the event has neither `tid` nor `thread`.
	bool matches(const trace::Event &event, const Running &running = {}) const
	{
		return programs_[event.cls->index].matches(event, running);
	}

private:
	void find_uses(const Expression &expression, const KnownNames &known);

	std::unique_ptr<const Expression> condition_;
	std::vector<Program> programs_;         // by class index
	std::vector<std::string> used_, names_; // of `known`; of the event
	bool needs_threads_ = false, needs_names_ = false, uses_time_ = false, uses_event_ = false;
};

} // namespace monitor::filter
