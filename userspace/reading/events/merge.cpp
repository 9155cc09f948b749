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

} // namespace monitor::trace
