// SPDX-License-Identifier: MIT
// Caches pictures of long traces in the user's cache directory, so that a trace is read completely only once.
// $XDG_CACHE_HOME/monitor/pictures/HASH, or ~/.cache/monitor/pictures/HASH
// A file identifies its trace: the path, the recording's own data, and the size and time of each stream, of the
// description and of this program. It is ignored if any of these differ, or its checksum does. The most recently used
// files are kept, up to max_kept_bytes. Only the user's own files are read.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "activity_lanes.h"
#include "reading/events/trace.h"
#include "timeline.h"

namespace monitor::view {

class PictureCache {
public:
	static constexpr std::size_t max_kept_bytes = 1u << 30;

	// The cache for this trace. Without a directory nothing is kept or found.
	PictureCache(const std::vector<std::string> &directories, const trace::Trace &trace);

	// Identifies the trace: changes if any of it does; "": it has no files of its own.
	const std::string &identity() const { return identity_; }

	struct Kept {
		std::unique_ptr<Timeline> timeline;
		ActivityLanes activities;
		std::string text; // JSON from picture.cpp
	};
	std::optional<Kept> find() const;
	// Errors are ignored: it is only a cache.
	void save(const Timeline &timeline, const ActivityLanes &activities, const std::string &text) const;

private:
	void remove_oldest() const;

	std::string identity_, directory_, path_; // "": there is no cache directory
};

} // namespace monitor::view
