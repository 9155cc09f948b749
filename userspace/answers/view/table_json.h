// SPDX-License-Identifier: MIT
// The tables of reports as JSON for the page.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "answers/report/table.h"
#include "reading/analyze/recording_info.h"
#include "reading/analyze/thread_fold.h"
#include "reading/events/trace.h"

namespace monitor::view {

// {columns: [{key, title, unit}], rows: [[cells]]}; an unknown cell is null.
nlohmann::ordered_json table_json(const report::Table &table);

// Usage of the CPUs by process, thread, command, cgroup or cpu (is_usage()), with `threads`: totals of the threads that
// ran in the part, in ticks: {ran, waiting, throttled, blocked}, null if not recorded.
bool is_usage(const std::string &by);
nlohmann::ordered_json usage_json(const analyze::ThreadFold &fold, const trace::Trace &trace,
				  const analyze::RecordingInfo &info, const std::string &by);

} // namespace monitor::view
