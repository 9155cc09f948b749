// SPDX-License-Identifier: MIT
// Which files of a round count as written: each for itself, also where one call brought many of them to the disk.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "fleet/collector/disk_sync.h"

namespace test_disk_sync {

using namespace monitor;
using fleet::DiskFile;
using fleet::DiskSync;

namespace {

namespace fs = std::filesystem;

class Directory {
public:
	Directory() : path_(fs::temp_directory_path() / ("disk-sync-" + std::to_string(::getpid())))
	{
		fs::create_directories(path_);
	}
	~Directory() { fs::remove_all(path_); }
	Directory(const Directory &) = delete;
	Directory &operator=(const Directory &) = delete;

	std::string path() const { return path_.string(); }
	Fd file(int number) const
	{
		return open_file(path() + '/' + std::to_string(number), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	}

private:
	fs::path path_;
};

} // namespace

TEST_CASE("fleet disk: what could not be opened is not written, however many others are")
{
	const Directory directory;
	DiskSync disk(directory.path());
	for (const int count : {2, 12}) {
		std::vector<Fd> open;
		std::vector<DiskFile> files;
		for (int i = 0; i < count; ++i) {
			open.push_back(directory.file(i));
			files.push_back({open.back().get()});
		}
		files[1] = {-1, false, ENOSPC};
		disk.sync(files);
		for (int i = 0; i < count; ++i)
			CHECK(files[static_cast<std::size_t>(i)].error == (i == 1 ? ENOSPC : 0));
	}
}

// A pipe is in no file system that one call could bring to the disk, and its own fdatasync fails.
TEST_CASE("fleet disk: a file that is elsewhere is asked itself")
{
	const Directory directory;
	DiskSync disk(directory.path());
	int pipe[2];
	REQUIRE(::pipe2(pipe, O_CLOEXEC) == 0);
	const Fd in(pipe[0]), out(pipe[1]);
	std::vector<Fd> open;
	std::vector<DiskFile> files;
	for (int i = 0; i < 12; ++i) {
		open.push_back(directory.file(i));
		files.push_back({open.back().get()});
	}
	files[7].fd = out.get();
	disk.sync(files);
	for (std::size_t i = 0; i < files.size(); ++i)
		CHECK(files[i].error == (i == 7 ? EINVAL : 0));
}

TEST_CASE("fleet disk: of many directories only the one that is missing is told, with why")
{
	const Directory directory;
	DiskSync disk(directory.path());
	std::set<std::string> paths;
	for (int i = 0; i < 150; ++i) {
		paths.insert(directory.path() + "/d" + std::to_string(i));
		if (i != 70)
			fs::create_directory(directory.path() + "/d" + std::to_string(i));
	}
	CHECK(sync_directories(disk, paths) == std::map<std::string, int>{{directory.path() + "/d70", ENOENT}});
}

} // namespace test_disk_sync
