// SPDX-License-Identifier: MIT
#include "listing.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "folder.h"
#include "name.h"

namespace monitor::archive {
namespace {

constexpr std::size_t min_names_per_thread = 64, no_folder = ~std::size_t(0);
constexpr std::size_t max_folders = 1 << 16; // that are not measurements

struct Folder {
	dev_t device = 0;
	ino_t inode = 0;
	std::vector<std::string> names, links; // of its entries, as paths from the archive
};

// What is at one path.
struct Found {
	std::string path;
	std::size_t parent_index = no_folder;
	enum class Kind : std::uint8_t { nothing, folder, entry, damaged } kind = Kind::nothing;
	std::unique_ptr<Entry> entry;
	std::optional<std::int64_t> seconds; // its date
	Folder folder;
	std::string why;
};

struct CloseDirectory {
	void operator()(DIR *directory) const { ::closedir(directory); }
};

std::string errno_text(int number)
{
	return std::strerror(number);
}

// Reads a small regular file with one read; false: sets `why`. A pipe does not block it.
bool read_small(int fd, std::string &text, std::string &why)
{
	char bytes[max_measurement_bytes];
	ssize_t got;
	do
		got = ::read(fd, bytes, sizeof bytes);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		why = errno_text(errno);
	else if (static_cast<std::size_t>(got) == sizeof bytes)
		why = "it is too large";
	else
		text.assign(bytes, static_cast<std::size_t>(got));
	return why.empty();
}

void set_damaged(Found &found, const std::string &why)
{
	found.kind = Found::Kind::damaged;
	found.why = why;
}

// `name`: path from the open folder.
void read_names(int folder, const std::string &name, Found &found)
{
	const int fd = ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOTDIR || errno == ENOENT)) // a file, or just removed
		return;
	const std::unique_ptr<DIR, CloseDirectory> directory(fd < 0 ? nullptr : ::fdopendir(fd));
	struct stat status {};
	if (!directory || ::fstat(fd, &status) < 0)
		return set_damaged(found, errno_text(errno));
	found.kind = Found::Kind::folder;
	found.folder = {status.st_dev, status.st_ino, {}, {}};
	while (const dirent *each = ::readdir(directory.get()))
		if (each->d_name[0] != '.' &&
		    (each->d_type == DT_DIR || each->d_type == DT_LNK || each->d_type == DT_UNKNOWN))
			(each->d_type == DT_LNK ? found.folder.links : found.folder.names)
			    .push_back((found.path.empty() ? "" : found.path + "/") + each->d_name);
}

// A folder with a measurement.json is a measurement, others contain measurements.
void read_path(int folder, const std::string &name, Found &found, std::string &text)
{
	const Fd file(::openat(folder, (name + "/" + measurement_file).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	if (!file && errno == ENOENT)
		return read_names(folder, name, found);
	if (!file && errno == ENOTDIR)
		return;
	if (!file)
		return set_damaged(found, errno_text(errno));
	if (!read_small(file.get(), text, found.why))
		return set_damaged(found, found.why);
	found.entry = parse_entry(text);
	if (!found.entry)
		return set_damaged(found, fmt::format("its {} is damaged", measurement_file));
	if (::faccessat(folder, (name + "/" + trace_folder).c_str(), F_OK, 0) < 0)
		return set_damaged(found, "its trace is missing");
	found.kind = Found::Kind::entry;
	found.entry->name = found.path;
	found.seconds = seconds_of(found.entry->date);
}

void read_all_paths(int root, std::vector<Found> &all)
{
	const std::size_t cpus = std::max(std::thread::hardware_concurrency(), 1u);
	const std::size_t threads = std::min(cpus, all.size() / min_names_per_thread + 1);
	std::atomic<std::size_t> next = 0;
	const auto work = [&] {
		std::string text;
		std::size_t parent_index = no_folder;
		Fd folder; // parent: opening names relative to it is faster
		for (std::size_t i; (i = next++) < all.size();) {
			const std::size_t slash = all[i].path.rfind('/');
			if (slash == std::string::npos) {
				read_path(root, all[i].path, all[i], text);
				continue;
			}
			if (parent_index != all[i].parent_index)
				folder = Fd(::openat(root, all[i].path.substr(0, slash).c_str(),
						     O_PATH | O_DIRECTORY | O_CLOEXEC));
			parent_index = all[i].parent_index;
			if (folder)
				read_path(folder.get(), all[i].path.substr(slash + 1), all[i], text);
			else
				set_damaged(all[i], errno_text(errno));
		}
	};
	std::vector<std::jthread> others;
	for (std::size_t i = 1; i < threads; ++i)
		others.emplace_back(work);
	work();
}

// All measurements and problems below a folder.
class Walk {
public:
	explicit Walk(int root) : root_(root) {}

	// Level by level. Symbolic links come last, as they may lead to folders that are visited anyway.
	std::vector<Found> from(const std::string &path)
	{
		std::vector<Found> level(1);
		level[0].path = path;
		read_names(root_, path.empty() ? "." : path, level[0]);
		while (!level.empty()) {
			for (Found &found : level)
				add_found(found);
			level = std::exchange(below_.empty() ? links_ : below_, {});
			read_all_paths(root_, level);
		}
		return std::move(kept_);
	}

private:
	void add_found(Found &found)
	{
		const auto leave_out = [&](const std::string &why) {
			set_damaged(found, why);
			kept_.push_back(std::move(found));
		};
		if (found.kind == Found::Kind::entry || found.kind == Found::Kind::damaged)
			kept_.push_back(std::move(found));
		if (found.kind != Found::Kind::folder || (found.folder.names.empty() && found.folder.links.empty()))
			return;
		if (std::ranges::count(found.path, '/') + 1 >= static_cast<std::ptrdiff_t>(max_levels))
			return leave_out(fmt::format("what is in it has more than {} levels", max_levels));
		if (folders_.contains({found.folder.device, found.folder.inode}))
			return;
		if (folders_.size() == max_folders)
			return std::exchange(is_full_, true)
				   ? void()
				   : leave_out(fmt::format("there are more than {} folders; others are left out, too",
							   max_folders));
		for (auto [names, found_names] :
		     {std::pair(&below_, &found.folder.names), std::pair(&links_, &found.folder.links)})
			for (std::string &name : *found_names)
				names->emplace_back(Found{std::move(name), folders_.size(), {}, {}, {}, {}, {}});
		folders_.emplace(found.folder.device, found.folder.inode);
	}

	int root_;
	std::set<std::pair<dev_t, ino_t>> folders_; // already visited, as a link may lead back
	std::vector<Found> below_, links_, kept_;
	bool is_full_ = false;
};

} // namespace

Listing list(const std::string &archive, const std::string &name)
{
	Listing listing;
	std::string path;
	if (!name.empty())
		path = fmt::format("{}", fmt::join(levels_of(name), "/"));
	const Fd root(::open(archive.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (!root && errno == ENOENT)
		throw Error("there is no archive {}: `monitor archive add DIR PROJECT/EXPERIMENT/MEASUREMENT` makes it",
			    printable(archive));
	if (!root)
		throw Error(errno, "cannot open " + printable(archive));
	std::vector<Found> all(1);
	if (path.empty()) {
		all = Walk(root.get()).from("");
	} else {
		std::string text;
		all[0].path = path;
		read_path(root.get(), path, all[0], text);
		if (all[0].kind == Found::Kind::nothing)
			throw Error("there is no {} in the archive {}", printable(path), printable(archive));
		if (all[0].kind == Found::Kind::folder)
			all = Walk(root.get()).from(path);
	}
	std::ranges::sort(all, [](const Found &a, const Found &b) {
		return a.seconds != b.seconds ? a.seconds < b.seconds : a.path < b.path;
	});
	for (Found &found : all)
		if (found.kind == Found::Kind::entry)
			listing.entries.push_back(std::move(*found.entry));
		else
			listing.problems.push_back(
			    fmt::format("{} cannot be read: {}", printable(found.path), found.why));
	return listing;
}

Entry read_entry(const std::string &archive, const std::string &name)
{
	Found found;
	found.path = fmt::format("{}", fmt::join(levels_of(name), "/"));
	std::string text;
	const Fd root(::open(archive.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (root)
		read_path(root.get(), found.path, found, text);
	else if (errno != ENOENT)
		throw Error(errno, "cannot open " + printable(archive));
	if (found.kind == Found::Kind::damaged)
		throw Error("{} cannot be read: {}", printable(found.path), found.why);
	if (found.kind != Found::Kind::entry)
		throw Error("there is no measurement {} in the archive {}; `monitor archive list` shows what there is",
			    printable(found.path), printable(archive));
	return std::move(*found.entry);
}

std::string trace_of(const std::string &archive, const std::string &name)
{
	return archive + "/" + name + "/" + trace_folder;
}

} // namespace monitor::archive
