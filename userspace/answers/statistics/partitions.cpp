// SPDX-License-Identifier: MIT
#include "partitions.h"

namespace monitor::statistics {
namespace {

constexpr std::uint64_t max_partitions = 4096;
// Enough partitions for CPUs to finish a short trace at about the same time, but large enough that their start-up is
// negligible.
constexpr std::uint64_t enough_partitions = 64, min_partition_bytes = 1u << 20, min_stream_bytes = 64u << 10;
// Number of packets examined, in all streams.
constexpr std::uint64_t max_samples = 20'000;

struct Sample {
	std::uint64_t time, bytes;
};

// The packets of a stream that overlap a range.
struct Packets {
	std::uint64_t first, after, bytes;
};

Packets packets_of(const trace::Stream &stream, const trace::TimeRange &range)
{
	const std::uint64_t first = range.from == 0 ? stream.first_packet() : stream.seek(range.from);
	const std::uint64_t last = range.to >= stream.end_time() ? stream.packets() : stream.seek(range.to) + 1;
	const std::uint64_t after = std::max(std::min(last, stream.packets()), first);
	return {first, after, stream.offset(after) - stream.offset(first)};
}

void add_samples(const trace::Stream &stream, const Packets &packets, std::uint64_t total, std::vector<Sample> &samples)
{
	const auto share = static_cast<std::uint64_t>(static_cast<double>(packets.bytes) / static_cast<double>(total) *
						      static_cast<double>(max_samples));
	const std::uint64_t all = packets.after - packets.first, count = std::clamp<std::uint64_t>(share, 1, all);
	trace::PacketHead head;
	for (std::uint64_t i = 0; i < count; ++i)
		if (!stream.read_head(packets.first + all * i / count, head))
			samples.push_back({stream.time(head.begin), packets.bytes / count});
}

} // namespace

std::vector<trace::TimeRange> partitions(const trace::Trace &trace, trace::TimeRange range,
					 std::uint64_t partition_bytes)
{
	std::vector<std::pair<const trace::Stream *, Packets>> touched;
	std::uint64_t total = 0;
	for (const auto &stream : trace.streams()) {
		if (stream->is_foreign())
			continue;
		if (!stream->has_packet_times())
			return {range};
		const Packets packets = packets_of(*stream, range);
		total += packets.bytes;
		if (packets.after > packets.first)
			touched.emplace_back(stream.get(), packets);
	}
	std::vector<trace::TimeRange> made = {range};
	partition_bytes =
	    std::min(partition_bytes,
		     std::max({total / enough_partitions, min_partition_bytes, touched.size() * min_stream_bytes}));
	const std::uint64_t count = std::clamp<std::uint64_t>(total / partition_bytes, 1, max_partitions);
	if (count == 1)
		return made;
	std::vector<Sample> samples;
	for (const auto &[stream, packets] : touched)
		add_samples(*stream, packets, total, samples);
	std::sort(samples.begin(), samples.end(), [](const Sample &a, const Sample &b) { return a.time < b.time; });
	std::uint64_t passed = 0;
	// A boundary is just after a packet's start: the reader of the next partition starts with that packet, and the
	// previous one reports what was lost before it.
	for (const Sample &sample : samples) {
		passed += sample.bytes;
		if (passed < total / count || sample.time < made.back().from || sample.time >= range.to)
			continue;
		passed = 0;
		made.back().to = sample.time;
		made.push_back({sample.time + 1, range.to});
	}
	return made;
}

} // namespace monitor::statistics
