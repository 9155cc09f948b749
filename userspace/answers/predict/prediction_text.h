// SPDX-License-Identifier: MIT
// Predictions as a table, as JSON, and as bars.
#pragma once

#include <string>

#include "answers/plot/chart.h"
#include "answers/report/table.h"
#include "prediction.h"

namespace monitor::predict {

// A row for the model without a change, then one per change.
report::Table table_of(const Prediction &prediction);
// {"base_ns", "base_low_ns", "base_high_ns", "changes": [{"change", "elapsed_ns", "low_ns", "high_ns", "speed_up",
// "limited_by"}], "notes"}: what is not known is null.
std::string json_of(const Prediction &prediction);
plot::Chart chart_of(const Prediction &prediction);

} // namespace monitor::predict
