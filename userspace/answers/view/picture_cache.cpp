// SPDX-License-Identifier: MIT
#include "picture_cache.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <zlib.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mapped_file.h"
#include "picture_bytes.h"

namespace monitor::view {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view format = "monitor picture 4\n"; // incremented with the format

std::string cache_directory()
{
	const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
	if (cache && cache[0] == '/')
		return fmt::format("{}/monitor/pictures", cache);
	return home && home[0] == '/' ? fmt::format("{}/.cache/monitor/pictures", home) : "";
}

// The size and modification time of a file, if it exists.
std::optional<std::string> state_of(const std::string &path)
{
	struct stat status {};
	if (::stat(path.c_str(), &status) != 0)
		return std::nullopt;
	return fmt::format("\n{} {} {}.{:09}", path, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

std::string identity_of(const std::vector<std::string> &directories, const trace::Trace &trace)
{
	std::string text;
	for (const std::string &directory : directories) {
		std::error_code error;
		text += fs::absolute(directory, error).lexically_normal().string() + '\n';
	}
	text += trace.recording_json();
	std::vector<std::string> names = {"metadata"};
	for (const auto &stream : trace.streams())
		names.push_back(stream->info().name);
	// A rebuilt program may interpret the trace differently.
	for (const std::string &path : {std::string("/proc/self/exe"), trace.directory() + "/.monitor/cgroups"})
		text += state_of(path).value_or("\nnone");
	for (const std::string &name : names) {
		const std::optional<std::string> state = state_of(trace.directory() + "/" + name);
		if (!state)
			return ""; // it has no files of its own
		text += *state;
	}
	return text;
}

std::uint32_t checksum(std::string_view bytes)
{
	return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size()));
}

} // namespace

PictureCache::PictureCache(const std::vector<std::string> &directories, const trace::Trace &trace)
    : identity_(identity_of(directories, trace)), directory_(cache_directory())
{
	if (!identity_.empty() && !directory_.empty())
		path_ = fmt::format("{}/{:016x}", directory_, std::hash<std::string>{}(identity_));
}

std::optional<PictureCache::Kept> PictureCache::find() const
{
	struct stat status {};
	if (path_.empty() || ::lstat(path_.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_uid != ::geteuid())
		return std::nullopt;
	try {
		const MappedFile file(path_);
		std::string_view bytes(reinterpret_cast<const char *>(file.data()), file.size());
		if (!bytes.starts_with(format))
			return std::nullopt;
		CacheReader reader(bytes.substr(format.size()));
		if (reader.number<std::uint32_t>() != checksum(reader.rest()) || reader.text() != identity_)
			return std::nullopt;
		Kept kept;
		kept.text = reader.text();
		kept.timeline = std::make_unique<Timeline>(reader);
		kept.activities = ActivityLanes(*kept.timeline, reader);
		::utimensat(AT_FDCWD, path_.c_str(), nullptr, 0);
		return kept;
	} catch (const Error &) {
		return std::nullopt;
	}
}

void PictureCache::save(const Timeline &timeline, const ActivityLanes &activities, const std::string &text) const
{
	std::error_code error;
	fs::create_directories(directory_, error);
	if (path_.empty() || error)
		return;
	CacheWriter writer;
	writer.text(identity_);
	writer.text(text);
	timeline.save(writer);
	activities.save(writer);
	CacheWriter head;
	head.number(checksum(writer.bytes()));
	const std::string written = fmt::format("{}.{}", path_, ::getpid());
	const Fd file(::open(written.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
	if (!file)
		return;
	const auto write = [&file](std::string_view bytes) {
		while (!bytes.empty()) {
			const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
			if (count <= 0)
				return false;
			bytes.remove_prefix(static_cast<std::size_t>(count));
		}
		return true;
	};
	if (!write(format) || !write(head.bytes()) || !write(writer.bytes()) ||
	    ::rename(written.c_str(), path_.c_str()) != 0)
		::unlink(written.c_str());
	remove_oldest();
}

void PictureCache::remove_oldest() const
{
	struct File {
		fs::path path;
		fs::file_time_type used;
		std::uintmax_t bytes;
	};
	std::vector<File> files;
	std::error_code error;
	for (fs::directory_iterator at(directory_, error), end; !error && at != end; at.increment(error)) {
		std::error_code why;
		if (at->is_regular_file(why))
			files.push_back({at->path(), at->last_write_time(why), at->file_size(why)});
	}
	std::ranges::sort(files, std::ranges::greater(), &File::used);
	std::uintmax_t kept = 0;
	for (const File &file : files)
		if ((kept += file.bytes) > max_kept_bytes)
			fs::remove(file.path, error);
}

} // namespace monitor::view
