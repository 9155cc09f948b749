// SPDX-License-Identifier: MIT
// Names of control groups: tokens carry a cgroup's id, .monitor/names has its path. Recording asks for all at the
// start, and adds those that were made since, as the card reports them: a group may be gone at the end. The id of a
// cgroup is the inode number of its directory in the hierarchy (Documentation/admin-guide/cgroup-v2.rst of the kernel,
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
	// This group was made. It has no path if it is outside of the mounted hierarchy.
	void add(std::uint64_t id, std::uint64_t parent, const std::string &name);

	// By id, within the mount.
	std::map<std::uint64_t, std::string> paths() const;

	// Those of the recordings that the trace has already. Ids that were another group's after a reboot name none.
	void set_earlier(const EarlierLives &lives) { earlier_ = &lives; }

	// Write .monitor/names of this trace directory.
	void write(const std::string &directory) const;

private:
	mutable std::mutex lock_;
	std::map<std::uint64_t, std::string> paths_;
	const EarlierLives *earlier_ = nullptr;
};

} // namespace monitor::record
