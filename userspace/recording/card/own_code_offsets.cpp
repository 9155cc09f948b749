// SPDX-License-Identifier: MIT
#include "own_code_offsets.h"

#include <cinttypes>
#include <cstdio>
#include <sstream>
#include <string>

#include "base/fd.h"

namespace monitor::card {

std::uint64_t offset_in_own_file(std::uint64_t address)
{
	std::istringstream maps(read_text("/proc/self/maps"));
	for (std::string line; std::getline(maps, line);) {
		std::uint64_t begin = 0, end = 0, offset = 0;
		if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &begin, &end, &offset) == 3 &&
		    address >= begin && address < end)
			return address - begin + offset;
	}
	return 0;
}

} // namespace monitor::card
