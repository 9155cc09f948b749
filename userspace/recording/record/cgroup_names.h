// SPDX-License-Identifier: MIT
// Names of control groups: tokens carry a cgroup's id, .monitor/names has its path. Called by Recording at start
// and end (a group may be gone at the end). The id of a cgroup is the inode number of its directory in the hierarchy
// (Documentation/admin-guide/cgroup-v2.rst of the kernel, bpf-helpers(7)).
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace monitor::record {

class CgroupNames {
public:
	// Walk the mounted v2 hierarchy and remember every group that exists now.
	void collect();

	// By id, within the mount.
	const std::map<std::uint64_t, std::string> &paths() const { return paths_; }

	// Write .monitor/names of this trace directory.
	void write(const std::string &directory) const;

private:
	std::map<std::uint64_t, std::string> paths_;
};

} // namespace monitor::record
