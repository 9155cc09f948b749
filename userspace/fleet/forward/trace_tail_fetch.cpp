// SPDX-License-Identifier: MIT
// Part of trace_tail.h: for traces that stay on the host, the blocks of requested windows, and the description of what
// was fetched.
#include "trace_tail.h"

#include <algorithm>

#include "base/fd.h"
#include "window_blocks.h"

namespace monitor::fleet {
namespace {

const std::string recorder_stream = "recorder", cpu_streams = "kernel_";
constexpr std::size_t max_windows = 256;
constexpr std::uint64_t no_end = ~std::uint64_t(0);

// Adds a window to earlier ones.
void add_window(const FetchedTrace::Window &window, std::vector<FetchedTrace::Window> &windows)
{
	const auto is_within = [](const FetchedTrace::Window &inner, const FetchedTrace::Window &outer) {
		return inner.first >= outer.first && inner.second <= outer.second;
	};
	if (std::ranges::any_of(windows, [&](const auto &each) { return is_within(window, each); }))
		return;
	std::erase_if(windows, [&](const auto &each) { return is_within(each, window); });
	windows.push_back(window);
	if (windows.size() > max_windows)
		windows = {{0, no_end}};
}

} // namespace

// The stream's blocks that the collector is to store. The recorder's own stream has the initial state and the clock
// snapshots, so it is always included.
void TraceTail::select_blocks(const std::string &name, Stream &stream) const
{
	if (!is_on_demand()) {
		stream.wanted.add(0, stream.blocks);
		return;
	}
	stream.wanted = {};
	if (stream.blocks == 0 || progress_.wanted.windows.empty())
		return;
	const auto times = clock();
	for (const auto &[from, to] : progress_.wanted.windows) {
		BlockRanges::Range range(0, stream.blocks);
		if (times && name != recorder_stream)
			range = window_blocks(directory_ + '/' + name, stream.blocks, times->ticks_of(from),
					      to == no_end ? to : times->ticks_of(to), name.starts_with(cpu_streams));
		stream.wanted.add(range.first, range.second - range.first);
	}
}

std::optional<TraceClock> TraceTail::clock() const
{
	return TraceClock::parse(read_text(directory_ + "/metadata", 64 << 10));
}

void TraceTail::fetch(const FetchRequest &request)
{
	if (is_known_)
		apply_request(request);
	else if (requests_.size() < max_windows)
		requests_.push_back(request);
}

void TraceTail::apply_request(const FetchRequest &request)
{
	TraceProgress::Wanted &wanted = progress_.wanted;
	wanted.forward = Forward::on_demand;
	wanted.request = request.nonce;
	if (request.store && request.store != progress_.store) {
		wanted.windows.clear();
		start_again(request.store);
	}
	add_window({request.from_ns, end_of(request)}, wanted.windows);
	for (auto &[name, stream] : streams_)
		select_blocks(name, stream);
	progress_.is_complete = has_scanned_since_end_ = false;
	is_fetched_due_ = is_requested_outdated_ = is_changed_ = true;
}

// A request without an end is for what was recorded until it arrived.
std::uint64_t TraceTail::end_of(const FetchRequest &request) const
{
	const bool is_open = request.to_ns == no_end && !has_ended_;
	const auto times = is_open && is_of_this_boot_ && request.received_ticks ? clock() : std::nullopt;
	return times ? std::max(request.from_ns, times->real_ns_of(request.received_ticks)) : request.to_ns;
}

// Later blocks do not delay the report that the request was executed.
void TraceTail::fix_requested_blocks()
{
	for (auto &[name, stream] : streams_)
		stream.requested = stream.wanted;
	is_requested_outdated_ = false;
}

bool TraceTail::is_request_done() const
{
	return !is_requested_outdated_ && blocks_are_stored(&Stream::requested);
}

FetchedTrace TraceTail::fetched() const
{
	FetchedTrace fetched;
	fetched.has_ended = has_ended_;
	if (is_request_done()) {
		fetched.request = progress_.wanted.request;
		fetched.windows = progress_.wanted.windows;
	}
	for (const auto &[name, stream] : streams_) {
		FetchedStream &each = fetched.streams[name];
		each.blocks = stream.blocks;
		const auto stored = progress_.streams.find(name);
		if (stored == progress_.streams.end())
			continue;
		const auto found = progress_.absent.find(name);
		const BlockRanges absent = found == progress_.absent.end() ? BlockRanges() : found->second;
		for (const auto &[first, end] : stored->second.ranges()) {
			const std::uint64_t last = std::min(end, stream.blocks);
			for (std::uint64_t from = first; from < last;) {
				const auto part = absent.missing({from, last});
				if (!part)
					break;
				each.present.add(part->first, part->second - part->first);
				from = part->second;
			}
		}
	}
	return fetched;
}

// Sent after the blocks that it lists; and once before, so that the collector knows that parts will be missing.
std::optional<TraceTail::Content> TraceTail::fetched_description()
{
	if (!is_fetched_due_ || !is_on_demand() || (has_ended_ && !has_scanned_since_end_))
		return {};
	const auto stored = progress_.files.find(fetched_file);
	const bool is_last = is_request_done();
	if (!is_last && stored != progress_.files.end())
		return {};
	Content content{fetched_file, fetched().text(), 0};
	content.hash = content_hash(std::as_bytes(std::span(content.bytes)));
	is_fetched_due_ = !is_last;
	if (stored != progress_.files.end() && stored->second == content.hash)
		return {};
	is_description_out_ = true;
	return content;
}

std::uint64_t TraceTail::kept_blocks() const
{
	std::uint64_t sum = 0;
	if (!is_on_demand())
		return sum;
	for (const auto &[name, stream] : streams_) {
		BlockRanges taken = stream.handed_out;
		for (const auto &[first, end] : stream.wanted.ranges())
			taken.add(first, end - first);
		sum += stream.blocks - std::min(stream.blocks, taken.count());
	}
	return sum;
}

std::optional<FetchedTrace::Window> TraceTail::span() const
{
	std::optional<StreamSpan> whole;
	for (const auto &[name, stream] : streams_)
		if (const auto span = stream_span(directory_ + '/' + name, stream.blocks))
			whole = whole ? StreamSpan{std::min(whole->begin, span->begin), std::max(whole->end, span->end)}
				      : *span;
	const auto times = whole ? clock() : std::nullopt;
	if (!times)
		return {};
	return FetchedTrace::Window(times->real_ns_of(whole->begin), times->real_ns_of(whole->end));
}

} // namespace monitor::fleet
