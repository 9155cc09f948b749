// SPDX-License-Identifier: MIT
#include "kept_calibration.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/recording_file/json_reader.h"
#include "base/recording_file/json_writer.h"

namespace monitor::card {
namespace {

constexpr std::size_t max_file_bytes = 1 << 16;
constexpr double max_cost_ns = 1e6;
constexpr std::uint64_t max_rounds_kept = 1000;
constexpr double noise_factor = 4; // costs that are further apart are not those of the same probe, whatever else ran

bool is_possible(double ns)
{
	return ns >= 0 && ns <= max_cost_ns;
}

bool is_only_ours(const struct stat &status)
{
	return status.st_uid == ::geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH));
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
	open();
}

void CalibrationFile::open()
{
	const Fd directory(::open(directory_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	struct stat status {};
	if (key_.empty() || !directory || ::fstat(directory.get(), &status) < 0 || !is_only_ours(status))
		return;
	Fd file(::open(path_.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
	if (file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && is_only_ours(status))
		file_ = std::move(file);
}

std::optional<KeptCalibration> CalibrationFile::read() const
{
	std::string text(max_file_bytes, '\0');
	const ssize_t size = file_ ? ::pread(file_.get(), text.data(), text.size(), 0) : 0;
	if (size <= 0 || static_cast<std::size_t>(size) == text.size())
		return {};
	text.resize(static_cast<std::size_t>(size));
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
	::mkdir(directory_.c_str(), 0755);
	try {
		replace_file(path_, json_dump(recording_file::JsonWriter::json_of(kept)) + "\n", 0600);
		open();
	} catch (const Error &) { // the next recording measures it again
	}
}

void CalibrationFile::forget_costs(bool tp) const
{
	KeptCalibration rest{.key = key_, .tp = tp};
	const std::string text = json_dump(recording_file::JsonWriter::json_of(rest)) + "\n";
	// Half of it is not read either: then all is measured again.
	if (file_ && ::ftruncate(file_.get(), 0) == 0 && ::pwrite(file_.get(), text.data(), text.size(), 0) < 0)
		return;
}

} // namespace monitor::card
