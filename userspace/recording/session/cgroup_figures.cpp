// SPDX-License-Identifier: MIT
#include "cgroup_figures.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/clock_ns.h"
#include "base/fd.h"

namespace monitor::record {
namespace {

using recording_file::CgroupFigures;
using recording_file::Cgroups;
using recording_file::DeviceIo;
using recording_file::Pressure;

constexpr std::size_t max_groups_read = 64;

struct Hierarchy {
	std::uint64_t version = 0;
	std::string mount;
};

bool has_word(std::string words, const char *word)
{
	std::ranges::replace(words, ',', ' ');
	std::istringstream all(words);
	for (std::string each; all >> each;)
		if (each == word)
			return true;
	return false;
}

Hierarchy hierarchy_with_quotas()
{
	Hierarchy found;
	std::istringstream lines(read_text("/proc/mounts"));
	for (std::string line; std::getline(lines, line);) {
		std::istringstream fields(line);
		std::string device, where, type, options;
		fields >> device >> where >> type >> options;
		if (type == "cgroup" && has_word(options, "cpu"))
			return {1, where};
		if (type == "cgroup2" && has_word(read_text(where + "/cgroup.controllers"), "cpu"))
			found = {2, where};
	}
	return found;
}

// "0::/services", or of version 1 "4:cpu,cpuacct:/services".
std::string group_of(pid_t process, std::uint64_t version)
{
	std::istringstream lines(read_text("/proc/" + std::to_string(process) + "/cgroup"));
	for (std::string line; std::getline(lines, line);) {
		const std::size_t first = line.find(':'), second = line.find(':', first + 1);
		if (second == std::string::npos)
			continue;
		const std::string controllers = line.substr(first + 1, second - first - 1);
		if (version == 2 ? controllers.empty() : has_word(controllers, "cpu"))
			return line.substr(second + 1);
	}
	return "";
}

std::optional<std::uint64_t> number_in(const std::string &text)
{
	std::uint64_t number = 0;
	std::istringstream digits(text);
	return text.starts_with('-') || !(digits >> number) ? std::nullopt : std::optional(number);
}

void read_quota(const std::string &directory, std::uint64_t version, CgroupFigures &group)
{
	std::string quota, period;
	if (version == 2) {
		std::istringstream words(read_text(directory + "/cpu.max")); // "max 100000"
		words >> quota >> period;
	} else {
		quota = read_text(directory + "/cpu.cfs_quota_us"); // -1: none
		period = read_text(directory + "/cpu.cfs_period_us");
	}
	group.quota_us = number_in(quota);
	if (group.quota_us)
		group.period_us = number_in(period);
}

void read_cpu_stat(const std::string &directory, CgroupFigures &group)
{
	std::istringstream lines(read_text(directory + "/cpu.stat"));
	std::string name;
	for (std::uint64_t value = 0; lines >> name >> value;)
		if (name == "usage_usec")
			group.usage_us = value;
		else if (name == "nr_periods")
			group.periods = value;
		else if (name == "nr_throttled")
			group.throttled_periods = value;
		else if (name == "throttled_usec")
			group.throttled_us = value;
		else if (name == "throttled_time") // of version 1, in ns
			group.throttled_us = value / 1000;
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=0"
Pressure read_pressure(const std::string &file)
{
	Pressure pressure;
	std::istringstream lines(read_text(file));
	for (std::string line; std::getline(lines, line);)
		if (const std::size_t total = line.find("total="); total != std::string::npos)
			(line.starts_with("some") ? pressure.some_us : pressure.full_us) =
			    number_in(line.substr(total + 6));
	return pressure;
}

// "253:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0"
std::vector<DeviceIo> read_io(const std::string &file)
{
	std::vector<DeviceIo> all;
	std::istringstream lines(read_text(file));
	for (std::string line; std::getline(lines, line);) {
		std::istringstream words(line);
		DeviceIo io;
		words >> io.device;
		const std::pair<const char *, std::uint64_t *> figures[] = {{"rbytes=", &io.read_bytes},
									    {"wbytes=", &io.written_bytes},
									    {"rios=", &io.reads},
									    {"wios=", &io.writes}};
		for (std::string word; words >> word;)
			for (const auto &[name, figure] : figures)
				if (word.starts_with(name))
					*figure = number_in(word.substr(std::string(name).size())).value_or(0);
		if (io.read_bytes + io.written_bytes + io.reads + io.writes)
			all.push_back(io);
	}
	return all;
}

// Adds the group if it has a quota, or `always`.
void add_group(Cgroups &to, const Hierarchy &hierarchy, const std::string &path, bool always)
{
	const std::string directory = hierarchy.mount + (path == "/" ? "" : path);
	CgroupFigures group;
	group.path = path;
	read_quota(directory, hierarchy.version, group);
	if (!always && !group.quota_us)
		return;
	read_cpu_stat(directory, group);
	group.io = read_io(directory + "/io.stat");
	group.cpu = read_pressure(directory + "/cpu.pressure");
	group.disk = read_pressure(directory + "/io.pressure");
	group.memory = read_pressure(directory + "/memory.pressure");
	to.groups.push_back(std::move(group));
}

// CPU time, so that the number of groups read does not depend on other load.
std::uint64_t cpu_time_ns()
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

// Groups of version 1, which have no other list.
std::vector<std::string> paths_below(const std::string &mount, std::uint64_t until_ns)
{
	namespace fs = std::filesystem;
	std::vector<std::string> paths;
	std::error_code gone;
	fs::recursive_directory_iterator groups(mount, fs::directory_options::skip_permission_denied, gone), end;
	for (; !gone && groups != end && cpu_time_ns() < until_ns; groups.increment(gone))
		if (std::error_code ignored; groups->is_directory(ignored))
			paths.push_back(groups->path().string().substr(mount.size()));
	return paths;
}

} // namespace

Cgroups read_cgroups(pid_t command, const std::map<std::uint64_t, std::string> &paths, std::chrono::microseconds budget)
{
	const std::uint64_t until_ns =
	    cpu_time_ns() + static_cast<std::uint64_t>(std::chrono::nanoseconds(budget).count());
	const Hierarchy hierarchy = hierarchy_with_quotas();
	Cgroups read;
	read.hierarchy = hierarchy.version;
	if (!hierarchy.version)
		return read;
	std::set<std::string> known;
	for (std::string path = command ? group_of(command, hierarchy.version) : ""; path.starts_with('/');
	     path.resize(std::max<std::size_t>(path.rfind('/'), 1))) {
		add_group(read, hierarchy, path, known.empty());
		known.insert(path);
		if (path == "/")
			break;
	}
	std::vector<std::string> others;
	if (hierarchy.version == 1)
		others = paths_below(hierarchy.mount, until_ns);
	else
		std::ranges::transform(paths, std::back_inserter(others),
				       [](const auto &group) { return group.second; });
	const auto is_over = [&] { return read.groups.size() >= max_groups_read || cpu_time_ns() >= until_ns; };
	read.has_all = true;
	for (const std::string &path : others)
		if (read.has_all && !known.contains(path)) {
			add_group(read, hierarchy, path, false);
			read.has_all = !is_over();
		}
	read.has_all &= !is_over();
	return read;
}

} // namespace monitor::record
