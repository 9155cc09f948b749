// SPDX-License-Identifier: MIT
#include "stream.h"

#include <charconv>
#include <string_view>
#include <system_error>
#include <tuple>

#include <sys/mman.h>

#include "base/limits.h"
#include "reading/ctf/record_layout.h"

namespace monitor::trace {
namespace {

// The number after `word` in the name; `otherwise` if `word` is missing.
std::uint32_t number_after(std::string_view name, std::string_view word, std::uint32_t otherwise)
{
	const std::size_t at = name.rfind(word);
	std::uint32_t number = 0;
	const bool is_found =
	    at != std::string_view::npos &&
	    std::from_chars(name.data() + at + word.size(), name.data() + name.size(), number).ec == std::errc();
	return is_found ? number : otherwise;
}

// CPU and level of a ring from its stream's name, as the recorder writes it.
std::pair<std::uint32_t, std::uint32_t> ring_of_name(std::string_view name)
{
	name.remove_prefix(std::min(name.rfind('/') + 1, name.size()));
	const std::uint32_t cpu = number_after(name, "_cpu", EDC_CPU_UNKNOWN);
	const std::uint32_t level = name.starts_with("user_") ? EDC_LEVEL_USER : number_after(name, "_level", 0);
	return {cpu < max_cpu_numbers ? cpu : EDC_CPU_UNKNOWN, level};
}

} // namespace

Stream::Stream(std::string name, std::span<const std::byte> bytes, const std::array<std::uint8_t, 16> &uuid)
    : bytes_(bytes), packets_(token_packets(bytes, uuid))
{
	info_.name = std::move(name);
	find_ends();
}

Stream::Stream(std::string name, std::shared_ptr<const Description> description, std::span<const std::byte> bytes)
    : description_(std::move(description)), bytes_(bytes)
{
	info_.name = std::move(name);
	info_.is_generic_ctf = !description_->has_tokens();
	make_packets();
}

Stream::Stream(std::string name, std::shared_ptr<const Description> description, std::vector<std::byte> bytes)
    : description_(std::move(description)), copy_(std::move(bytes)), bytes_(copy_)
{
	info_.name = std::move(name);
	info_.is_generic_ctf = !description_->has_tokens();
	make_packets();
}

Stream::Stream(std::string name, std::shared_ptr<const Description> description, std::span<const std::byte> bytes,
	       std::unique_ptr<Packets> packets)
    : description_(std::move(description)), bytes_(bytes), packets_(std::move(packets))
{
	info_.name = std::move(name);
	find_ends();
}

Stream::Stream(std::string name, std::shared_ptr<const Description> description, MappedFile owner, MappedFile index)
    : description_(std::move(description)), owner_(std::move(owner)), index_(std::move(index)), bytes_(owner_.bytes())
{
	info_.name = std::move(name);
	info_.is_generic_ctf = !description_->has_tokens();
	if (!bytes_.empty())
		::madvise(owner_.data(), owner_.size(),
			  MADV_RANDOM); // a seek needs single pages; sequential readers override this
	make_packets();
}

Stream::Stream(std::string name, std::shared_ptr<const Description> description, MappedFile owner,
	       std::unique_ptr<Packets> packets)
    : description_(std::move(description)), owner_(std::move(owner)), has_own_numbers_(true), bytes_(owner_.bytes()),
      packets_(std::move(packets))
{
	info_.name = std::move(name);
	if (!bytes_.empty())
		::madvise(owner_.data(), owner_.size(), MADV_RANDOM);
	find_ends();
}

void Stream::make_packets()
{
	if (!info_.is_generic_ctf) {
		packets_ = token_packets(bytes_, description_->uuid);
	} else if (description_->layout->records) {
		info_.has_packets = description_->layout->records->segment.has_value;
		info_.has_times = description_->layout->streams.front()->clock >= 0;
		info_.part = info_.has_packets ? "segment" : "file";
		packets_ = record_packets(bytes_, *description_);
	} else {
		packets_ = generic_packets(bytes_, *description_, index_.bytes());
	}
	find_ends();
}

const Clock *Stream::own_clock() const
{
	if (!description_ || !first_)
		return nullptr;
	if (!info_.is_generic_ctf)
		return &description_->clock;
	const std::int8_t clock = first_->stream->clock;
	return clock >= 0 ? &description_->clocks[static_cast<std::size_t>(clock)] : nullptr;
}

void Stream::set_clock(const Clock &wanted)
{
	const Clock *const own = own_clock();
	if (!own)
		return;
	if (lines_)
		map_.emplace(lines_);
	else if (!own->is_same(wanted))
		map_.emplace(*own, wanted);
}

std::uint64_t Stream::trailing_bytes() const
{
	return info_.is_generic_ctf ? 0 : bytes_.size() % EDC_BLOCK_SIZE;
}

// Only for token packets, which have one size: others have it in their headers, and a hole has no headers.
Stream::InHole Stream::in_hole(std::uint64_t number) const
{
	const InHole none{number, number};
	if (info_.is_generic_ctf || has_own_numbers_ || owner_.holes().empty())
		return none;
	const std::uint64_t at = offset(number);
	const auto hole = std::ranges::upper_bound(owner_.holes(), at, {}, &MappedFile::Hole::end);
	if (hole == owner_.holes().end() || at < hole->begin)
		return none;
	const auto whole_after = [](std::uint64_t bytes) { return (bytes + EDC_BLOCK_SIZE - 1) / EDC_BLOCK_SIZE; };
	return {whole_after(hole->begin), std::max(hole->end / EDC_BLOCK_SIZE, number + 1)};
}

// The first good packet determines the ring, unless the two good packets after it agree on another one.
void Stream::find_ends()
{
	PacketHead good[3];
	unsigned count = 0;
	for (std::uint64_t i = 0; i < packets() && count < 3; ++i) {
		if (!read_head(i, good[count]))
			++count;
		else
			i = std::max(in_hole(i).after, i + 1) - 1;
	}
	if (count == 0)
		return;
	const auto same_ring = [](const PacketHead &a, const PacketHead &b) {
		return a.cpu == b.cpu && a.level == b.level && a.stream == b.stream;
	};
	first_ = count == 3 && same_ring(good[1], good[2]) ? good[1] : good[0];
	if (same_ring(good[0], *first_))
		first_ = good[0];
	info_.cpu = first_->cpu;
	info_.level = first_->level;
	last_ = first_;
	PacketHead head;
	for (std::uint64_t i = packets(); i-- > 0;) {
		if (!read_head(i, head)) {
			last_ = head;
			break;
		}
		i = in_hole(i).first;
	}
}

bool Stream::continues(const Stream &earlier) const
{
	if (!info_.is_generic_ctf || !earlier.info_.is_generic_ctf || !first_ || !earlier.first_ ||
	    !description_->has_uuid || description_->uuid != earlier.description_->uuid)
		return false;
	return first_->has_begin && first_->has_instance && first_->instance == earlier.first_->instance &&
	       first_->stream->id == earlier.first_->stream->id;
}

void Stream::follow(const Stream &earlier)
{
	before_ = earlier.last_;
	PacketHead head;
	while (first_packet_ < packets() && !read_head(first_packet_, head) && head.begin <= before_->begin)
		++first_packet_;
	if (first_packet_ == packets())
		last_ = before_; // no new packets
}

// Where packets are missing in between, as a fleet may lose some, the sequence numbers show it. A flight recorder's do
// not begin at 0.
void Stream::set_recorded(std::uint64_t packets)
{
	recorded_ = packets;
	missing_ = packets - std::min(packets, this->packets());
	if (last_ && first_->sequence == 0)
		missing_ = std::min(missing_, packets - std::min(packets, last_->sequence + 1));
	if (!first_)
		std::tie(info_.cpu, info_.level) = ring_of_name(info_.name);
}

std::string Stream::why_foreign() const
{
	PacketHead head;
	if (is_cut_off())
		return why_cut_off();
	if (packets() == 0)
		return std::string("the file is shorter than a ") + info_.part;
	const std::string why = read_head(0, head);
	return info_.has_packets
		   ? std::string("the file has no ") + info_.part + " of this trace; the first one: " + why
		   : why;
}

const char *Stream::read_head(std::uint64_t number, PacketHead &head) const
{
	if (const char *sentence = packets_->read(number, head))
		return sentence;
	if (!first_)
		return nullptr;
	if (!info_.is_generic_ctf && (head.cpu != info_.cpu || head.level != info_.level))
		return "the packet belongs to another ring (its cpu or level differs)";
	if (head.stream != first_->stream)
		return "the packet is not of the stream class of the file's first packet";
	return nullptr;
}

std::uint64_t Stream::seek(std::uint64_t time) const
{
	// Invariant: `low` is good and begins at or before `time`, or is the first; packets that begin after `time` are
	// at `high` or later.
	std::uint64_t low = first_packet_, high = has_packet_times() ? packets() : first_packet_;
	PacketHead head;
	while (low + 1 < high) {
		const std::uint64_t middle = low + (high - low) / 2;
		std::uint64_t good = middle;
		while (good < high && read_head(good, head))
			good = std::max(in_hole(good).after, good + 1);
		if (good < high && this->time(head.begin) <= time)
			low = good;
		else
			high = middle;
	}
	return low;
}

std::uint64_t Stream::packet_time(std::uint64_t time, std::uint64_t before) const
{
	const std::uint64_t containing = seek(time);
	PacketHead head;
	for (const std::uint64_t number :
	     {containing - std::min(before, containing - std::min(containing, first_packet())), containing})
		if (number < packets() && !read_head(number, head) && head.has_begin)
			return std::min(time, this->time(head.begin));
	return time;
}

void Stream::will_need(std::uint64_t from, std::uint64_t to) const
{
	constexpr std::uint64_t page = 4096;
	from -= from % page;
	to = std::min<std::uint64_t>(to, owner_.size());
	if (from < to)
		::madvise(owner_.data() + from, to - from, MADV_WILLNEED);
}

void Stream::will_read_on(std::uint64_t from) const
{
	constexpr std::uint64_t page = 4096;
	from -= from % page;
	std::uint64_t known = reads_on_from_.load(std::memory_order_relaxed);
	while (from < std::min<std::uint64_t>(known, owner_.size()))
		if (reads_on_from_.compare_exchange_weak(known, from, std::memory_order_relaxed)) {
			::madvise(owner_.data() + from, owner_.size() - from, MADV_SEQUENTIAL);
			return;
		}
}

void Stream::release(std::uint64_t from_packet, std::uint64_t to_packet) const
{
	if (!owner_.data() || from_packet >= to_packet)
		return;
	// Only pages of a file mapping may be dropped: they are read again when needed.
	release_bytes(bytes() + offset(from_packet), bytes() + offset(to_packet));
}

void Stream::release_bytes(const std::byte *from, const std::byte *to) const
{
	constexpr std::uint64_t page = 4096;
	const auto first = static_cast<std::uint64_t>(from - bytes()) / page * page;
	const auto last = static_cast<std::uint64_t>(to - bytes()) / page * page;
	if (owner_.data() && first < last)
		::madvise(owner_.data() + first, last - first, MADV_DONTNEED);
}

} // namespace monitor::trace
