// SPDX-License-Identifier: MIT
// Any bytes as the packets of two streams, through merge, field access and the listing.
//
// The input is cut into pieces of 256 bytes; each is the beginning of a packet, after a byte of flags: bit 0 repairs
// the fixed parts of the header (or hardly any packet would pass), bit 1 its times, bit 2 gives it to the second
// stream.
#include <algorithm>
#include <cstdlib>

#include <fcntl.h>

#include "../unit/samples.h"
#include "answers/listing/listing.h"
#include "base/fd.h"
#include "reading/events/event_selection.h"
#include "reading/events/merge.h"

using namespace monitor::trace;

namespace {

constexpr std::size_t piece_bytes = 256;

const std::string classes =
    samples::some_events + samples::event_block(300, "sched_switch", "u16_t s; s32_t prev_pid; s32_t next_pid;") +
    samples::event_block(301, "task_rename", "u16_t a; s32_t pid; s32_t b; text_t newcomm[16];") +
    samples::event_block(302, "enumerated", "range_t r; x64_t x; u4_t low; abi_t high;") +
    samples::event_block(1, "thread_state", "u16_t s; s32_t pid; u16_t cpu; u32_t flags; text_t comm[40];");

void repair(edc_block &header, unsigned flags, std::size_t number)
{
	if (flags & 1) {
		header.magic = EDC_BLOCK_MAGIC;
		std::memcpy(header.uuid, samples::uuid.data(), samples::uuid.size());
		header.stream_id = 0;
		header.packet_size = EDC_BLOCK_SIZE * 8;
		header.content_size = piece_bytes * 8;
		header.cpu_id = flags >> 2 & 1;
		header.level = 0;
	}
	if (flags & 2) {
		header.timestamp_begin = number << 32;
		header.timestamp_end = (number << 32) + 0xffffffff;
	}
}

void add_packet(std::vector<std::byte> (&streams)[2], const unsigned char *data, std::size_t size)
{
	auto &bytes = streams[data[0] >> 2 & 1];
	const std::size_t at = bytes.size();
	bytes.resize(at + EDC_BLOCK_SIZE);
	std::memcpy(bytes.data() + at, data + 1, size - 1);
	edc_block header;
	std::memcpy(&header, bytes.data() + at, sizeof header);
	repair(header, data[0], at / EDC_BLOCK_SIZE);
	std::memcpy(bytes.data() + at, &header, sizeof header);
}

void read(Trace &trace, TimeRange range, bool json)
{
	static monitor::Fd null(::open("/dev/null", O_WRONLY));
	ListingOptions options;
	options.json = json;
	SelectedThreads threads;
	for (const std::int64_t tid : {0, 5})
		threads.add(0, tid, 0, true);
	const EventSelection selection = json ? EventSelection() : EventSelection(trace, {}, threads);
	Listing listing(trace, options, null.get());
	std::uint64_t last = 0;
	const auto pass = [&](std::uint64_t time) {
		if (time < last)
			std::abort();
		last = time;
	};
	merge(
	    trace, range,
	    [&](const Event &event) -> bool {
		    pass(event.time);
		    return listing.print(event, [&](const Event &each, std::int64_t running, const Threads &) {
			    return selection.includes(each, running);
		    });
	    },
	    [&](const StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t) {
		    if (from >= range.from) // else it only reaches into the range
			    pass(from);
		    if (to < from)
			    std::abort();
		    listing.gap(stream);
	    });
	listing.flush();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	std::vector<std::byte> bytes[2];
	for (std::size_t at = 0; at < size; at += piece_bytes)
		add_packet(bytes, data + at, std::min(piece_bytes, size - at));
	if (size % 3 == 0 && !bytes[0].empty())
		bytes[0].resize(bytes[0].size() - size % EDC_BLOCK_SIZE % bytes[0].size());
	bytes[0].shrink_to_fit();
	std::vector<std::unique_ptr<Stream>> streams;
	streams.push_back(samples::stream("a", bytes[0]));
	streams.push_back(samples::stream("b", bytes[1]));
	static const std::shared_ptr<const Description> description = samples::description(classes);
	Trace trace(description, std::move(streams));
	read(trace, {}, true);
	read(trace, {trace.begin_time() + size, trace.end_time()}, false);
	return 0;
}
