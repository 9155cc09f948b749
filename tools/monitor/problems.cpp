// SPDX-License-Identifier: MIT
#include "problems.h"

#include <cstdio>

namespace monitor {

void print_problems(const trace::Problems &problems)
{
	constexpr std::size_t max_printed = 10;
	std::size_t printed = 0;
	for (const trace::Problem &problem : problems.kept()) {
		if (printed == max_printed)
			break;
		std::fprintf(stderr, "monitor: %s\n", problem.text().c_str());
		++printed;
	}
	if (problems.total() > printed)
		std::fprintf(stderr, "monitor: ... and %llu more\n",
			     static_cast<unsigned long long>(problems.total() - printed));
}

} // namespace monitor
