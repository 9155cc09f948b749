// SPDX-License-Identifier: MIT
#include "data_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace monitor {

namespace fs = std::filesystem;

std::string share_path(const std::string &name)
{
	std::error_code ignored;
	if (const char *directory = std::getenv("MONITOR_SHARE"))
		return std::string(directory) + "/" + name;
	const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
	const fs::path installed = program.parent_path().parent_path() / "share/monitor" / name;
	if (fs::exists(installed, ignored))
		return installed.string();
	return std::string(MONITOR_SOURCE_SHARE) + "/" + name;
}

std::vector<std::string> share_names(const std::string &kind, const std::string &extension)
{
	std::vector<std::string> names;
	std::error_code error;
	for (fs::directory_iterator entry(share_path(kind), error), end; !error && entry != end; entry.increment(error))
		if (entry->path().extension() == "." + extension)
			names.push_back(entry->path().stem().string());
	std::sort(names.begin(), names.end());
	return names;
}

std::string file_or_share(const std::string &name_or_file, const std::string &kind, const std::string &extension)
{
	std::error_code ignored;
	if (fs::is_regular_file(name_or_file, ignored))
		return name_or_file;
	if (name_or_file.find('/') != std::string::npos)
		return "";
	const std::string shipped = share_path(kind + "/" + name_or_file + "." + extension);
	return fs::is_regular_file(shipped, ignored) ? shipped : "";
}

} // namespace monitor
