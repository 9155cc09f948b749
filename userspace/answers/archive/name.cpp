// SPDX-License-Identifier: MIT
#include "name.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/text.h"
#include "folder.h"

namespace monitor::archive {
namespace {

constexpr std::size_t max_level_bytes = 200;

void expect_level(const std::string &name, const std::string &level)
{
	const auto refuse = [&](const std::string &why) {
		throw Error("{} is not a name in an archive: {}; a name is PROJECT/EXPERIMENT/MEASUREMENT",
			    readable(name), why);
	};
	if (level.empty())
		refuse("a part of it is empty");
	if (level.size() > max_level_bytes)
		refuse(fmt::format("a part of it is longer than {} bytes", max_level_bytes));
	if (level.starts_with('.'))
		refuse("a part of it begins with a dot");
	if (!is_utf8(level) || printable(level) != level)
		refuse("it has control characters, or is not UTF-8");
	if (std::ranges::find(own_files, level) != std::end(own_files))
		refuse(level + " is a file of the archive itself");
}

const char *variable(const char *name)
{
	const char *value = std::getenv(name);
	return value && *value ? value : nullptr;
}

} // namespace

std::vector<std::string> levels_of(const std::string &name)
{
	std::vector<std::string> levels;
	const std::size_t end = name.ends_with('/') ? name.size() - 1 : name.size(); // shells complete it with a slash
	for (std::size_t begin = 0; begin <= end;) {
		const std::size_t slash = std::min(name.find('/', begin), end);
		levels.push_back(name.substr(begin, slash - begin));
		expect_level(name, levels.back());
		begin = slash + 1;
	}
	if (levels.size() > max_levels)
		throw Error("{} has more than {} parts", readable(name), max_levels);
	return levels;
}

std::vector<std::string> levels_of_measurement(const std::string &name)
{
	std::vector<std::string> levels = levels_of(name);
	if (levels.size() < 2)
		throw Error("{} names a project; a measurement is PROJECT/EXPERIMENT/MEASUREMENT", readable(name));
	return levels;
}

std::string archive_directory(const std::string &option)
{
	if (!option.empty())
		return option;
	if (const char *own = variable("MONITOR_ARCHIVE"))
		return own;
	if (const char *data = variable("XDG_DATA_HOME"))
		return std::string(data) + "/monitor/archive";
	if (const char *home = variable("HOME"))
		return std::string(home) + "/.local/share/monitor/archive";
	throw Error("it is not known where your archive is, as HOME is not set: use --archive DIR");
}

} // namespace monitor::archive
