// SPDX-License-Identifier: MIT
// The tables of reports as the page reads them.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "answers/report/table.h"
#include "reading/analyze/recording_info.h"
#include "reading/analyze/thread_fold.h"
#include "reading/events/trace.h"

namespace monitor::view {

// {columns: [{key, title, unit}], rows: [[cells]]}; a cell that is unknown is null.
nlohmann::ordered_json table_json(const report::Table &table);

// Who had the CPUs, by process, thread, command, cgroup or cpu (is_usage()), with `threads`: what those that ran did
// with the part, in ticks: {ran, waiting, throttled, blocked}, null where it was not recorded.
bool is_usage(const std::string &by);
nlohmann::ordered_json usage_json(const analyze::ThreadFold &fold, const trace::Trace &trace,
				  const analyze::RecordingInfo &info, const std::string &by);

} // namespace monitor::view
