// SPDX-License-Identifier: MIT
// A 2^k r factorial design, as Waheed and Rover analyse their ROCC model: each factor has two levels, each combination
// of levels has r outcomes, and the variation of what they give is divided among factors, their interactions and chance
// (Jain, The Art of Computer Systems Performance Analysis, chapter 18).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace monitor::plan {

struct Effect {
	std::size_t factors = 0; // a bit for each that it is of; more than one: their interaction
	double effect = 0;       // of going from first levels to second ones
	double share = 0;        // of the variation, percent
};

struct Design {
	double mean = 0;
	std::vector<Effect> effects;
	double error_share = 0; // that no factor explains, percent
	double bound = 0;       // an effect is known to +- this: two standard deviations
};

// `outcomes[i]`: of the combination in which factor f has its second level if bit f of i is set; equally many each.
Design analyse(std::span<const std::vector<double>> outcomes);

} // namespace monitor::plan
