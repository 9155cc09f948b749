// SPDX-License-Identifier: MIT
#include "adding.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/sparse_copy.h"
#include "folder.h"
#include "name.h"

namespace monitor::archive {
namespace {

namespace fs = std::filesystem;

void link_or_copy_file(const std::string &from, const std::string &to)
{
	if (::link(from.c_str(), to.c_str()) < 0)
		copy_sparse(from, to, true); // it failed across file systems, or without hard links
}

void sync_folder(const std::string &path)
{
	if (::fsync(open_file(path, O_RDONLY | O_DIRECTORY).get()) < 0)
		throw Error(errno, "cannot write " + printable(path));
}

mode_t mode_of(const std::string &path)
{
	struct stat status {};
	if (::stat(path.c_str(), &status) < 0)
		throw Error(errno, "cannot read " + printable(path));
	return status.st_mode & 0777;
}

// As private as the original.
void copy_trace(const std::string &from, const std::string &to, Transfer transfer)
{
	if (::mkdir(to.c_str(), mode_of(from) | S_IRWXU) < 0)
		throw Error(errno, "cannot create " + printable(to));
	for (const fs::directory_entry &each : fs::directory_iterator(from)) {
		const std::string name = each.path().filename(), source = from + "/" + name, target = to + "/" + name;
		const fs::file_status status = each.symlink_status();
		if (fs::is_directory(status))
			copy_trace(source, target, transfer);
		else if (!fs::is_regular_file(status))
			throw Error(printable(source) +
				    " is neither a file nor a directory, so this cannot be copied as a trace");
		else if (transfer == Transfer::move)
			link_or_copy_file(source, target);
		else
			copy_sparse(source, target, true);
	}
	sync_folder(to);
}

// The folder in which a measurement is made. Locked while in use; removed unless it was renamed.
class StagingFolder {
public:
	StagingFolder(const std::string &parent, mode_t mode)
	{
		for (int tries = 0; tries < 100 && !lock_; ++tries) {
			std::string path = parent + "/" + adding_prefix + "XXXXXX";
			if (!::mkdtemp(path.data()))
				throw Error(errno, "cannot create a folder in " + printable(parent));
			Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
			struct stat status {};
			// Before it was locked, another `add` may have removed it as left over.
			if (!fd || ::flock(fd.get(), LOCK_EX | LOCK_NB) < 0 || ::fstat(fd.get(), &status) < 0 ||
			    status.st_nlink == 0)
				continue;
			path_ = path;
			lock_ = std::move(fd);
		}
		if (!lock_)
			throw Error("cannot create a folder in " + printable(parent));
		const mode_t mask = ::umask(0);
		::umask(mask);
		::fchmod(lock_.get(), (mode | S_IRWXU) & ~mask);
	}
	~StagingFolder()
	{
		std::error_code ignored;
		if (!is_renamed_)
			fs::remove_all(path_, ignored);
	}
	StagingFolder(const StagingFolder &) = delete;
	StagingFolder &operator=(const StagingFolder &) = delete;

	const std::string &path() const { return path_; }

	// False: the name is taken.
	bool rename_to(const std::string &target)
	{
		int failed = ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE);
		if (failed && (errno == EINVAL || errno == ENOSYS)) // this file system replaces empty folders only
			failed = ::rename(path_.c_str(), target.c_str());
		if (failed && (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR))
			return false;
		if (failed)
			throw Error(errno, "cannot rename " + printable(path_) + " to " + printable(target));
		is_renamed_ = true;
		return true;
	}

private:
	std::string path_;
	Fd lock_;
	bool is_renamed_ = false;
};

// Removes what killed writers left in this folder.
void remove_left_over(const std::string &parent)
{
	std::error_code ignored;
	for (const fs::directory_entry &each : fs::directory_iterator(parent, ignored)) {
		if (!each.path().filename().string().starts_with(adding_prefix))
			continue;
		const Fd fd(::open(each.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
		if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0)
			fs::remove_all(each.path(), ignored);
	}
}

// Makes the measurement's parent folders. None of them may be a measurement, not even one that was added meanwhile.
std::string make_parents(const std::string &archive, const std::vector<std::string> &levels)
{
	std::error_code failed;
	fs::create_directories(archive, failed);
	if (failed)
		throw Error(failed.value(), "cannot create the archive " + printable(archive));
	std::string path = archive;
	for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
		path += "/" + levels[i];
		if (::mkdir(path.c_str(), 0777) < 0 && errno != EEXIST)
			throw Error(errno, "cannot create " + printable(path));
		if (is_measurement(path))
			throw Error("{} is a measurement, so there can be none in it: choose another name",
				    printable(fmt::format(
					"{}", fmt::join(levels.begin(),
							levels.begin() + static_cast<std::ptrdiff_t>(i) + 1, "/"))));
	}
	return path;
}

[[noreturn]] void throw_taken(const std::string &name)
{
	throw Error("{} already exists in the archive: choose another name or remove it", printable(name));
}

void add_figures(const std::string &folder, const std::string &trace, Added &added)
{
	std::vector<Figure> figures;
	for (const std::string &text : read_group(folder, project_file).figures)
		try {
			figures.push_back(parse_figure(text));
		} catch (const Error &error) { // a figure of another version is unknown, the measurement is not
			added.notes.emplace_back(error.what());
		}
	if (figures.empty())
		return;
	const Measured measured = measure(trace, figures);
	if (measured.problems.empty() && measured.is_final)
		added.entry.figures = measured.values;
	if (to_json(added.entry).size() >= max_measurement_bytes) {
		added.entry.figures.clear();
		added.notes.emplace_back(
		    "the project has more figures than a measurement can keep: they are computed each time");
	}
	added.notes.insert(added.notes.end(), measured.problems.begin(), measured.problems.end());
}

bool is_within(const fs::path &path, const fs::path &folder)
{
	return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// Copying a folder into itself would not end, and what is in the archive already is not moved by adding it.
void check_apart(const std::string &archive, const std::string &directory, Transfer transfer)
{
	const fs::path trace = fs::canonical(directory), folder = fs::weakly_canonical(archive);
	if (is_within(folder, trace))
		throw Error("the archive {} is in the trace {}: choose another archive", printable(archive),
			    printable(directory));
	if (transfer == Transfer::move && is_within(trace, folder))
		throw Error("{} is in the archive {} already: move it with mv", printable(directory),
			    printable(archive));
	if (transfer == Transfer::move &&
	    fs::is_symlink(directory.substr(0, std::max<std::size_t>(directory.find_last_not_of('/') + 1, 1))))
		throw Error("{} is a symbolic link: to move the trace, name {}", printable(directory),
			    printable(trace.string()));
}

// Syncs the folders that make_parents() may have made, and `existing`, which existed before.
void sync_parents(const std::string &parent, const fs::path &existing)
{
	for (fs::path folder = fs::canonical(parent);; folder = folder.parent_path()) {
		if (::access(folder.c_str(), R_OK) < 0) // cannot have been made here
			return;
		sync_folder(folder);
		if (folder == existing || !folder.has_relative_path())
			return;
	}
}

fs::path existing_part(const std::string &path)
{
	fs::path existing = fs::weakly_canonical(fs::absolute(path));
	while (!fs::exists(existing))
		existing = existing.parent_path();
	return existing;
}

void remove_original(const std::string &directory, Added &added)
{
	std::error_code failed;
	fs::remove_all(directory, failed);
	if (failed)
		added.notes.push_back(
		    fmt::format("{} is in the archive, and could not be removed from where it was: {}",
				printable(directory), failed.message()));
}

Added add_measurement(const std::string &archive, const std::string &directory, const std::string &name,
		      const std::string &note, Transfer transfer)
{
	const std::vector<std::string> levels = levels_of_measurement(name);
	const std::string full_name = fmt::format("{}", fmt::join(levels, "/"));
	if (!fs::is_directory(directory))
		throw Error(printable(directory) + " is not a directory: only a trace directory can be added");
	check_note_size(note);
	check_apart(archive, directory, transfer);
	Added added;
	{
		trace::Trace trace = trace::Trace::open(directory);
		added.entry = entry_of(trace);
	}
	added.entry.name = full_name;
	if (!note.empty())
		added.entry.note = note;
	if (!added.entry.complete)
		added.notes.emplace_back(
		    "this recording was not completed, or is of another tracer: what it lost is unknown");
	const fs::path existing = existing_part(archive);
	const std::string parent = make_parents(archive, levels), target = parent + "/" + levels.back();
	if (::access(target.c_str(), F_OK) == 0)
		throw_taken(full_name);
	remove_left_over(parent);
	StagingFolder staging(parent, mode_of(directory));
	const std::string trace_path = staging.path() + "/" + trace_folder;
	if (transfer == Transfer::link)
		fs::create_directory_symlink(fs::canonical(directory), trace_path);
	else
		copy_trace(directory, trace_path, transfer);
	add_figures(archive + "/" + levels.front(), trace_path, added);
	replace_in_folder(staging.path(), measurement_file, to_json(added.entry), max_measurement_bytes);
	sync_folder(staging.path());
	sync_parents(parent, existing);
	if (!staging.rename_to(target))
		throw_taken(full_name);
	sync_folder(parent);
	if (transfer == Transfer::move)
		remove_original(directory, added);
	return added;
}

} // namespace

Added add(const std::string &archive, const std::string &directory, const std::string &name, const std::string &note,
	  Transfer transfer)
{
	try {
		return add_measurement(archive, directory, name, note, transfer);
	} catch (const fs::filesystem_error &error) {
		throw Error(error.code().value(), "cannot read or write " + printable(error.path1().string()));
	}
}

} // namespace monitor::archive
