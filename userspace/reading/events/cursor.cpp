// SPDX-License-Identifier: MIT
#include "cursor.h"

namespace monitor::trace {

Cursor::Item Cursor::start(std::uint64_t from_time)
{
	// A gap that reaches past from_time starts in the packet with the last event before it; several packets may
	// begin at from_time. A stream without packet times is read from its first packet.
	const Stream &file = stream();
	const std::uint64_t first = file.first_packet();
	const std::uint64_t packet = from_time == 0 || !file.has_packet_times() ? first : file.seek(from_time - 1);
	start_at(packet > first && !packets_.follows_in_order(packet) ? packet - 1 : packet);
	const auto until = [this] { return item_ == Item::gap ? gap_.to_time : decoder_.time(); };
	while (item_ != Item::end && until() < from_time)
		advance();
	return item_;
}

Cursor::Item Cursor::start_at(std::uint64_t packet)
{
	packets_.start_at(packet);
	decoder_.reset();
	return advance_slowly();
}

Cursor::Item Cursor::grow()
{
	if (packets_.read_again())
		decoder_.grow(packets_.head());
	return item_ == Item::end ? advance_slowly() : item_;
}

Cursor::Item Cursor::advance_slowly()
{
	for (;;) {
		if (decoder_.next())
			return item_ = Item::event;
		if (decoder_.is_damaged() && pass_damage())
			return item_ = Item::gap;
		const bool opened = packets_.open_next(decoder_.time());
		if (!opened && !packets_.finish(decoder_.time()))
			return item_ = Item::end;
		if (opened && !decoder_.open(packets_.head(), packets_.end_time()))
			packets_.report_cut();
		gap_ = packets_.gap();
		if (!opened || gap_.lost != 0)
			return item_ = Item::gap;
	}
}

// True: only one event is lost, which is a gap; the rest of the packet can be read.
bool Cursor::pass_damage()
{
	const bool resumes = decoder_.can_resume();
	if (decoder_.is_cut_off()) {
		packets_.report_cut();
		packets_.end();
	} else {
		packets_.report_damage(decoder_.offset(), decoder_.why_damaged(),
				       stream().info().has_packets ? "" : "record " + std::to_string(decoder_.record()),
				       resumes);
	}
	decoder_.skip_damage();
	if (resumes)
		gap_ = {decoder_.time(), decoder_.time(), 1};
	return resumes;
}

} // namespace monitor::trace
