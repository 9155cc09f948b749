// SPDX-License-Identifier: MIT
// Is this trace true? All statements of `monitor check`. One pass judges the conservation of events, agreement with the
// kernel's own figures, the state machine, order and completeness, and the clock; further passes judge counts made in
// the kernel, run lengths and hosts. A file for each.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"

namespace monitor::check {

using namespace analyze; // RecordingInfo, folds and observers

// not_checked: the figure to compare with is unknown, or too small for a comparison. not_witnessed: the trace agrees
// with itself, but nothing independent of the probes can confirm it.
enum class Verdict { holds, fails, not_checked, not_witnessed };

const char *word(Verdict verdict);

struct Statement {
	std::string id; // stable id: "conservation", "context_switches" ...
	Verdict verdict = Verdict::holds;
	std::string text; // one sentence; with both figures of a comparison

	Statement(std::string name, Verdict judged, std::string sentence)
	    : id(std::move(name)), verdict(judged), text(std::move(sentence))
	{
	}
	// Formats `sentence` like fmt::format().
	template <class Value, class... Values>
	Statement(std::string name, Verdict judged, fmt::format_string<Value, Values...> sentence, Value &&value,
		  Values &&...values)
	    : Statement(std::move(name), judged,
			fmt::format(sentence, std::forward<Value>(value), std::forward<Values>(values)...))
	{
	}
};

struct Statements : std::vector<Statement> {
	void add(std::string id, Verdict verdict, std::string text)
	{
		push_back({std::move(id), verdict, std::move(text)});
	}
	template <class Value, class... Values>
	void add(std::string id, Verdict verdict, fmt::format_string<Value, Values...> text, Value &&value,
		 Values &&...values)
	{
		push_back({std::move(id), verdict, text, std::forward<Value>(value), std::forward<Values>(values)...});
	}
};

Statements judge(trace::Trace &trace, const RecordingInfo &info);

} // namespace monitor::check
