// SPDX-License-Identifier: MIT
#include "walker.h"

#include <algorithm>
#include <utility>

namespace poet::detail {
namespace {

using monitor::trace::PacketHead;
using monitor::trace::Problems;
using InnerStream = monitor::trace::Stream;

constexpr std::size_t max_copies = 16;                       // left on the stack by one pass; must be even
constexpr std::size_t max_stack = 32;                        // of windows passed on the way forward
constexpr std::uint64_t part_bytes = 32u << 10;              // read at a time when going back
constexpr std::uint64_t kept_bytes = std::uint64_t(1) << 20; // of packets passed on the way back

Reader make_reader(const Core &core, const InnerStream &stream, Problems &problems)
{
	const auto &trace = core.trace();
	return Reader(monitor::trace::Cursor(stream, trace.description(), problems, trace.first_time()));
}

} // namespace

Walker::Walker(const Core &core, const InnerStream &stream, Problems &problems, std::size_t window_bytes)
    : stream_(&stream), window_(core, stream.info().index, window_bytes), begin_(make_reader(core, stream, problems)),
      front_(begin_.copy()), high_packet_(stream.packets())
{
	to_begin();
}

void Walker::to_begin()
{
	stack_.clear();
	window_.clear();
	at_ = 0;
	start(front_, stream_->first_packet());
	begin_ = front_.copy();
	first_ = begin_.mark();
}

void Walker::to_end()
{
	stack_.clear();
	window_.clear();
	at_ = 0;
	begin_.stop();
	front_.stop();
	high_packet_ = stream_->packets();
}

void Walker::seek(std::uint64_t time)
{
	stack_.clear();
	stream_->release(0, stream_->packets());
	high_packet_ = stream_->packets();
	start(front_, after_timed(time > 0 ? stream_->seek(time - 1) : stream_->first_packet()));
	read_until(front_, [time](const Reader &reader) { return reader.key() >= time; });
	if (make_window())
		return;
	window_.clear();
	at_ = 0;
	begin_ = front_.copy();
}

bool Walker::load_next()
{
	if (front_.at_end())
		return false;
	if (window_.size() > 0)
		stack_.push_back({std::move(begin_), window_.size()});
	if (stack_.size() > max_stack && stream_->has_packet_times())
		stack_.erase(stack_.begin(), stack_.begin() + max_stack / 2);
	else if (stack_.size() > max_stack)
		thin(0);
	begin_ = front_.copy();
	window_.clear();
	at_ = 0;
	for (; !front_.at_end() && !window_.is_full(); front_.advance())
		window_.add(front_);
	return true;
}

bool Walker::load_previous()
{
	if (stack_.empty() && first_ == begin_.mark())
		return false;
	front_ = begin_.copy();
	window_.clear();
	for (;;) {
		if (!stack_.empty()) {
			Copy last = std::move(stack_.back());
			stack_.pop_back();
			read_until(last.reader, [left = last.items](const Reader &) mutable { return left-- == 0; });
		} else if (!read_before()) {
			return false;
		}
		if (make_window() && at_ > 0)
			return true;
	}
}

// Pushes the part before the window onto the empty stack. False: there are no items.
bool Walker::read_before()
{
	const Mark end = begin_.mark();
	std::uint64_t packet = end == Mark::end() ? stream_->packets() : end.packet + (end.item > 0 ? 1 : 0);
	drop_above(packet);
	while (packet > stream_->first_packet()) {
		packet = start_before(packet);
		Reader reader = begin_.copy();
		start(reader, packet);
		read_until(reader, [end](const Reader &at) { return at.mark() >= end; });
		if (stack_.size() > 1 || stack_.back().items > 0)
			return true;
		stack_.clear();
	}
	window_.clear();
	first_ = end;
	return false;
}

// Reads until done(reader) or the end. Pushes copies on the way; the last part also goes into the window, if it fits.
template <class Done> void Walker::read_until(Reader &reader, Done done)
{
	const std::size_t bottom = stack_.size();
	std::uint64_t distance = window_.capacity();
	window_.clear();
	stack_.push_back({reader.copy(), 0});
	for (; !reader.at_end() && !done(reader); reader.advance()) {
		if (stack_.back().items == distance) {
			if (stack_.size() - bottom == max_copies) {
				thin(bottom);
				distance *= 2;
			}
			stack_.push_back({reader.copy(), 0});
			window_.clear();
		}
		++stack_.back().items;
		if (!window_.is_full())
			window_.add(reader);
	}
}

// Keeps the earlier one of each pair of copies.
void Walker::thin(std::size_t bottom)
{
	std::size_t kept = bottom;
	for (std::size_t i = bottom; i < stack_.size(); i += 2, ++kept) {
		if (kept != i)
			stack_[kept] = std::move(stack_[i]);
		if (i + 1 < stack_.size())
			stack_[kept].items += stack_[i + 1].items;
	}
	stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(kept), stack_.end());
}

// Makes the part on top of the stack the window, with the position after it. False: it does not fit.
bool Walker::make_window()
{
	Copy &last = stack_.back();
	if (last.items != window_.size())
		return false;
	begin_ = std::move(last.reader);
	stack_.pop_back();
	at_ = window_.size();
	return true;
}

// The packet at which to start reading what precedes this packet.
std::uint64_t Walker::start_before(std::uint64_t packet) const
{
	const std::uint64_t first = stream_->first_packet();
	if (!stream_->has_packet_times())
		return first; // an event's time is derived from the events before it
	const std::uint64_t end = stream_->offset(packet);
	std::uint64_t found = packet - 1;
	while (found > first && end - stream_->offset(found) < part_bytes)
		--found;
	return after_timed(found);
}

// This packet or an earlier one, whose predecessor has a valid time: a reader can start there.
std::uint64_t Walker::after_timed(std::uint64_t packet) const
{
	PacketHead head;
	const auto gives_time = [&](std::uint64_t before) {
		// An empty packet of generic CTF gives no time.
		return !stream_->read_head(before, head) &&
		       (!stream_->info().is_generic_ctf || head.content_bits > head.first_bits);
	};
	while (packet > stream_->first_packet() && !gives_time(packet - 1))
		--packet;
	return packet;
}

void Walker::start(Reader &reader, std::uint64_t packet) const
{
	reader.start(packet > stream_->first_packet() ? packet - 1 : packet, packet);
}

// Frees packets passed on the way back, which are not needed soon.
void Walker::drop_above(std::uint64_t packet)
{
	high_packet_ = std::max(high_packet_, packet);
	if (stream_->offset(high_packet_) - stream_->offset(packet) < kept_bytes)
		return;
	stream_->release(packet, high_packet_);
	high_packet_ = packet;
}

} // namespace poet::detail
