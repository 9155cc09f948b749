// SPDX-License-Identifier: MIT
#include "directory.h"

#include <cctype>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace monitor::record {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t max_command_name_length = 40;

bool is_trace_or_empty(const std::string &path)
{
	std::error_code ignored;
	return fs::is_directory(fs::symlink_status(path + "/.monitor", ignored)) || fs::is_empty(path, ignored);
}

// The files of a trace are all regular and at most one level deep.
void remove_files(const std::string &path)
{
	std::error_code ignored;
	if (fs::is_symlink(fs::symlink_status(path, ignored)))
		return;
	for (const fs::directory_entry &entry : fs::directory_iterator(path, ignored)) {
		const bool inner =
		    entry.path().filename() == ".monitor" && entry.is_directory(ignored) && !entry.is_symlink(ignored);
		if (inner)
			remove_files(entry.path());
		if (inner || entry.symlink_status(ignored).type() != fs::file_type::directory)
			fs::remove(entry.path(), ignored);
	}
}

} // namespace

std::string default_directory_name(const std::vector<std::string> &command)
{
	std::string name = command.empty() ? "machine" : fs::path(command.front()).filename().string();
	for (char &c : name)
		if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-')
			c = '_';
	name.resize(std::min(name.size(), max_command_name_length));
	return fmt::format("monitor-{:%Y%m%d-%H%M%S}-{}", fmt::localtime(std::time(nullptr)), name);
}

void make_trace_directory(const std::string &path, bool force)
{
	struct stat status;
	if (::lstat(path.c_str(), &status) == 0) {
		if (S_ISLNK(status.st_mode))
			throw Error(path + " is a symbolic link; use the directory itself");
		if (!S_ISDIR(status.st_mode))
			throw Error(path + " exists and is not a directory; use another path with -o");
		if (!force)
			throw Error(path +
				    " exists and is never overwritten; use another directory with -o, or add --force");
		if (!is_trace_or_empty(path))
			throw Error(
			    path +
			    " exists and is not a trace, so --force does not empty it; use another directory with -o");
		remove_files(path);
	} else {
		std::error_code said_below;
		fs::create_directories((fs::path(path) / "").parent_path().parent_path(), said_below);
		if (::mkdir(path.c_str(), 0700) < 0)
			throw Error(errno, "cannot create the trace directory " + path);
	}
	if (::mkdir((path + "/.monitor").c_str(), 0700) < 0)
		throw Error(errno, "cannot create the trace directory " + path);
}

void remove_trace_directory(const std::string &path)
{
	remove_files(path);
	::rmdir(path.c_str()); // confine_to() permits this; remove(3) would try unlink() first
}

} // namespace monitor::record
