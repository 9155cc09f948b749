// SPDX-License-Identifier: MIT
// Caches the factors by which an event costs more in real code than in loops on this machine, from monitor doctor
// --calibrate, in a file in /run/monitor that only root can write.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/ranges.h"
#include "base/recording_file/calibration.h"

namespace monitor::card {

// A program's measured overhead, and the prediction from loops for the same events.
struct LoadCost {
	std::string name;
	std::uint64_t events = 0;                        // in a run
	double cpu_ns = 0;                               // of a run without probes
	std::map<std::string, double> predicted_ns{};    // added to a run, by the families of CodeFactors
	double low_ns = 0, measured_ns = 0, high_ns = 0; // added to a run; a 90 % interval
	std::uint64_t rounds = 0;

	double predicted() const
	{
		return sum_of_all<double>(predicted_ns, [](const auto &each) { return each.second; });
	}

	void fields(auto &v)
	{
		v("name", name, "events", events, "cpu_ns", cpu_ns, "predicted_ns", predicted_ns, "low_ns", low_ns,
		  "measured_ns", measured_ns, "high_ns", high_ns, "rounds", rounds);
	}
};

struct KeptFactors {
	std::string key{};
	recording_file::CodeFactors factors{};
	std::vector<LoadCost> loads{};

	void fields(auto &v) { v("key", key, "factors", factors, "loads", loads); }
};

class FactorsFile {
public:
	explicit FactorsFile(std::string key, std::string directory = "/run/monitor");

	// Empty: not measured for this key, or the file is unusable: then `why_not` has a message with the remedy.
	recording_file::CodeFactors read(std::string &why_not) const;
	// Throws Error.
	void write(KeptFactors kept) const;
	const std::string &path() const { return path_; }

private:
	std::string key_, directory_, path_;
};

} // namespace monitor::card
