// SPDX-License-Identifier: MIT
#include "fit.h"

#include <algorithm>
#include <cmath>

namespace monitor::plan {

// Coordinate descent on the normal equations.
std::array<double, factors> fit(std::span<const Row> rows)
{
	constexpr int max_rounds = 20'000;
	double products[factors][factors + 1] = {};
	for (const Row &row : rows)
		for (std::size_t i = 0; i < factors; ++i)
			for (std::size_t j = 0; j <= factors; ++j)
				products[i][j] += row[i] * row[j];
	std::array<double, factors> found{};
	double change = 1;
	for (int round = 0; round < max_rounds && change > 0; ++round) {
		change = 0;
		for (std::size_t i = 0; i < factors; ++i) {
			if (products[i][i] <= 0)
				continue; // it is 0 in all rows
			double rest = products[i][factors];
			for (std::size_t j = 0; j < factors; ++j)
				rest -= j == i ? 0 : products[i][j] * found[j];
			const double better = std::max(rest / products[i][i], 0.);
			change = std::max(change, std::abs(better - found[i]));
			found[i] = better;
		}
	}
	return found;
}

} // namespace monitor::plan
