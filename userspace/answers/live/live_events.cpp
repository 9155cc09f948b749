// SPDX-License-Identifier: MIT
#include "live_events.h"

#include <utility>

#include "live_description.h"

namespace monitor::live {
namespace {

constexpr std::size_t max_packets = 8192; // 32 MiB: bursts may be this far ahead of processing

} // namespace

void LiveEvents::start(const record::LiveStart &start)
{
	description_ = read_tokens(start.description);
	info_ = analyze::parse_recording(start.recording);
	info_.state = "complete"; // unless its end says otherwise
	input_.emplace(
	    analyze::FoldInput{*description_, {info_.start_time().value_or(start.begin_time)}, {}, false, {}, {}});
	input_->functions_left_out = info_.functions.budget.left_out;
	input_->partial = info_.partial;
	input_->is_running = true;
	input_->has_more_classes = start.has_more_classes;
	streams_.emplace(description_, start.begin_time, max_packets);
}

void LiveEvents::describe(const std::string &description)
{
	const std::lock_guard guard(lock_);
	new_description_ = description;
	has_new_description_.store(true, std::memory_order_release);
}

bool LiveEvents::has_new_classes()
{
	if (!has_new_description_.exchange(false, std::memory_order_acquire))
		return false;
	std::string text;
	{
		const std::lock_guard guard(lock_);
		text = std::exchange(new_description_, {});
	}
	return !text.empty() && add_classes(*description_, text);
}

bool LiveEvents::take(record::StreamNumber stream, const std::string &name, const std::byte *block)
{
	return streams_ && // after start()
	       streams_->take(stream, name, trace::LiveStreams::Packet(block, EDC_BLOCK_SIZE));
}

} // namespace monitor::live
