// SPDX-License-Identifier: MIT
// Caches, for this boot, how probes are attached on this machine and what an event costs: a file in /run/monitor for
// each kind of recording, identified by a key. Its content is untrusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"
#include "calibration.h"

namespace monitor::card {

struct KeptCalibration {
	std::string key{};            // the kind of recording
	bool tp = false;              // as Preflight
	std::uint64_t measured_s = 0; // real time
	Calibration measured{};       // without costs: only the above is known

	void fields(auto &v)
	{
		v("key", key, "tp", tp, "measured_s", measured_s, "costs", measured.costs, "call_edge",
		  measured.call_edge, "fault_edge", measured.fault_edge);
	}
};

// Whether it can be cached: enough rounds, no negative costs, and consistent times without probes.
bool can_be_kept(const Calibration &measured);

// Compares an earlier measurement with a later one of fewer rounds. Undecided: the times without probes vary too much.
enum class CostCheck { agrees, contradicts, undecided };
CostCheck compare_costs(const recording_file::CalibratedCosts &before, const recording_file::CalibratedCosts &now);

class CalibrationFile {
public:
	// Opens the file of this key, unless others can write it. "": no caching.
	explicit CalibrationFile(std::string key, std::string directory = "/run/monitor");

	// None if there is no file, or it is damaged, of another key, or implausible.
	std::optional<KeptCalibration> read() const;
	// Replaces the file; ignores errors.
	void write(KeptCalibration kept);
	// Removes the costs from the file, and keeps how probes are attached. Needs no privilege.
	void forget_costs(bool tp) const;

private:
	std::string key_, directory_, path_;
	Fd file_;
};

} // namespace monitor::card
