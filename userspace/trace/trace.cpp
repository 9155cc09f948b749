// SPDX-License-Identifier: MIT
#include "trace.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string_view>
#include <tuple>

#include "base/error.h"
#include "interpret.h"
#include "tsdl.h"

namespace monitor::trace {
namespace {

namespace fs = std::filesystem;

constexpr const char *remedy = "; name a directory that `monitor record -o` wrote";

// Throws Error unless it is a directory with a description.
void check_directory(const fs::path &directory)
{
	std::error_code error;
	const fs::file_status status = fs::status(directory, error);
	if (!fs::exists(status))
		throw Error("there is no trace " + directory.string() + remedy);
	if (!fs::is_directory(status))
		throw Error(directory.string() + " is not a directory" + remedy);
	if (!fs::exists(directory / "metadata", error) && !error)
		throw Error(directory.string() + " is not a trace (it has no file `metadata`)" + remedy);
}

std::unique_ptr<const Description> load_description(const std::string &path)
{
	const Mapping file = map_file(path);
	if (file.size() == 0)
		throw Error(path + " is empty: the recording ended before it began; record again");
	if (file.size() > tsdl::max_text_bytes)
		throw Error(path + " is larger than 16 MiB: it is not the description of a trace");
	std::string why;
	auto description = read_description({reinterpret_cast<const char *>(file.data()), file.size()}, why);
	if (!description)
		throw Error(path + ", " + why);
	return description;
}

std::vector<fs::path> stream_files(const fs::path &directory)
{
	std::vector<fs::path> paths;
	std::error_code error;
	for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
		const std::string name = entry->path().filename().string();
		std::error_code unreadable;
		if (name.front() != '.' && name != "metadata" && entry->is_regular_file(unreadable))
			paths.push_back(entry->path());
	}
	if (error)
		throw Error(error.value(), "cannot list " + directory.string());
	std::sort(paths.begin(), paths.end());
	return paths;
}

} // namespace

Trace Trace::open(const std::string &directory)
{
	check_directory(directory);
	auto description = load_description((fs::path(directory) / "metadata").string());
	std::vector<std::unique_ptr<Stream>> streams;
	for (const fs::path &path : stream_files(directory)) {
		Mapping file = map_file(path.string());
		if (file.size() > 0)
			streams.push_back(
			    std::make_unique<Stream>(path.filename().string(), std::move(file), description->uuid));
	}
	if (streams.empty())
		throw Error(directory + " holds no events (no stream file lies beside its metadata); record again");
	Trace trace(std::move(description), std::move(streams));
	trace.directory_ = directory;
	trace.recording_json_ = read_text((fs::path(directory) / ".monitor" / "recording.json").string());
	return trace;
}

Trace::Trace(std::shared_ptr<const Description> description, std::vector<std::unique_ptr<Stream>> streams)
    : description_(std::move(description)), streams_(std::move(streams))
{
	const auto order = [](const std::unique_ptr<Stream> &stream) {
		const StreamInfo &info = stream->info();
		// EDC_CPU_UNKNOWN + 1 is 0: the recorder's is first
		return std::tuple(stream->is_foreign(), info.cpu + 1, info.level, std::string_view(info.name));
	};
	std::sort(streams_.begin(), streams_.end(), [&](const auto &a, const auto &b) { return order(a) < order(b); });

	begin_time_ = std::numeric_limits<std::uint64_t>::max();
	for (std::size_t i = 0; i < streams_.size(); ++i) {
		Stream &stream = *streams_[i];
		stream.set_index(static_cast<std::uint32_t>(i));
		if (stream.is_foreign()) {
			problems_.add(stream.info(), 0, 0, stream.why_foreign());
			continue;
		}
		begin_time_ = std::min(begin_time_, stream.begin_time());
		end_time_ = std::max(end_time_, stream.end_time());
	}
	begin_time_ = std::min(begin_time_, end_time_);
}

std::vector<std::string> Trace::class_names() const
{
	std::vector<std::string> names;
	for (const auto &cls : description_->classes())
		if (description_->find(cls->name).front() == cls.get())
			names.push_back(cls->name);
	return names;
}

} // namespace monitor::trace
