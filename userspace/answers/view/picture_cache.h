// SPDX-License-Identifier: MIT
// Pictures of long traces, kept in the user's cache directory: a trace is read as a whole once.
//
//     $XDG_CACHE_HOME/monitor/pictures/HASH, or ~/.cache/monitor/pictures/HASH
//
// A file has what it is the picture of: the path, what the recording says of itself, and the size and time of each
// stream, of the description and of this program. If any of these differ, or its checksum does, it is not used. The
// files used last are kept, up to max_kept_bytes. Only the user's own files are read.
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

	// Of this trace. Without a place for it nothing is kept, and nothing found.
	PictureCache(const std::vector<std::string> &directories, const trace::Trace &trace);

	// What the trace is: another text if any of it has changed; "": it has no files of its own.
	const std::string &identity() const { return identity_; }

	struct Kept {
		std::unique_ptr<Timeline> timeline;
		ActivityLanes activities;
		std::string text; // JSON, of picture.cpp
	};
	std::optional<Kept> find() const;
	// Does nothing if it cannot be written: it is only a cache.
	void keep(const Timeline &timeline, const ActivityLanes &activities, const std::string &text) const;

private:
	void remove_oldest() const;

	std::string identity_, directory_, path_; // "": there is no place
};

} // namespace monitor::view
