// SPDX-License-Identifier: MIT
#include "prediction_text.h"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/plot/from_table.h"
#include "base/escape.h"
#include "base/json.h"

namespace monitor::predict {
namespace {

// Three digits: "970 ms", "12.3 us".
std::string time_text(double ns)
{
	constexpr std::array units = {std::pair(1e9, "s"), std::pair(1e6, "ms"), std::pair(1e3, "us")};
	for (const auto &[unit, name] : units)
		if (ns >= unit)
			return fmt::format("{:.{}f} {}", ns / unit,
					   ns >= 100 * unit  ? 0
					   : ns >= 10 * unit ? 1
							     : 2,
					   name);
	return fmt::format("{:.0f} ns", ns);
}

// "970 ms +-5 %"
std::string elapsed_text(const Estimate &estimate)
{
	std::string text = (estimate.is_lower_bound ? ">= " : "") + time_text(estimate.elapsed_ns);
	if (!estimate.low_ns)
		return text;
	const double below = 100 * (1 - *estimate.low_ns / estimate.elapsed_ns),
		     above = 100 * (*estimate.high_ns / estimate.elapsed_ns - 1);
	if (std::round(below) == std::round(above))
		return fmt::format("{} +-{:.0f} %", text, above);
	return fmt::format("{} -{:.0f} +{:.0f} %", text, below, above);
}

report::Cell limit_cell(const Estimate &estimate)
{
	if (!estimate.limit)
		return {};
	return fmt::format("{} {:.0f} %", printable(estimate.limit->name), 100 * estimate.limit->share);
}

template <class Value> nlohmann::ordered_json rounded(const std::optional<Value> &value)
{
	return value ? nlohmann::ordered_json(std::llround(*value)) : nlohmann::ordered_json();
}

nlohmann::ordered_json json_of(const Estimate &estimate)
{
	nlohmann::ordered_json made;
	made["change"] = estimate.change;
	made["elapsed_ns"] = std::llround(estimate.elapsed_ns);
	made["low_ns"] = rounded(estimate.low_ns);
	made["high_ns"] = rounded(estimate.high_ns);
	made["speed_up"] = std::round(estimate.speed_up * 1e4) / 1e4;
	made["limited_by"] = nullptr;
	made["limited_share"] = nullptr;
	if (estimate.limit) {
		made["limited_by"] = estimate.limit->name;
		made["limited_share"] = std::round(estimate.limit->share * 1e4) / 1e4;
	}
	made["is_lower_bound"] = estimate.is_lower_bound;
	return made;
}

} // namespace

report::Table table_of(const Prediction &prediction)
{
	report::Table table;
	table.columns = {{"change", "change", report::Unit::text},
			 {"elapsed", "elapsed", report::Unit::text},
			 {"speed_up", "speed-up", report::Unit::ratio},
			 {"limited_by", "limited by", report::Unit::text}};
	const auto add = [&](const Estimate &estimate) {
		table.rows.push_back(
		    {printable(estimate.change), elapsed_text(estimate), estimate.speed_up, limit_cell(estimate)});
	};
	add(prediction.base);
	for (const Estimate &estimate : prediction.changes)
		add(estimate);
	return table;
}

std::string json_of(const Prediction &prediction)
{
	nlohmann::ordered_json made;
	made["base_ns"] = std::llround(prediction.base.elapsed_ns);
	made["base_low_ns"] = rounded(prediction.base.low_ns);
	made["base_high_ns"] = rounded(prediction.base.high_ns);
	made["changes"] = nlohmann::ordered_json::array();
	for (const Estimate &estimate : prediction.changes)
		made["changes"].push_back(json_of(estimate));
	made["notes"] = prediction.notes;
	return json_dump(made) + '\n';
}

plot::Chart chart_of(const Prediction &prediction)
{
	report::Table table;
	table.columns = {{"change", "change", report::Unit::text},
			 {"elapsed_ns", "elapsed", report::Unit::nanoseconds}};
	table.figure = {"elapsed_ns", ""};
	const auto add = [&](const Estimate &estimate) {
		table.rows.push_back(
		    {printable(estimate.change), static_cast<std::uint64_t>(std::llround(estimate.elapsed_ns))});
	};
	add(prediction.base);
	for (const Estimate &estimate : prediction.changes)
		add(estimate);
	return plot::chart_of(table, {"predict", "", 0});
}

} // namespace monitor::predict
