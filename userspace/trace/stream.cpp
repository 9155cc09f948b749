// SPDX-License-Identifier: MIT
#include "stream.h"

#include <algorithm>

#include <sys/mman.h>

namespace monitor::trace {
namespace {

constexpr std::uint64_t block_bits = EDC_BLOCK_SIZE * 8;
constexpr std::uint64_t header_bits = EDC_BLOCK_HEADER * 8;
// Pages are given back in chunks of so many packets: 1 MiB.
constexpr std::uint64_t drop_packets = 256;

} // namespace

Stream::Stream(std::string name, std::span<const std::byte> bytes, const std::array<std::uint8_t, 16> &uuid)
    : bytes_(bytes), uuid_(uuid)
{
	info_.name = std::move(name);
	find_ends();
}

Stream::Stream(std::string name, Mapping owner, const std::array<std::uint8_t, 16> &uuid)
    : owner_(std::move(owner)), bytes_(owner_.bytes()), uuid_(uuid)
{
	info_.name = std::move(name);
	if (!bytes_.empty())
		::madvise(owner_.data(), owner_.size(), MADV_SEQUENTIAL);
	find_ends();
}

// Which ring is it? The first good packet says so, unless the two good packets behind it agree on another one.
void Stream::find_ends()
{
	edc_block good[3];
	unsigned count = 0;
	for (std::uint64_t i = 0; i < packets() && count < 3; ++i)
		if (!read_header(i, good[count]))
			++count;
	if (count == 0)
		return;
	const auto same_ring = [](const edc_block &a, const edc_block &b) {
		return a.cpu_id == b.cpu_id && a.level == b.level;
	};
	first_ = count == 3 && same_ring(good[1], good[2]) ? good[1] : good[0];
	if (same_ring(good[0], *first_))
		first_ = good[0];
	info_.cpu = first_->cpu_id;
	info_.level = first_->level;
	last_ = first_;
	edc_block header;
	for (std::uint64_t i = packets(); i-- > 0;) {
		if (read_header(i, header))
			continue;
		last_ = header;
		break;
	}
}

std::string Stream::why_foreign() const
{
	edc_block header;
	if (packets() == 0)
		return "the file is shorter than a packet";
	return std::string("no packet of this trace is in the file; of the first one: ") + read_header(0, header);
}

const char *Stream::read_header(std::uint64_t number, edc_block &header) const
{
	header = load<edc_block>(packet(number));
	if (header.magic != EDC_BLOCK_MAGIC)
		return "no packet begins here (its magic is missing)";
	if (!std::equal(uuid_.begin(), uuid_.end(), header.uuid))
		return "the packet belongs to another trace (its uuid differs)";
	if (header.stream_id != 0)
		return "the packet is of an unknown stream class";
	if (header.packet_size != block_bits)
		return "the packet is not 4096 bytes long";
	if (header.content_size < header_bits || header.content_size > block_bits || header.content_size % 64 != 0)
		return "the packet's content does not lie inside it";
	if (header.timestamp_begin > header.timestamp_end)
		return "the packet ends before it begins";
	if (first_ && (header.cpu_id != info_.cpu || header.level != info_.level))
		return "the packet is of another ring (its cpu or level differs)";
	return nullptr;
}

std::uint64_t Stream::seek(std::uint64_t time) const
{
	// low is good and begins at or before time, or is 0; what begins after time is at high or behind it
	std::uint64_t low = 0, high = packets();
	edc_block header;
	while (low + 1 < high) {
		const std::uint64_t middle = low + (high - low) / 2;
		std::uint64_t good = middle;
		while (good < high && read_header(good, header))
			++good;
		if (good < high && header.timestamp_begin <= time)
			low = good;
		else
			high = middle;
	}
	return low;
}

void Stream::drop(std::uint64_t from_packet, std::uint64_t to_packet) const
{
	// Only a file mapping may be dropped: it is read again when it is needed again.
	if (owner_.data() && from_packet < to_packet)
		::madvise(owner_.data() + from_packet * EDC_BLOCK_SIZE, (to_packet - from_packet) * EDC_BLOCK_SIZE,
			  MADV_DONTNEED);
}

Cursor::Cursor(const Stream &stream, const Description &description, Problems &problems, std::uint64_t trace_begin)
    : description_(&description), stream_(&stream), problems_(&problems), trace_begin_(trace_begin)
{
	event_.stream = &stream.info();
}

Cursor::Item Cursor::start(std::uint64_t from_time)
{
	// One packet earlier than needed: a gap is told against the packet before it.
	const std::uint64_t packet = from_time == 0 ? 0 : stream_->seek(from_time);
	next_packet_ = dropped_ = packet > 0 ? packet - 1 : 0;
	opened_any_ = broken_ = false;
	position_ = end_ = nullptr;
	event_.time = 0;
	previous_ = {};
	item_ = Item::end;
	const auto until = [this] { return item_ == Item::gap ? gap_.to_time : event_.time; };
	for (advance_slowly(); item_ != Item::end && until() < from_time;)
		advance();
	return item_;
}

Cursor::Item Cursor::advance_slowly()
{
	for (;;) {
		if (position_ < end_) {
			if (decode())
				return item_ = Item::event;
			report_damage();
		}
		const bool opened = open_next_packet();
		if (!opened && !make_last_gap())
			return item_ = Item::end;
		if (!opened || make_gap(previous_))
			return item_ = Item::gap;
	}
}

// Behind a call: previous_ is the opened packet's header, gap_ begins where the stream was good last.
bool Cursor::open_next_packet()
{
	for (edc_block header; next_packet_ < stream_->packets(); ++next_packet_) {
		drop_behind();
		const char *sentence = stream_->read_header(next_packet_, header);
		if (!sentence)
			sentence = check_order(header);
		if (sentence) {
			problems_->add(stream_->info(), next_packet_, next_packet_ * EDC_BLOCK_SIZE, sentence);
			broken_ = true;
			continue;
		}
		gap_.discarded = header.events_discarded - previous_.events_discarded;
		const bool jumped = opened_any_ && header.packet_seq_num != previous_.packet_seq_num + 1;
		if (broken_ || jumped || header.events_discarded < previous_.events_discarded)
			gap_.discarded = unknown_count;
		gap_.from_time = !opened_any_ ? trace_begin_ : broken_ ? event_.time : previous_.timestamp_end;
		previous_ = header;
		opened_any_ = true;
		broken_ = false;
		event_.packet = stream_->packet(next_packet_++);
		event_.time = header.timestamp_begin;
		packet_end_time_ = header.timestamp_end;
		position_ = event_.packet + EDC_BLOCK_HEADER;
		end_ = event_.packet + header.content_size / 8;
		return true;
	}
	return false;
}

// Against the stream so far: a packet that would let time step back is refused.
const char *Cursor::check_order(const edc_block &header) const
{
	if (opened_any_ && header.timestamp_begin < event_.time)
		return "the packet begins before the last event of the packet before it";
	return nullptr;
}

// A packet was opened: is something missing before it?
bool Cursor::make_gap(const edc_block &header)
{
	gap_.to_time = header.timestamp_begin;
	gap_.from_time = std::min(gap_.from_time, gap_.to_time);
	return gap_.discarded != 0;
}

// The stream is over: is something missing at its end?
bool Cursor::make_last_gap()
{
	if (stream_->trailing_bytes() != 0)
		problems_->add(stream_->info(), stream_->packets(), stream_->packets() * EDC_BLOCK_SIZE,
			       "the file ends in the middle of a packet");
	if (!broken_)
		return false;
	broken_ = false;
	gap_ = {event_.time, event_.time, unknown_count};
	return true;
}

void Cursor::report_damage()
{
	const auto token = load<std::uint64_t>(position_);
	const EventClass *cls = description_->by_id(token);
	std::string sentence = "the event's time steps back or lies behind the packet's end";
	if (edc_token_id(token) == 0)
		sentence = "there is no event where one should begin";
	else if (!cls)
		sentence = "an event of the unknown class " + std::to_string(edc_token_id(token));
	else if (cls->size_bytes > static_cast<std::size_t>(end_ - position_))
		sentence = "an event of the class " + cls->name + " reaches behind the packet's content";
	const std::uint64_t packet = next_packet_ - 1;
	const auto offset = static_cast<std::uint64_t>(position_ - event_.packet);
	problems_->add(stream_->info(), packet, packet * EDC_BLOCK_SIZE + offset,
		       sentence + "; the rest of the packet is left out");
	broken_ = true;
	position_ = end_;
}

void Cursor::drop_behind()
{
	// the open packet may still be looked at
	if (next_packet_ < dropped_ + drop_packets + 1)
		return;
	stream_->drop(dropped_, next_packet_ - 1);
	dropped_ = next_packet_ - 1;
}

} // namespace monitor::trace
