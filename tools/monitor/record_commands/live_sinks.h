// SPDX-License-Identifier: MIT
// Consumers of a running recording's events (answers/live/). Not in monitor_core.
#pragma once

#include <memory>

#include "reading/states/tree.h"
#include "recording/periods/period_files.h"
#include "recording/rings/block_sink.h"

namespace monitor {

std::shared_ptr<record::StateSink> live_states(states::Tree tree);                            // record --states
std::shared_ptr<record::BlockSink> live_statistics(const record::StatisticsOptions &options); // record --statistics

} // namespace monitor
