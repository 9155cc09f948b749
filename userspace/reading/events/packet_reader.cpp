// SPDX-License-Identifier: MIT
#include "packet_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/memory_bound.h"
#include "fetched_packets.h"

namespace monitor::trace {
namespace {

// Pages are released in chunks of this many bytes.
constexpr std::uint64_t release_chunk = 1u << 20;
// How far ahead pages are requested: more as reading continues, up to where the kernel itself reads ahead.
constexpr std::uint64_t first_ahead = 1u << 16, max_ahead = 1u << 20;
constexpr std::uint64_t latest_time = ~std::uint64_t(0);
// Maximum consecutive packets rejected as too early. Then the next start is accepted unchecked, so that a hostile file
// cannot make the search long.
constexpr unsigned max_too_early = 4;

// Reports a stream that was cut off once, at the packet in which the cut lies.
void report_cut_off(const Stream &stream, Problems &problems)
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

void PacketReader::start_at(std::uint64_t packet)
{
	const std::uint64_t first = stream_->first_packet();
	next_ = released_ = std::max(packet, first);
	ahead_ = 0;
	ahead_bytes_ = first_ahead;
	broken_ = has_reported_end_ = false;
	if (stream_->is_missing())
		end(); // other data, not this stream's, is in its place
	has_previous_ = next_ == first && stream_->before();
	if (has_previous_)
		head_ = *stream_->before();
}

bool PacketReader::open_next(std::uint64_t last_time)
{
	for (; next_ < stream_->packets(); ++next_) {
		release_passed();
		const std::uint64_t at = stream_->offset(next_), end = stream_->offset(next_ + 1);
		if (is_memory_used_up(end - at)) {
			problems_->add(stream_->info(), next_, at,
				       "left out, with all that follow: " + memory_used_up_text());
			broken_ = true;
			this->end();
			return false;
		}
		read_ahead(at, end - at);
		const char *why = stream_->read_head(next_, candidate_);
		if (!why)
			why = check_order(candidate_, last_time);
		if (!why) {
			measure_gap(candidate_, last_time);
			std::swap(head_, candidate_);
			has_previous_ = true;
			broken_ = false;
			++next_;
			return true;
		}
		if (why == why_not_fetched) { // a gap, not damage
			broken_ = true;
			continue;
		}
		if (stream_->whole_bytes() < end) {
			report_cut();
			this->end();
			return false;
		}
		broken_ = true;
		const Stream::InHole hole = stream_->in_hole(next_);
		if (hole.after > next_ + 1) {
			problems_->add(stream_->info(), next_, at,
				       std::to_string(hole.after - next_) +
					   " packets were never written: the file has a hole here");
			next_ = released_ = hole.after - 1;
			continue;
		}
		problems_->add(stream_->info(), next_, at, why);
	}
	if (stream_->is_short() && !std::exchange(has_reported_end_, true))
		broken_ = true;
	return false;
}

bool PacketReader::read_again()
{
	if (!has_previous_ || broken_ || stream_->read_head(number(), candidate_))
		return false;
	head_.content_bits = candidate_.content_bits;
	head_.end = end_time_ = candidate_.end;
	return true;
}

// Computes the gap between the last open packet, or the start of the trace, and this one.
void PacketReader::measure_gap(const PacketHead &candidate, std::uint64_t last_time)
{
	const auto difference = [](std::uint64_t now, std::uint64_t before, std::uint32_t bits) {
		return (now - before) & (~std::uint64_t(0) >> (64 - bits));
	};
	const std::uint64_t before = has_previous_ ? head_.discarded : 0;
	gap_.lost = candidate.has_discarded ? difference(candidate.discarded, before, candidate.discarded_bits) : 0;
	const bool jumped = has_previous_ && candidate.has_sequence &&
			    difference(candidate.sequence, head_.sequence, candidate.sequence_bits) != 1;
	if (broken_ || jumped || (candidate.discarded_bits == 64 && candidate.discarded < before))
		gap_.lost = unknown_count;
	const std::uint64_t last = head_.has_end ? stream_->time(head_.end) : last_time;
	gap_.to_time = candidate.has_begin ? stream_->time(candidate.begin) : last_time;
	gap_.from_time = std::min(!has_previous_ ? trace_begin_ : broken_ ? last_time : last, gap_.to_time);
}

// Rejects a packet that would make time step back. In generic CTF, whose headers need not have an end, neither the
// start nor the events of a packet may be later than the start of the next good one. So a bad timestamp invalidates
// only its own packet, and readers that start before or after it read the same. Sets `end_time_`.
const char *PacketReader::check_order(const PacketHead &candidate, std::uint64_t last_time)
{
	if (has_previous_ && candidate.has_begin && stream_->time(candidate.begin) < last_time)
		return "the packet begins before the last event of the previous packet";
	end_time_ = stream_->info().is_generic_ctf ? next_begin(candidate) : candidate.end;
	if (stream_->info().is_generic_ctf && candidate.has_begin && stream_->time(candidate.begin) > end_time_)
		return "the packet begins after the next one";
	return nullptr;
}

// Whether the headers alone show that the packet will be opened, whatever the previous one's events are.
bool PacketReader::follows_in_order(std::uint64_t packet)
{
	if (stream_->read_head(packet - 1, neighbour_) || stream_->read_head(packet, candidate_))
		return false;
	const std::uint64_t begin = stream_->time(candidate_.begin);
	return stream_->time(neighbour_.begin) <= begin &&
	       (stream_->info().is_generic_ctf || stream_->time(neighbour_.end) <= begin);
}

// The start of the next good packet after the candidate; the maximum if unknown. One that begins before the candidate,
// and also before the good packet that precedes that, is itself wrong.
std::uint64_t PacketReader::next_begin(const PacketHead &candidate)
{
	std::optional<std::uint64_t> before;
	unsigned too_early = 0;
	for (std::uint64_t number = next_ + 1; number < stream_->packets(); ++number) {
		if (stream_->read_head(number, neighbour_))
			continue;
		if (!neighbour_.has_begin)
			return latest_time;
		const std::uint64_t begin = stream_->time(neighbour_.begin);
		if (!candidate.has_begin || begin >= stream_->time(candidate.begin))
			return begin;
		if (!before)
			before = begin_before();
		if (begin >= *before || ++too_early > max_too_early)
			return begin;
	}
	return latest_time;
}

// The start of the good packet before the candidate; 0 if there is none.
std::uint64_t PacketReader::begin_before()
{
	for (std::uint64_t number = next_; number-- > stream_->first_packet();)
		if (!stream_->read_head(number, neighbour_))
			return stream_->time(neighbour_.begin);
	return 0;
}

bool PacketReader::finish(std::uint64_t last_time)
{
	if (stream_->trailing_bytes() != 0 && !stream_->is_cut_off())
		problems_->add(stream_->info(), stream_->packets(), stream_->offset(stream_->packets()),
			       "the file ends in the middle of a packet");
	if (!broken_)
		return false;
	broken_ = false;
	gap_ = {last_time, last_time, unknown_count};
	if (stream_->is_missing())
		gap_.from_time = trace_begin_;
	if (stream_->is_short())
		gap_.to_time = std::max(gap_.from_time, stream_->lost_until());
	return true;
}

void PacketReader::report_damage(std::uint64_t offset, std::string why, std::string place, bool resumes)
{
	why += resumes ? "; it is skipped" : std::string("; the rest of the ") + stream_->info().part + " is skipped";
	problems_->add(stream_->info(), number(), offset, std::move(why), std::move(place));
	broken_ = !resumes;
}

void PacketReader::report_cut()
{
	broken_ = true;
	report_cut_off(*stream_, *problems_);
}

void PacketReader::read_ahead(std::uint64_t at, std::uint64_t min_bytes)
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

void PacketReader::release_passed()
{
	// The open packet may still be accessed.
	if (next_ == 0 || stream_->offset(next_ - 1) < stream_->offset(released_) + release_chunk)
		return;
	give_back();
}

void PacketReader::give_back()
{
	if (next_ <= released_ + 1)
		return;
	stream_->release(released_, next_ - 1);
	released_ = next_ - 1;
}

} // namespace monitor::trace
