// SPDX-License-Identifier: MIT
// State shared by the tables of a query session: the trace, its filter, checkpoints, the interrupt flag.
// Owned by Database (database.h), which outlives every table and cursor. One thread; only `interrupted` may be set from
// a signal handler.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checkpoints.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/trace.h"
#include "reading/filter/filter.h"

namespace monitor::query {

class Context {
public:
	// `filter`: restricts the tables of events. Throws Error.
	Context(trace::Trace &opened, const std::optional<std::string> &filter, std::uint64_t events_per_checkpoint);

	trace::Trace &trace;
	analyze::RecordingInfo info;
	std::unique_ptr<const filter::Filter> event_filter; // null: all events
	Checkpoints checkpoints;
	std::atomic<bool> interrupted = false;
	std::uint64_t events_decoded = 0; // by all scans
	bool has_undecided = false;       // constraints of a column depended on unknown values, in any scan

	// Compiles each text once. Throws ParseError.
	std::shared_ptr<const filter::Filter> compiled(const std::string &expression);
	// Messages: what the conditions so far left out, or could not decide.
	std::vector<std::string> notes() const;
	// Estimated number of events, from the size of the trace.
	double estimated_events() const { return estimated_events_; }
	std::int64_t time_ns(std::uint64_t time) const { return trace.since_begin_ns(time); }

private:
	void note_left_out(const filter::Filter &filter);
	bool is_undecided() const;

	std::map<std::string, std::shared_ptr<const filter::Filter>> compiled_;
	std::set<std::string> left_out_;
	double estimated_events_ = 1;
};

} // namespace monitor::query
