// SPDX-License-Identifier: MIT
// Names of control groups: tokens carry a cgroup's id, .monitor/names has its path. Recording collects all at the
// start, and adds new ones as the card reports them, because a group may be gone at the end. The id of a cgroup is the
// inode number of its directory in the hierarchy (Documentation/admin-guide/cgroup-v2.rst of the kernel,
// bpf-helpers(7)). Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace monitor::record {

struct EarlierLives;

class CgroupNames {
public:
	// Walk the mounted v2 hierarchy and remember every group that exists now.
	void collect();
	// Adds a new group. It has no path if outside of the mounted hierarchy.
	void add(std::uint64_t id, std::uint64_t parent, const std::string &name);

	// By id, within the mount.
	std::map<std::uint64_t, std::string> paths() const;

	// Names of earlier lives of the trace. Ids reused after a reboot are ambiguous and get no name.
	void set_earlier(const EarlierLives &lives) { earlier_ = &lives; }

	// Write .monitor/names of this trace directory.
	void write(const std::string &directory) const;

private:
	mutable std::mutex lock_;
	std::map<std::uint64_t, std::string> paths_;
	const EarlierLives *earlier_ = nullptr;
};

} // namespace monitor::record
