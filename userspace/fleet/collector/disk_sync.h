// SPDX-License-Identifier: MIT
// Brings what was written to many files of a run to the disk: a few by fdatasync each, many by one syncfs of the run's
// file system, as a flush of the disk for each file limits how many hosts a collector can have.
//
// Used by syncer.cpp, and by collector.cpp for the accounts, which have one each: the kernel reports a failed write
// once for each open file system, so what is reported to one DiskSync is not reported to another. Not thread-safe.
// Invariant: a file is reported as written only if an fdatasync of it, or a syncfs after which no write of this file
// system had ever failed, has succeeded. syncfs is used only where it is known to report what failed: on ext4, XFS and
// Btrfs, since Linux 5.17 (before, the kernel ignored what the file system said).
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
	int error = 0; // of sync(); before, without fd: why there is none
};

class DiskSync {
public:
	// For this many files one syncfs is used instead of an fdatasync each. Measured on ext4 with nobody else
	// writing, 256 KiB a file: from 2 files on it is faster, 8 take 2.5 ms instead of 4.5, 64 take 13 instead of
	// 32. It waits for what others write to the file system, too, so a few files have theirs.
	static constexpr std::size_t many_files = 8;

	// `run`: a directory, whose file system is meant. Throws Error.
	explicit DiskSync(const std::string &run);

	void sync(std::span<DiskFile> files);

private:
	bool is_all_synced();
	bool is_elsewhere(int fd) const;

	Fd run_;
	dev_t device_ = 0;
	bool may_sync_all_;
};

// Their entries. Which could not be written, and errno.
std::map<std::string, int> sync_directories(DiskSync &disk, const std::set<std::string> &paths);

} // namespace monitor::fleet
