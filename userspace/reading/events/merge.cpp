// SPDX-License-Identifier: MIT
#include "merge.h"

namespace monitor::trace {

MergedCursors::MergedCursors(const Trace &trace, Problems &problems, const std::function<void(Cursor &)> &start)
{
	cursors_.reserve(trace.streams().size());
	for (const auto &stream : trace.streams()) {
		if (stream->is_foreign() && !stream->is_missing())
			continue;
		cursors_.emplace_back(*stream, trace.description(), problems, trace.first_time());
		start(cursors_.back());
		if (cursors_.back().item() != Cursor::Item::end)
			heap_.add(cursors_.back().time(), static_cast<std::uint32_t>(cursors_.size() - 1));
	}
	heap_.make();
}

void MergedCursors::update()
{
	const Cursor &cursor = first();
	if (cursor.item() == Cursor::Item::end)
		heap_.remove();
	else
		heap_.update(cursor.time());
}

void MergedCursors::walk(std::uint64_t to, const std::function<bool(Cursor &, std::uint64_t bound)> &run,
			 const std::function<bool(const Cursor &)> &gap)
{
	const std::uint64_t after = to + (to + 1 != 0 ? 1 : 0);
	for (; !empty() && first_time() <= to; update()) {
		Cursor &cursor = first();
		if (cursor.item() == Cursor::Item::event) {
			if (!run(cursor, std::min(bound(), after)))
				return;
		} else {
			if (!gap(cursor))
				return;
			cursor.advance();
		}
	}
}

void MergedCursors::give_back()
{
	for (Cursor &cursor : cursors_)
		cursor.give_back();
}

std::uint64_t lead_time(const Trace &trace, const Stream &stream, std::uint64_t time)
{
	const StreamInfo &info = stream.info();
	if (info.is_generic_ctf || info.is_user() || info.is_recorder())
		return stream.packet_time(time);
	const Stream *lowest = &stream; // of the CPU's levels
	for (std::size_t i = info.index; lowest->info().level > 0 && i-- > 0;) {
		const Stream &other = *trace.streams()[i];
		if (other.info().machine != info.machine || other.info().cpu != info.cpu)
			break;
		if (!other.is_foreign() && other.begin_time() <= time)
			lowest = &other;
	}
	return lowest->packet_time(time, 1);
}

} // namespace monitor::trace
