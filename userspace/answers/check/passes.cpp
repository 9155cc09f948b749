// SPDX-License-Identifier: MIT
#include "passes.h"

#include "monitor/card.h"
#include "reading/events/field_ref.h"

namespace monitor::check {

void RecorderPasses::event(const trace::Event &event)
{
	if (!event.is_token() || !event.stream->is_recorder())
		return;
	const auto value = [&](const char *field) { return trace::FieldRef(*event.cls, field).get(event); };
	if (event.cls->id == EDC_ID_DRAIN_PASS) {
		++passes_;
		empty_ += value("empty_passes");
		copied_ += value("blocks");
	} else if (event.cls->id == EDC_ID_BLOCK_WRITE) {
		++writes_;
		written_ += value("blocks");
	}
}

void RecorderPasses::judge(const trace::Trace &trace, const RecordingInfo &info, Statements &statements) const
{
	if (!passes_ || info.has_only_states())
		return;
	std::uint64_t packets = 0, own = 0;
	for (const auto &stream : trace.streams())
		(stream->info().is_recorder() ? own : packets) += stream->packets();
	const std::uint64_t dropped = info.recorder.dropped_blocks; // of its own stream, too
	const bool is_whole = copied_ >= packets && copied_ <= packets + dropped && written_ <= packets + own;
	statements.add("passes", is_whole ? Verdict::holds : Verdict::fails,
		       "{} passes of the recorder, {} of them without blocks, copied {} blocks, {} packets are in the "
		       "streams{}; {} writes say that they took {} of these and of the {} of its own",
		       passes_ + empty_, empty_, copied_, packets,
		       dropped ? fmt::format(", {} blocks could not be written", dropped) : "", writes_, written_, own);
}

} // namespace monitor::check
