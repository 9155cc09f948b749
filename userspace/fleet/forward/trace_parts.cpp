// SPDX-License-Identifier: MIT
#include "trace_parts.h"

#include <algorithm>
#include <filesystem>

#include "base/recording_file/contents.h"
#include "fleet/wire/batch.h"

namespace monitor::fleet {
namespace {

bool is_file(const std::filesystem::path &path)
{
	std::error_code ignored;
	return std::filesystem::is_regular_file(path, ignored);
}

} // namespace

std::vector<TracePart> trace_parts(const std::string &recording)
{
	const std::filesystem::path path(recording);
	const std::filesystem::path within = path.has_filename() ? path : path.parent_path();
	if (is_file(within.parent_path() / ".monitor" / "flight.json")) // one snapshot
		return {{recording, within.filename().string()}};
	if (!is_file(path / ".monitor" / "flight.json"))
		return {{recording, ""}};
	std::vector<TracePart> parts;
	std::error_code error;
	for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end;
	     entry.increment(error)) {
		const std::string name = entry->path().filename().string();
		if (is_stream_name(name) && is_file(entry->path() / recording_file::file_name))
			parts.push_back({entry->path().string(), name});
	}
	std::ranges::sort(parts, {}, &TracePart::part);
	return parts;
}

bool trace_has_ended(const std::string &directory)
{
	const auto recorded = recording_file::contents_in(directory);
	return recorded && recorded->complete();
}

} // namespace monitor::fleet
