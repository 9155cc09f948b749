// SPDX-License-Identifier: MIT
// What an earlier recording of this boot has found out about the probes: how they are attached here, and what an event
// costs. A file in /run/monitor for each kind of recording, which its key names. Its content is untrusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"
#include "calibration.h"

namespace monitor::card {

struct KeptCalibration {
	std::string key{};            // of what it holds
	bool tp = false;              // as Preflight
	std::uint64_t measured_s = 0; // real time
	Calibration measured{};       // no costs: only the above is known

	void fields(auto &v)
	{
		v("key", key, "tp", tp, "measured_s", measured_s, "costs", measured.costs, "call_edge",
		  measured.call_edge, "fault_edge", measured.fault_edge);
	}
};

// Whether it is good enough: enough rounds, nothing negative, and the times without probes agree.
bool can_be_kept(const Calibration &measured);

// What a later measurement of fewer rounds says about an earlier one. Undecided: its times without probes differ by too
// much among themselves.
enum class CostCheck { agrees, contradicts, undecided };
CostCheck compare_costs(const recording_file::CalibratedCosts &before, const recording_file::CalibratedCosts &now);

class CalibrationFile {
public:
	// Opens the file of this key, if there is one that nobody else can write. "": there is none, and nothing is
	// kept.
	explicit CalibrationFile(std::string key, std::string directory = "/run/monitor");

	// None: also if what is in the file is damaged, of another key, or no possible figure.
	std::optional<KeptCalibration> read() const;
	// Replaces the file, as far as that is possible.
	void write(KeptCalibration kept);
	// From now on it says only how probes are attached. Needs no privilege.
	void forget_costs(bool tp) const;

private:
	std::string key_, directory_, path_;
	Fd file_;
};

} // namespace monitor::card
