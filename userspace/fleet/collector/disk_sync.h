// SPDX-License-Identifier: MIT
// Writes many files of a run through to the disk: a few by fdatasync each, many by one syncfs of the run's file system,
// as a disk flush for each file limits how many hosts a collector can have.
//
// Not thread-safe. The kernel reports a failed write once for each open file system, so what is reported to one
// DiskSync is not reported to another. Invariant: a file is reported as written only if an fdatasync of it, or a syncfs
// after which no write of this file system had ever failed, has succeeded. syncfs is used only where it is known to
// report failures: on ext4, XFS and Btrfs, since Linux 5.17 (before, the kernel ignored the file system's result).
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>

#include <sys/types.h>

#include "base/fd.h"

namespace monitor::fleet {

struct DiskFile {
	int fd = -1;
	bool is_directory = false;
	int error = 0; // result of sync(); initially, without fd, of open()
};

class DiskSync {
public:
	// From this many files on one syncfs replaces their fdatasync. Measured on idle ext4 with 256 KiB a file: it is
	// faster from 2 files on, 8 take 2.5 ms instead of 4.5, 64 take 13 instead of 32. It also waits for what others
	// write to the file system, so for few files fdatasync is used.
	static constexpr std::size_t many_files = 8;

	// `run`: a directory on the file system. Throws Error.
	explicit DiskSync(const std::string &run);

	void sync(std::span<DiskFile> files);

private:
	bool sync_all();
	bool is_on_other_file_system(int fd) const;

	Fd run_;
	dev_t device_ = 0;
	bool can_use_syncfs_;
};

// Syncs directory entries. Returns the directories that failed, with errno.
std::map<std::string, int> sync_directories(DiskSync &disk, const std::set<std::string> &paths);

} // namespace monitor::fleet
