// SPDX-License-Identifier: MIT
// Results of a fold of the whole trace: the tables `threads` and `ratios`, and the number of events per class.
// Made on demand, then kept; by ThreadFold and CounterFold, as in `monitor report`. Invariant: a figure whose events
// were not recorded is NULL, never 0.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "context.h"
#include "memory_table.h"
#include "reading/analyze/counter_fold.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::query {

class Folded {
public:
	explicit Folded(Context &context) : context_(context) {}

	static const char *thread_columns();
	std::shared_ptr<const Rows> threads();
	static const char *ratio_columns();
	std::shared_ptr<const Rows> ratios();
	// Number of events by class index.
	const std::vector<std::uint64_t> &counts();

private:
	void fold();
	std::vector<Value> row_of(const analyze::ThreadFold &thread_fold, const analyze::Thread &thread) const;
	void add_ratios(Rows &rows, const analyze::ThreadFold &thread_fold, const analyze::CounterFold &fold) const;
	template <class OnEvent, class OnGap> void read(OnEvent on_event, OnGap on_gap);

	Context &context_;
	std::shared_ptr<const Rows> threads_, ratios_;
	std::optional<std::vector<std::uint64_t>> counts_;
};

// "": unknown.
inline Value text_or_null(const std::string &text)
{
	return text.empty() ? Value() : Value(text);
}

} // namespace monitor::query
