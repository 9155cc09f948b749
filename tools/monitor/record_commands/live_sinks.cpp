// SPDX-License-Identifier: MIT
#include "live_sinks.h"

#include <utility>

#include "answers/live/live_states.h"
#include "answers/live/live_statistics.h"

namespace monitor {

std::shared_ptr<record::StateSink> live_states(states::Tree tree)
{
	return std::make_shared<live::LiveStates>(std::move(tree));
}

std::shared_ptr<record::BlockSink> live_statistics(const record::StatisticsOptions &options)
{
	return std::make_shared<live::LiveStatistics>(options);
}

} // namespace monitor
