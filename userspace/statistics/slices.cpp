// SPDX-License-Identifier: MIT
#include "slices.h"

namespace monitor::statistics {
namespace {

constexpr std::uint64_t most_slices = 4096;
// So many of a short trace that CPUs end at about the same time, but none so short that beginning is much of it.
constexpr std::uint64_t enough_slices = 64, least_slice_bytes = 1u << 20, least_stream_bytes = 64u << 10;
// Packets looked at, of all streams together.
constexpr std::uint64_t most_samples = 20'000;

struct Sample {
	std::uint64_t time, bytes;
};

// The packets of a stream that a range touches.
struct Packets {
	std::uint64_t first, behind, bytes;
};

Packets packets_of(const trace::Stream &stream, const trace::TimeRange &range)
{
	const std::uint64_t first = range.from == 0 ? stream.first_packet() : stream.seek(range.from);
	const std::uint64_t last = range.to >= stream.end_time() ? stream.packets() : stream.seek(range.to) + 1;
	const std::uint64_t behind = std::max(std::min(last, stream.packets()), first);
	return {first, behind, stream.offset(behind) - stream.offset(first)};
}

void add_samples(const trace::Stream &stream, const Packets &packets, std::uint64_t total, std::vector<Sample> &samples)
{
	const auto share = static_cast<std::uint64_t>(static_cast<double>(packets.bytes) / static_cast<double>(total) *
						      static_cast<double>(most_samples));
	const std::uint64_t all = packets.behind - packets.first, count = std::clamp<std::uint64_t>(share, 1, all);
	trace::PacketHead head;
	for (std::uint64_t i = 0; i < count; ++i)
		if (!stream.read_head(packets.first + all * i / count, head))
			samples.push_back({stream.time(head.begin), packets.bytes / count});
}

} // namespace

std::vector<trace::TimeRange> slices(const trace::Trace &trace, trace::TimeRange range, std::uint64_t slice_bytes)
{
	std::vector<std::pair<const trace::Stream *, Packets>> touched;
	std::uint64_t total = 0;
	for (const auto &stream : trace.streams()) {
		if (stream->is_foreign())
			continue;
		if (!stream->tells_times())
			return {range};
		const Packets packets = packets_of(*stream, range);
		total += packets.bytes;
		if (packets.behind > packets.first)
			touched.emplace_back(stream.get(), packets);
	}
	std::vector<trace::TimeRange> made = {range};
	slice_bytes = std::min(
	    slice_bytes, std::max({total / enough_slices, least_slice_bytes, touched.size() * least_stream_bytes}));
	const std::uint64_t count = std::clamp<std::uint64_t>(total / slice_bytes, 1, most_slices);
	if (count == 1)
		return made;
	std::vector<Sample> samples;
	for (const auto &[stream, packets] : touched)
		add_samples(*stream, packets, total, samples);
	std::sort(samples.begin(), samples.end(), [](const Sample &a, const Sample &b) { return a.time < b.time; });
	std::uint64_t passed = 0;
	// A cut is just behind a packet's begin: so who reads what is behind it begins with that packet, and what was
	// lost before it was told by who reads the one before.
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

std::uint64_t warm_up(const trace::Stream &stream, std::uint64_t from)
{
	// its first token says who ran then
	return stream.is_foreign() || stream.info().is_recorder() ? from : stream.packet_time(from);
}

} // namespace monitor::statistics
