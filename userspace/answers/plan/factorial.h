// SPDX-License-Identifier: MIT
// A 2^k r factorial design, as Waheed and Rover use it for their ROCC model: k factors of two levels each, r outcomes
// of each combination of levels. The variation of the outcomes is divided among the factors, their interactions and
// chance (Jain, The Art of Computer Systems Performance Analysis, chapter 18).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace monitor::plan {

struct Effect {
	std::size_t factors = 0; // a bit for each; several: their interaction
	double effect = 0;       // of the second level, compared with the first
	double share = 0;        // of the variation, percent
};

struct Design {
	double mean = 0;
	std::vector<Effect> effects;
	double error_share = 0; // of the variation, percent: explained by no factor
	double bound = 0;       // two standard deviations of an effect
};

// `outcomes[i]`: of the combination in which factor f has its second level if bit f of i is set; all of one size.
Design analyse(std::span<const std::vector<double>> outcomes);

} // namespace monitor::plan
