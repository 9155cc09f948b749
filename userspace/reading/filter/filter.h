// SPDX-License-Identifier: MIT
// FDL: selects events by an expression over their fields. Documentation/filters.md is the reference.
//
//     const Filter filter("name == \"sys_exit\" and ret < 0", trace.description(), trace.begin_time());
//     if (filter.matches(event)) ...
//
// Text -> parse() -> Expression -> check() against the description -> compile() per event class -> Program per class.
// Made by callers that take an expression from a user (`monitor list --filter`); depends on no command, prints nothing.
// matches() is const: any number of threads may call it. It allocates nothing, unless what it asks for is unknown.
// Invariant: matches() never accepts an event of a class that can_match() rejects.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program.h"
#include "reading/ctf/description.h"
#include "reading/events/event.h"
#include "value_source.h"

namespace monitor::filter {

class Filter {
public:
	// `time` counts from begin_time. The expression may also use `known`; then matches() needs a Knowledge. Throws
	// ParseError. The description must outlive the filter. With `doubts`, names that the description lacks may be
	// those of later classes; warnings are added. For Evaluator::reader, values that an event lacks are derived
	// from earlier events, such as the call that a sys_exit ends.
	Filter(std::string_view untrusted_text, const trace::Description &description, std::uint64_t begin_time,
	       const KnownNames &known = {}, std::vector<std::string> *doubts = nullptr,
	       Evaluator evaluator = Evaluator::reader);

	// Whether any event of this class can match.
	bool can_match(const trace::EventClass &cls) const { return programs_[cls.index].can_match(); }

	const Program &program(const trace::EventClass &cls) const { return programs_[cls.index]; }

	// Whether the expression uses the running thread, or state from earlier tokens: its name, its call.
	bool needs_threads() const { return needs_threads_; }
	bool needs_names() const { return needs_names_; }
	bool uses_time() const { return uses_time_; } // since begin_time, by the description's clock
	// Whether the expression uses this name of `known`, and whether it uses the event at all.
	bool uses_known(std::string_view name) const;
	bool uses_event() const { return uses_event_; }
	// The expression's names that refer to the event.
	const std::vector<std::string> &names() const { return names_; }

	// Matches an event of the description. Without `running` it has neither `tid` nor `thread`. Unknown derived
	// values count as absent.
	bool matches(const trace::Event &event, const Running &running = {}) const
	{
		note_undecided(event, running);
		return programs_[event.cls->index].matches(event, running);
	}
	// The same; nullopt if the result depends on an unknown derived value.
	std::optional<bool> decide(const trace::Event &event, const Running &running) const
	{
		if (note_undecided(event, running))
			return {};
		return programs_[event.cls->index].matches(event, running);
	}
	// How often the result depended on such a value so far.
	std::uint64_t undecided() const { return *undecided_; }
	// Whether derived values are used, for a class or for any.
	bool derives(const trace::EventClass &cls) const { return is_derived_[cls.index]; }
	bool derives() const { return derives_; }

private:
	bool note_undecided(const trace::Event &event, const Running &running) const
	{
		const bool is_undecided = derives_ && is_derived_[event.cls->index] &&
					  programs_[event.cls->index].is_undecided(event, running);
		if (is_undecided)
			++*undecided_;
		return is_undecided;
	}
	void find_uses(const Expression &expression, const KnownNames &known);

	std::unique_ptr<const Expression> condition_;
	std::vector<Program> programs_; // by class index
	std::vector<bool> is_derived_;  // by class index
	std::unique_ptr<std::atomic<std::uint64_t>> undecided_ = std::make_unique<std::atomic<std::uint64_t>>();
	std::vector<std::string> used_, names_; // of `known`; of the event
	bool derives_ = false, needs_threads_ = false, needs_names_ = false, uses_time_ = false, uses_event_ = false;
};

// Whether the expression can only match some forms of an event, as another form lacks a name that cannot be derived:
// the user may have meant all forms.
struct LeftOut {
	const trace::EventClass *form = nullptr; // the form that lacks the name; nullptr: none
	std::string name;
};
// `takes`: whether the expression may match a class. For expressions about one event.
LeftOut left_out(const Filter &filter, const trace::Description &description,
		 const std::function<bool(const trace::EventClass &)> &takes);
// "some events of sys_exit have no id, so ..."; "": no form is left out.
std::string left_out_text(const LeftOut &left_out);
// The warning for undecided results.
extern const char *const undecided_warning;

} // namespace monitor::filter
