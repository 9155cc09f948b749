// SPDX-License-Identifier: MIT
#include "plan_text.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monitor::plan {
namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib;

// Rounded outwards.
std::string ends_text(double low, double high)
{
	const double step = high >= 10 ? 1 : 10; // parts of a percent
	const double from = std::floor(low * step + 1e-6) / step, to = std::ceil(high * step - 1e-6) / step;
	return from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to);
}

// 0b11: "AB"
std::string letters(std::size_t factors)
{
	std::string text;
	for (char letter = 'A'; factors; ++letter, factors >>= 1)
		if (factors & 1)
			text += letter;
	return text;
}

nlohmann::ordered_json json_of(const Range &range)
{
	return {{"low", range.low}, {"high", range.high}};
}

template <class Value> nlohmann::ordered_json json_of(const std::optional<Value> &value)
{
	return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

} // namespace

std::string buffer_text(std::optional<std::uint64_t> bytes)
{
	if (!bytes)
		return "default";
	return *bytes % mib ? fmt::format("{}K", (*bytes + kib - 1) / kib) : fmt::format("{}M", *bytes / mib);
}

std::string disk_text(std::optional<double> bytes_per_second)
{
	return bytes_per_second ? fmt::format("{:.4g} MB/s", *bytes_per_second / 1e6) : "as it was";
}

std::string percent_text(const Range &range)
{
	return ends_text(range.low, range.high) + " %";
}

report::Table table_of(const std::vector<PlannedRow> &rows)
{
	report::Table table;
	table.columns = {{"buffer", "buffer"},
			 {"disk", "disk"},
			 {"lost", "lost"},
			 {"recorder_cpu", "recorder CPU"},
			 {"fullest", "fullest ring"}};
	for (const PlannedRow &row : rows)
		table.rows.push_back({buffer_text(row.setting.buffer_bytes),
				      disk_text(row.setting.disk_bytes_per_second), percent_text(row.prediction.lost),
				      percent_text(row.prediction.recorder_cpu), percent_text(row.prediction.fullest)});
	return table;
}

std::string text_of(const SmallestBuffer &smallest)
{
	const std::string disk =
	    smallest.disk_bytes_per_second ? fmt::format(" at {}", disk_text(smallest.disk_bytes_per_second)) : "";
	if (!smallest.bytes)
		return fmt::format("smallest buffer without loss{}: none up to {}\n", disk, buffer_text(max_buffer));
	return fmt::format("smallest buffer without loss{}: {}\n", disk, buffer_text(smallest.bytes));
}

nlohmann::ordered_json to_json(const Recorded &recorded, const std::vector<PlannedRow> &rows,
			       const std::vector<SmallestBuffer> &smallest)
{
	nlohmann::ordered_json settings = nlohmann::ordered_json::array(), buffers = nlohmann::ordered_json::array();
	for (const PlannedRow &row : rows)
		settings.push_back({{"buffer_bytes", json_of(row.setting.buffer_bytes)},
				    {"disk_bytes_per_second", json_of(row.setting.disk_bytes_per_second)},
				    {"cpu", json_of(row.setting.cpu)},
				    {"lost_percent", json_of(row.prediction.lost)},
				    {"recorder_cpu_percent", json_of(row.prediction.recorder_cpu)},
				    {"fullest_ring_percent", json_of(row.prediction.fullest)}});
	for (const SmallestBuffer &each : smallest)
		buffers.push_back(
		    {{"disk_bytes_per_second", json_of(each.disk_bytes_per_second)}, {"bytes", json_of(each.bytes)}});
	return {{"duration_ns", recorded.arrivals.duration}, {"settings", settings}, {"smallest_buffers", buffers}};
}

report::Table table_of(const Design &design, const std::vector<Factor> &factors)
{
	report::Table table;
	table.columns = {
	    {"factors", ""}, {"change", "from, to"}, {"effect", "effect"}, {"share", "share of variation"}};
	for (const Effect &each : design.effects) {
		std::string change;
		for (std::size_t i = 0; i < factors.size(); ++i)
			if (each.factors == std::size_t(1) << i)
				change =
				    fmt::format("{}: {}, {}", factors[i].name, factors[i].first, factors[i].second);
		table.rows.push_back({letters(each.factors), change, fmt::format("{:+.2f} points", each.effect),
				      fmt::format("{:.1f} %", each.share)});
	}
	table.rows.push_back({std::string("error"), std::string(), fmt::format("+-{:.2f} points", design.bound),
			      fmt::format("{:.1f} %", design.error_share)});
	return table;
}

std::string summary_of(const Design &design, std::size_t factors, std::size_t repetitions)
{
	return fmt::format("lost: mean {:.2f} % of 2^{} settings, {} outcomes each\n", design.mean, factors,
			   repetitions);
}

nlohmann::ordered_json to_json(const Design &design, const std::vector<Factor> &factors)
{
	nlohmann::ordered_json levels = nlohmann::ordered_json::array(), effects = nlohmann::ordered_json::array();
	for (std::size_t i = 0; i < factors.size(); ++i)
		levels.push_back({{"factor", letters(std::size_t(1) << i)},
				  {"name", factors[i].name},
				  {"first", factors[i].first},
				  {"second", factors[i].second}});
	for (const Effect &each : design.effects)
		effects.push_back({{"factors", letters(each.factors)},
				   {"effect_points", each.effect},
				   {"share_percent", each.share}});
	return {{"factors", levels},
		{"mean_lost_percent", design.mean},
		{"effects", effects},
		{"error_share_percent", design.error_share},
		{"effect_bound_points", design.bound}};
}

} // namespace monitor::plan
