// SPDX-License-Identifier: MIT
#include "share.h"

#include <cstdlib>
#include <filesystem>

namespace monitor {

std::string share_path(const std::string &name)
{
	namespace fs = std::filesystem;
	std::error_code ignored;
	if (const char *directory = std::getenv("MONITOR_SHARE"))
		return std::string(directory) + "/" + name;
	const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
	const fs::path installed = program.parent_path().parent_path() / "share/monitor" / name;
	if (fs::exists(installed, ignored))
		return installed.string();
	return std::string(MONITOR_SOURCE_SHARE) + "/" + name;
}

} // namespace monitor
