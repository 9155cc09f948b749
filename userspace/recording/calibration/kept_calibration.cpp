// SPDX-License-Identifier: MIT
#include "kept_calibration.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/recording_file/json_reader.h"
#include "base/recording_file/json_writer.h"
#include "own_file.h"

namespace monitor::card {
namespace {

constexpr double max_cost_ns = 1e6;
constexpr std::uint64_t max_rounds_kept = 1000;
constexpr double noise_factor = 4; // ratio of two costs beyond which noise cannot explain the difference

bool is_possible(double ns)
{
	return ns >= 0 && ns <= max_cost_ns;
}

} // namespace

bool can_be_kept(const Calibration &measured)
{
	const auto is_good = [](const auto &of) {
		const CalibratedCost &cost = of.second;
		return is_possible(cost.low) && cost.low <= cost.median && cost.median <= cost.high &&
		       is_possible(cost.high) && cost.rounds >= recording_file::min_rounds &&
		       cost.rounds <= max_rounds_kept && cost.off_difference >= 0 &&
		       cost.off_difference <= recording_file::max_difference;
	};
	return !measured.costs.empty() && std::ranges::all_of(measured.costs, is_good) &&
	       is_possible(measured.call_edge) && is_possible(measured.fault_edge);
}

CostCheck compare_costs(const recording_file::CalibratedCosts &before, const recording_file::CalibratedCosts &now)
{
	CostCheck result = CostCheck::agrees;
	for (const auto &[what, cost] : before) {
		if (what == "discarded") // too few calls to compare
			continue;
		const auto found = now.find(what);
		if (found == now.end())
			return CostCheck::contradicts;
		const bool is_noisy = found->second.off_difference > recording_file::max_difference;
		if (is_noisy && std::max(cost.median, found->second.median) <=
				    noise_factor * std::min(cost.median, found->second.median))
			result = CostCheck::undecided;
		else if (is_noisy || !agree(cost, found->second, recording_file::max_difference))
			return CostCheck::contradicts;
	}
	return result;
}

CalibrationFile::CalibrationFile(std::string key, std::string directory)
    : key_(std::move(key)), directory_(std::move(directory)),
      path_(fmt::format("{}/calibration-{:x}.json", directory_, std::hash<std::string>()(key_)))
{
	if (!key_.empty())
		file_ = open_own_file(directory_, path_);
}

std::optional<KeptCalibration> CalibrationFile::read() const
{
	const std::string text = own_text(file_);
	if (text.empty())
		return {};
	const nlohmann::json json = parse_json(text);
	auto kept = recording_file::JsonReader::value_of<KeptCalibration>(json);
	if (kept.key != key_ || (!kept.measured.costs.empty() && !can_be_kept(kept.measured)))
		return {};
	return kept;
}

void CalibrationFile::write(KeptCalibration kept)
{
	if (key_.empty())
		return;
	kept.key = key_;
	try {
		write_own_file(directory_, path_, json_dump(recording_file::JsonWriter::json_of(kept)) + "\n");
		file_ = open_own_file(directory_, path_);
	} catch (const Error &) { // the next recording measures it again
	}
}

void CalibrationFile::forget_costs(bool tp) const
{
	KeptCalibration rest{.key = key_, .tp = tp};
	const std::string text = json_dump(recording_file::JsonWriter::json_of(rest)) + "\n";
	// A partly written file is invalid, so the next recording measures again.
	if (file_ && ::ftruncate(file_.get(), 0) == 0 && ::pwrite(file_.get(), text.data(), text.size(), 0) < 0)
		return;
}

} // namespace monitor::card
