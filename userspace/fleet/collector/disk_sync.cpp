// SPDX-License-Identifier: MIT
#include "disk_sync.h"

#include <cerrno>
#include <cstdio>
#include <vector>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.h"

namespace monitor::fleet {
namespace {

constexpr std::size_t max_open_directories = 64;

// On a layered or network file system syncfs may not reach the one below.
bool does_syncfs_report_errors(int run)
{
	struct statfs system_of_run;
	if (::fstatfs(run, &system_of_run) != 0 ||
	    (system_of_run.f_type != EXT4_SUPER_MAGIC && system_of_run.f_type != XFS_SUPER_MAGIC &&
	     system_of_run.f_type != BTRFS_SUPER_MAGIC))
		return false;
	utsname system;
	unsigned major = 0, minor = 0;
	return ::uname(&system) == 0 && std::sscanf(system.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 5 || (major == 5 && minor >= 17));
}

int sync_one(const DiskFile &file)
{
	if (file.fd < 0)
		return file.error;
	return (file.is_directory ? ::fsync(file.fd) : ::fdatasync(file.fd)) == 0 ? 0 : errno;
}

} // namespace

DiskSync::DiskSync(const std::string &run)
    : run_(open_file(run, O_RDONLY | O_DIRECTORY)), can_use_syncfs_(does_syncfs_report_errors(run_.get()))
{
	struct stat status;
	if (::fstat(run_.get(), &status) < 0)
		throw Error(errno, "cannot read " + run);
	device_ = status.st_dev;
}

// False: syncfs is not used, or failed. A failure is reported once, and may concern a file of a later call: from then
// on each file gets an fdatasync.
bool DiskSync::sync_all()
{
	return can_use_syncfs_ && (can_use_syncfs_ = ::syncfs(run_.get()) == 0);
}

bool DiskSync::is_on_other_file_system(int fd) const
{
	struct stat status;
	return ::fstat(fd, &status) < 0 || status.st_dev != device_;
}

void DiskSync::sync(std::span<DiskFile> files)
{
	const bool is_done = files.size() >= many_files && sync_all();
	for (DiskFile &file : files)
		file.error = is_done && !is_on_other_file_system(file.fd) ? 0 : sync_one(file);
}

std::map<std::string, int> sync_directories(DiskSync &disk, const std::set<std::string> &paths)
{
	std::map<std::string, int> failed;
	for (auto next = paths.begin(); next != paths.end();) {
		const auto first = next;
		std::vector<Fd> directories;
		std::vector<DiskFile> files;
		for (; next != paths.end() && files.size() < max_open_directories; ++next) {
			directories.emplace_back(::open(next->c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
			files.push_back({directories.back().get(), true, directories.back() ? 0 : errno});
		}
		disk.sync(files);
		for (auto path = first; const DiskFile &file : files) {
			if (file.error)
				failed[*path] = file.error;
			++path;
		}
	}
	return failed;
}

} // namespace monitor::fleet
