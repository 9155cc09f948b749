// SPDX-License-Identifier: MIT
#include "directory.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/date_text.h"
#include "base/error.h"
#include "base/json.h"
#include "snapshot_question.h"

namespace monitor::record {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t max_command_name_length = 40;
// Prefix of files set aside: an old trace about to be replaced. Readers skip hidden files.
constexpr std::string_view replaced_prefix = ".replaced-";

bool is_trace_or_empty(const std::string &path)
{
	std::error_code ignored;
	return fs::is_directory(fs::symlink_status(path + "/.monitor", ignored)) || fs::is_empty(path, ignored);
}

bool is_replaced(const fs::path &path)
{
	return path.filename().string().starts_with(replaced_prefix);
}

// Removes a trace's files, which are all regular, and only in .monitor and its directory of code files. Keeps files set
// aside.
void remove_files(const std::string &path)
{
	std::error_code ignored;
	if (fs::is_symlink(fs::symlink_status(path, ignored)))
		return;
	const bool is_own = path.ends_with(".monitor"); // or the same set aside
	for (const fs::directory_entry &entry : fs::directory_iterator(path, ignored)) {
		const bool inner = entry.path().filename() == (is_own ? "code" : ".monitor") &&
				   entry.is_directory(ignored) && !entry.is_symlink(ignored);
		if (is_replaced(entry.path()))
			continue;
		if (inner)
			remove_files(entry.path());
		if (inner || entry.symlink_status(ignored).type() != fs::file_type::directory)
			fs::remove(entry.path(), ignored);
	}
}

std::vector<std::string> names_in(const std::string &path, bool set_aside_ones)
{
	std::error_code ignored;
	std::vector<std::string> names;
	for (const fs::directory_entry &entry : fs::directory_iterator(path, ignored))
		if (is_replaced(entry.path()) == set_aside_ones)
			names.push_back(entry.path().filename());
	return names;
}

// Renames within one directory, which a confined recorder may do, too (confine.h).
void rename_in(const std::string &path, const std::string &from, const std::string &to)
{
	if (::rename((path + '/' + from).c_str(), (path + '/' + to).c_str()) < 0)
		throw Error(errno, "cannot set the trace in " + path + " aside");
}

// A file, or a snapshot of a flight recorder.
void remove_replaced(const std::string &path)
{
	std::error_code ignored;
	if (fs::is_directory(fs::symlink_status(path, ignored))) {
		remove_files(path);
		::rmdir(path.c_str());
	} else {
		fs::remove(path, ignored);
	}
}

// Throws Error if a flight recorder writes its snapshots there.
void expect_no_flight(const std::string &path)
{
	const nlohmann::json flight = parse_json(read_text(path + "/.monitor/flight.json"));
	if (!flight.is_object() || !flight.contains("pid") || !flight["pid"].is_number_integer())
		return;
	const int pid = flight["pid"].get<int>();
	struct stat wanted, in_use;
	const std::string used = flight_directory(pid);
	if (!used.empty() && ::stat(used.c_str(), &in_use) == 0 && ::stat(path.c_str(), &wanted) == 0 &&
	    wanted.st_ino == in_use.st_ino && wanted.st_dev == in_use.st_dev)
		throw Error("{} is used by a flight recorder, process {}; use another directory with -o", path, pid);
}

// ", process N" if the kernel's list of locks has the one that locked this file; it counts other devices on some file
// systems.
std::string lock_holder(const struct stat &file)
{
	const std::string what = fmt::format(" {:02x}:{:02x}:{} ", major(file.st_dev), minor(file.st_dev), file.st_ino);
	std::ifstream locks("/proc/locks");
	for (std::string line; std::getline(locks, line);) {
		int pid = 0;
		if (line.find(what) != std::string::npos &&
		    std::sscanf(line.c_str(), "%*d: FLOCK %*s WRITE %d", &pid) == 1 && pid > 0)
			return fmt::format(", process {}", pid);
	}
	return "";
}

// .monitor is set aside last and brought back first: if it is set aside, all is, even if the recorder is killed
// meanwhile.
void set_aside(const std::string &path)
{
	for (const std::string &name : names_in(path, false))
		if (name != ".monitor")
			rename_in(path, name, std::string(replaced_prefix) + name);
	std::error_code ignored;
	if (fs::exists(path + "/.monitor", ignored))
		rename_in(path, ".monitor", std::string(replaced_prefix) + ".monitor");
}

void bring_back(const std::string &path)
{
	std::error_code ignored;
	const std::string own = std::string(replaced_prefix) + ".monitor";
	if (fs::exists(path + '/' + own, ignored)) {
		remove_files(path);
		rename_in(path, own, ".monitor");
	}
	for (const std::string &name : names_in(path, true)) {
		const std::string before = name.substr(replaced_prefix.size());
		if (fs::exists(fs::path(path) / before, ignored)) // killed while it removed the replaced trace
			remove_replaced(path + '/' + name);
		else
			rename_in(path, name, before);
	}
}

std::string default_directory_name(const std::vector<std::string> &command)
{
	std::string name = command.empty() ? "machine" : fs::path(command.front()).filename().string();
	for (char &c : name)
		if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-')
			c = '_';
	name.resize(std::min(name.size(), max_command_name_length));
	return fmt::format("monitor-{}-{}", local_date(std::time(nullptr), "%Y%m%d-%H%M%S"), name);
}

} // namespace

Fd lock_directory(const std::string &path)
{
	Fd directory = open_file(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	struct stat status {};
	if (::flock(directory.get(), LOCK_EX | LOCK_NB) < 0 &&
	    errno == EWOULDBLOCK) { // other errors: no locks on this file system
		::fstat(directory.get(), &status);
		throw Error("{} is used by another recorder{}; use another directory with -o", path,
			    lock_holder(status));
	}
	return directory;
}

namespace {

void make_monitor_directory(const std::string &path)
{
	if (::mkdir((path + "/.monitor").c_str(), 0700) < 0)
		throw Error(errno, "cannot create the trace directory " + path);
}

// Locks a new directory; removes it on failure.
Fd lock_new(const std::string &path)
{
	try {
		Fd lock = lock_directory(path);
		make_monitor_directory(path);
		return lock;
	} catch (const Error &) {
		::rmdir(path.c_str());
		throw;
	}
}

} // namespace

Fd make_default_directory(const std::vector<std::string> &command, std::string &path)
{
	constexpr unsigned max_tries = 1000;
	const std::string name = default_directory_name(command);
	path = name;
	for (unsigned number = 2; ::mkdir(path.c_str(), 0700) < 0; ++number) {
		if (errno != EEXIST || number > max_tries)
			throw Error(errno, "cannot create the trace directory " + path);
		path = fmt::format("{}-{}", name, number);
	}
	return lock_new(path);
}

Fd make_trace_directory(const std::string &path, bool force)
{
	struct stat status;
	if (::lstat(path.c_str(), &status) < 0) {
		std::error_code said_below;
		fs::create_directories((fs::path(path) / "").parent_path().parent_path(), said_below);
		if (::mkdir(path.c_str(), 0700) < 0)
			throw Error(errno, "cannot create the trace directory " + path);
		return lock_new(path);
	}
	if (S_ISLNK(status.st_mode))
		throw Error(path + " is a symbolic link; use the directory itself");
	if (!S_ISDIR(status.st_mode))
		throw Error(path + " exists and is not a directory; use another path with -o");
	if (!force)
		throw Error(path + " exists and is never overwritten; use another directory with -o, or add --force");
	Fd lock = lock_directory(path);
	expect_no_flight(path);
	bring_back(path); // left by a recorder killed before its recording started
	if (!is_trace_or_empty(path))
		throw Error(path +
			    " exists and is not a trace, so --force does not empty it; use another directory with -o");
	set_aside(path);
	make_monitor_directory(path);
	return lock;
}

void remove_replaced_trace(const std::string &path)
{
	std::error_code ignored;
	const std::string own = path + '/' + std::string(replaced_prefix) + ".monitor";
	remove_files(own);
	fs::remove(own, ignored);
	for (const std::string &name : names_in(path, true))
		remove_replaced(path + '/' + name);
}

void remove_trace_directory(const std::string &path)
{
	remove_files(path);
	bring_back(path);
	::rmdir(path.c_str()); // confine_to() permits this; remove(3) would try unlink() first
}

} // namespace monitor::record
