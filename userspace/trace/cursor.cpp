// SPDX-License-Identifier: MIT
// How the cursor moves from packet to packet: order, gaps, damage.
#include <algorithm>

#include "stream.h"

namespace monitor::trace {
namespace {

// Pages are released in chunks of this many bytes.
constexpr std::uint64_t drop_bytes = 1u << 20;
// Pages are requested ahead of their use, more as reading continues; beyond the maximum the kernel reads ahead.
constexpr std::uint64_t first_ahead = 1u << 16, max_ahead = 1u << 20;
constexpr std::uint64_t no_time = ~std::uint64_t(0);
// Maximum consecutive packets rejected as too early. More are believed: looking on would take long in a hostile file.
constexpr unsigned max_too_early = 4;

// A stream that was cut off has one problem, that of the packet with the cut.
void add_cut(const Stream &stream, Problems &problems)
{
	const std::uint64_t whole = stream.whole_bytes();
	std::uint64_t low = 0, high = stream.packets();
	while (low < high) {
		const std::uint64_t middle = low + (high - low) / 2;
		if (stream.offset(middle + 1) <= whole)
			low = middle + 1;
		else
			high = middle;
	}
	problems.add(stream.info(), low, whole, Stream::why_cut_off());
}

} // namespace

Cursor::Cursor(const Stream &stream, const Description &description, Problems &problems, std::uint64_t trace_begin)
    : description_(stream.description() ? stream.description() : &description),
      is_direct_(!stream.info().is_generic_ctf && !stream.maps_time()), stream_(&stream), problems_(&problems),
      trace_begin_(trace_begin)
{
	event_.stream = &stream.info();
}

Cursor::Item Cursor::start(std::uint64_t from_time)
{
	// The packet that contains what is before from_time has the start of a gap that reaches past it; several may
	// begin at from_time. A stream without packet times is read from its first packet.
	const std::uint64_t first = stream_->first_packet();
	const std::uint64_t packet = from_time == 0 || !stream_->tells_times() ? first : stream_->seek(from_time - 1);
	start_at(packet > first && !follows_in_order(packet) ? packet - 1 : packet);
	const auto until = [this] { return item_ == Item::gap ? gap_.to_time : event_.time; };
	while (item_ != Item::end && until() < from_time)
		advance();
	return item_;
}

Cursor::Item Cursor::start_at(std::uint64_t packet)
{
	const std::uint64_t first = stream_->first_packet();
	next_packet_ = dropped_ = std::max(packet, first);
	ahead_ = 0;
	ahead_bytes_ = first_ahead;
	broken_ = false;
	opened_any_ = next_packet_ == first && stream_->before();
	if (opened_any_)
		head_ = *stream_->before();
	position_ = end_ = nullptr;
	event_.time = ticks_ = 0;
	item_ = Item::end;
	return advance_slowly();
}

Cursor::Item Cursor::advance_slowly()
{
	for (;;) {
		if (position_ < end_) {
			if (decode())
				return item_ = Item::event;
			if (position_ < end_ && report_damage()) {
				gap_ = {event_.time, event_.time, 1};
				broken_ = false;
				return item_ = Item::gap;
			}
		}
		const bool opened = open_next_packet();
		if (!opened && !make_last_gap())
			return item_ = Item::end;
		if (!opened || make_gap())
			return item_ = Item::gap;
	}
}

// After a call: head_ is the opened packet's, gap_ begins where the stream was last good.
bool Cursor::open_next_packet()
{
	for (; next_packet_ < stream_->packets(); ++next_packet_) {
		drop_behind();
		const std::uint64_t at = stream_->offset(next_packet_);
		read_ahead(at, stream_->offset(next_packet_ + 1) - at);
		const char *sentence = stream_->read_head(next_packet_, next_head_);
		if (!sentence)
			sentence = check_order(next_head_);
		if (sentence) {
			broken_ = true;
			if (stream_->whole_bytes() >= stream_->offset(next_packet_ + 1)) {
				problems_->add(stream_->info(), next_packet_, at, sentence);
				continue;
			}
			add_cut(*stream_, *problems_);
			next_packet_ = stream_->packets();
			return false;
		}
		measure_gap(next_head_);
		std::swap(head_, next_head_);
		open(head_);
		++next_packet_;
		return true;
	}
	return false;
}

// Measures what is missing between the packet that was open, or the start of the trace, and this one.
void Cursor::measure_gap(const PacketHead &head)
{
	const auto difference = [](std::uint64_t now, std::uint64_t before, std::uint32_t bits) {
		return (now - before) & (~std::uint64_t(0) >> (64 - bits));
	};
	const std::uint64_t before = opened_any_ ? head_.discarded : 0;
	gap_.discarded = head.has_discarded ? difference(head.discarded, before, head.discarded_bits) : 0;
	const bool jumped =
	    opened_any_ && head.has_sequence && difference(head.sequence, head_.sequence, head.sequence_bits) != 1;
	if (broken_ || jumped || (head.discarded_bits == 64 && head.discarded < before))
		gap_.discarded = unknown_count;
	const std::uint64_t last = head_.has_end ? stream_->time(head_.end) : event_.time;
	gap_.from_time = !opened_any_ ? trace_begin_ : broken_ ? event_.time : last;
}

void Cursor::open(const PacketHead &head)
{
	opened_any_ = true;
	broken_ = false;
	event_.packet = stream_->bytes() + head.offset_bytes;
	if (head.has_begin) {
		ticks_ = head.begin;
		gap_.to_time = stream_->time(ticks_);
	} else {
		gap_.to_time = event_.time;
	}
	if (is_direct_ || !stream_->info().is_generic_ctf)
		event_.time = gap_.to_time;
	position_ = event_.packet + head.first_bits / 8;
	end_ = event_.packet + (head.content_bits + 7) / 8;
	at_bits_ = head.first_bits;
	record_ = 0;
	kept_from_ = position_;
	event_.end_bits = head.content_bits;
	event_.packet_cpu = head.cpu;
	event_.slots = head_.slots.data();
	// Zeros in place of what was cut off are no token, but may be the rest of one.
	if (is_direct_ && !stream_->was_there(event_.packet, end_)) {
		add_cut(*stream_, *problems_);
		broken_ = true;
		end_ = std::clamp(stream_->bytes() + stream_->whole_bytes(), position_, end_);
	}
}

// Checks against the stream so far: a packet that would make time step back is rejected. Checks against what follows:
// neither its start nor its events may be later than the start of the next good packet. So a bad timestamp invalidates
// only what has it, not all before it, and a reader that starts after it reads the same as one that starts earlier.
const char *Cursor::check_order(const PacketHead &head)
{
	if (opened_any_ && head.has_begin && stream_->time(head.begin) < event_.time)
		return "the packet begins before the last event of the previous packet";
	packet_end_time_ = stream_->info().is_generic_ctf ? next_begin(head) : head.end;
	if (stream_->info().is_generic_ctf && head.has_begin && stream_->time(head.begin) > packet_end_time_)
		return "the packet begins after the next one";
	return nullptr;
}

// Do the headers alone show that the packet will be opened, whatever the events of the previous one are?
bool Cursor::follows_in_order(std::uint64_t packet)
{
	if (stream_->read_head(packet - 1, neighbour_) || stream_->read_head(packet, next_head_))
		return false;
	const std::uint64_t begin = stream_->time(next_head_.begin);
	return stream_->time(neighbour_.begin) <= begin &&
	       (stream_->info().is_generic_ctf || stream_->time(neighbour_.end) <= begin);
}

// The start of the next good packet after the candidate; the highest time if unknown. A packet that begins before the
// candidate, and also before the good packet in front of the candidate, is wrong itself.
std::uint64_t Cursor::next_begin(const PacketHead &head)
{
	std::optional<std::uint64_t> before;
	unsigned too_early = 0;
	for (std::uint64_t number = next_packet_ + 1; number < stream_->packets(); ++number) {
		if (stream_->read_head(number, neighbour_))
			continue;
		if (!neighbour_.has_begin)
			return no_time;
		const std::uint64_t begin = stream_->time(neighbour_.begin);
		if (!head.has_begin || begin >= stream_->time(head.begin))
			return begin;
		if (!before)
			before = begin_before();
		if (begin >= *before || ++too_early > max_too_early)
			return begin;
	}
	return no_time;
}

// The start of the good packet before the candidate; 0 if there is none.
std::uint64_t Cursor::begin_before()
{
	for (std::uint64_t number = next_packet_; number-- > stream_->first_packet();)
		if (!stream_->read_head(number, neighbour_))
			return stream_->time(neighbour_.begin);
	return 0;
}

// Called when a packet was opened: is something missing before it?
bool Cursor::make_gap()
{
	gap_.from_time = std::min(gap_.from_time, gap_.to_time);
	return gap_.discarded != 0;
}

// Called at the end of the stream: is something missing there?
bool Cursor::make_last_gap()
{
	if (stream_->trailing_bytes() != 0 && !stream_->is_cut_off())
		problems_->add(stream_->info(), stream_->packets(), stream_->offset(stream_->packets()),
			       "the file ends in the middle of a packet");
	if (!broken_)
		return false;
	broken_ = false;
	gap_ = {event_.time, event_.time, unknown_count};
	return true;
}

// The open packet is no longer whole.
bool Cursor::is_cut_off() const
{
	return stream_->whole_bytes() < static_cast<std::uint64_t>(end_ - stream_->bytes());
}

std::string Cursor::why_damaged() const
{
	if (stream_->info().is_generic_ctf)
		return why_;
	const auto token = load<std::uint64_t>(position_);
	const EventClass *cls = description_->by_id(token);
	if (edc_token_id(token) == 0)
		return "there is no event where one should begin";
	if (!cls)
		return "an event of the unknown class " + std::to_string(edc_token_id(token));
	if (cls->size_bytes > static_cast<std::size_t>(end_ - position_))
		return "an event of the class " + cls->name + " extends beyond the packet's content";
	return "the event's time steps back or is after the packet's end";
}

// True: only one event is lost, and what follows it can be read.
bool Cursor::report_damage()
{
	const auto offset = static_cast<std::uint64_t>(position_ - stream_->bytes());
	const bool is_cut = is_cut_off(), resumes = !is_cut && resume_ > position_;
	const StreamInfo &info = stream_->info();
	if (is_cut) {
		add_cut(*stream_, *problems_);
		next_packet_ = stream_->packets();
	} else {
		const std::string rest = std::string("; the rest of the ") + info.part + " is skipped";
		problems_->add(info, next_packet_ - 1, offset, why_damaged() + (resumes ? "; it is skipped" : rest),
			       info.has_packets ? "" : "record " + std::to_string(record_));
	}
	broken_ = true;
	position_ = resumes ? resume_ : end_;
	resume_ = nullptr;
	return resumes;
}

void Cursor::read_ahead(std::uint64_t at, std::uint64_t min_bytes)
{
	if (ahead_ > at + ahead_bytes_ / 2)
		return;
	const std::uint64_t from = std::max(ahead_, at);
	ahead_bytes_ = std::max(ahead_bytes_, min_bytes);
	if (ahead_bytes_ > max_ahead) {
		stream_->will_read_on(from);
		ahead_ = ~std::uint64_t(0);
		return;
	}
	stream_->will_need(from, from + ahead_bytes_);
	ahead_ = from + ahead_bytes_;
	ahead_bytes_ *= 2;
}

void Cursor::drop_behind()
{
	// the open packet may still be accessed
	if (next_packet_ == 0 || stream_->offset(next_packet_ - 1) < stream_->offset(dropped_) + drop_bytes)
		return;
	give_back();
}

void Cursor::give_back()
{
	if (next_packet_ <= dropped_ + 1)
		return;
	stream_->drop(dropped_, next_packet_ - 1);
	dropped_ = next_packet_ - 1;
}

} // namespace monitor::trace
