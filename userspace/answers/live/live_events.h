// SPDX-License-Identifier: MIT
// The events of a running recording in the order of time, from its blocks in memory: common to the sinks of this folder
// (live_states.h, live_fold.h).
// Called in the thread that drains the rings, describe() in any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "reading/analyze/fold_input.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/live_streams.h"
#include "recording/rings/block_sink.h"

namespace monitor::live {

class LiveEvents {
public:
	// Throws Error.
	void start(const record::LiveStart &start);
	const analyze::FoldInput &input() const { return *input_; }
	const analyze::RecordingInfo &info() const { return info_; }
	const trace::Description &description() const { return *description_; }

	void describe(const std::string &description);
	// Whether the description got classes since the last call. Throws Error.
	bool has_new_classes();

	// See record::BlockSink.
	bool take(record::StreamNumber stream, const std::string &name, const std::byte *block);
	void lose(record::StreamNumber stream) { streams_->lose(stream); }
	// Passes on events older than `time`, for a limited time: see LiveStreams::advance(). False: there are more.
	template <class Visitor> bool advance(std::uint64_t time, Visitor &visitor)
	{
		return streams_->advance(time, visitor, trace::LiveStreams::Clock::now() + max_advance_time);
	}
	std::uint64_t late() const { return streams_->late(); }

private:
	static constexpr std::chrono::milliseconds max_advance_time{20}; // time limit, as the rings must be drained

	std::shared_ptr<trace::Description> description_;
	analyze::RecordingInfo info_;
	std::optional<analyze::FoldInput> input_;
	std::optional<trace::LiveStreams> streams_;
	std::atomic<bool> has_new_description_{false}; // since has_new_classes()
	std::mutex lock_;                              // protects new_description_
	std::string new_description_;
};

} // namespace monitor::live
