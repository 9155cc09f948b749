// SPDX-License-Identifier: MIT
#include "cgroup_names.h"

#include <filesystem>
#include <set>
#include <sstream>

#include <sys/stat.h>

#include "base/fd.h"
#include "base/json.h"
#include "recording/periods/lives.h"

namespace monitor::record {
namespace {

constexpr std::size_t max_groups = 100'000;

// Where cgroup2 is mounted: /proc/mounts, "none /sys/fs/cgroup cgroup2 rw ...".
std::string mount_point()
{
	std::istringstream lines(read_text("/proc/mounts"));
	for (std::string line; std::getline(lines, line);) {
		std::istringstream fields(line);
		std::string device, where, type;
		fields >> device >> where >> type;
		if (type == "cgroup2")
			return where;
	}
	return {};
}

using Paths = std::map<std::uint64_t, std::string>;

void walk(Paths &paths)
{
	namespace fs = std::filesystem;
	const std::string root = mount_point();
	if (root.empty())
		return;
	const auto add = [&](const std::string &directory) {
		struct stat status;
		if (paths.size() < max_groups && ::stat(directory.c_str(), &status) == 0) {
			const std::string path = directory.substr(root.size());
			paths[status.st_ino] = path.empty() ? "/" : path;
		}
	};
	add(root);
	std::error_code gone;
	fs::recursive_directory_iterator groups(root, fs::directory_options::skip_permission_denied, gone), end;
	for (; !gone && groups != end; groups.increment(gone))
		if (std::error_code ignored; groups->is_directory(ignored))
			add(groups->path().string());
}

} // namespace

void CgroupNames::collect()
{
	const std::lock_guard guard(lock_);
	walk(paths_);
}

void CgroupNames::add(std::uint64_t id, std::uint64_t parent, const std::string &name)
{
	const std::lock_guard guard(lock_);
	if (paths_.size() >= max_groups) { // drop them: most no longer exist
		paths_.clear();
		walk(paths_);
	}
	if (const auto above = paths_.find(parent); above != paths_.end())
		paths_[id] = (above->second == "/" ? "" : above->second) + "/" + name;
}

std::map<std::uint64_t, std::string> CgroupNames::paths() const
{
	const std::lock_guard guard(lock_);
	return paths_;
}

void CgroupNames::write(const std::string &directory) const
{
	Paths all = paths();
	std::set<std::uint64_t> ambiguous;
	if (earlier_) {
		ambiguous = earlier_->ambiguous_cgroups;
		for (const auto &[id, path] : earlier_->cgroups)
			if (const auto [now, is_new] = all.emplace(id, path);
			    !is_new && now->second != path && !earlier_->same_boot)
				ambiguous.insert(id);
	}
	auto cgroups = nlohmann::ordered_json::object();
	for (const auto &[id, path] : all)
		if (!ambiguous.contains(id))
			cgroups[std::to_string(id)] = path;
	nlohmann::ordered_json names = {{"cgroups", cgroups}};
	if (!ambiguous.empty())
		names["ambiguous"] = ambiguous;
	replace_file(directory + "/.monitor/names", json_dump(names, 1) + "\n", 0600);
}

} // namespace monitor::record
