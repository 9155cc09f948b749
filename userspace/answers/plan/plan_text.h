// SPDX-License-Identifier: MIT
// Predictions as a table, and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "answers/report/table.h"
#include "factorial.h"
#include "plan.h"

namespace monitor::plan {

struct PlannedRow {
	Setting setting;
	Prediction prediction;
};
struct SmallestBuffer {
	std::optional<double> disk_bytes_per_second;
	std::optional<std::uint64_t> bytes; // none: max_buffer loses, too
};

report::Table table_of(const std::vector<PlannedRow> &rows);
std::string text_of(const SmallestBuffer &smallest);
nlohmann::ordered_json to_json(const Recorded &recorded, const std::vector<PlannedRow> &rows,
			       const std::vector<SmallestBuffer> &smallest);

// Of a factorial design, with its levels: "buffer", "4M", "24M".
struct Factor {
	std::string name, first, second;
};
report::Table table_of(const Design &design, const std::vector<Factor> &factors);
std::string summary_of(const Design &design, std::size_t factors, std::size_t repetitions);
nlohmann::ordered_json to_json(const Design &design, const std::vector<Factor> &factors);

// "4M", "default"; "20 MB/s", "as it was"; "63 to 66 %".
std::string buffer_text(std::optional<std::uint64_t> bytes);
std::string disk_text(std::optional<double> bytes_per_second);
std::string percent_text(const Range &range);

} // namespace monitor::plan
