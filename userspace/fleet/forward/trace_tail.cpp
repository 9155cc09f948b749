// SPDX-License-Identifier: MIT
#include "trace_tail.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <numeric>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/durable_file.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/recording_file/contents.h"
#include "trace_parts.h"

namespace monitor::fleet {
namespace {

namespace fs = std::filesystem;

const std::string final_description = recording_file::file_name;
constexpr int pause_factor = 20;
constexpr auto version_interval = std::chrono::seconds(2); // of a description

std::optional<BlockRanges::Range> first_waiting(const BlockRanges &wanted, const BlockRanges &handed_out)
{
	for (const auto &[first, end] : wanted.ranges())
		if (const auto missing = handed_out.missing({first, end}))
			return missing;
	return {};
}

} // namespace

TraceTail::TraceTail(std::string directory, TailOptions options)
    : directory_(std::move(directory)), options_(std::move(options))
{
	name_.run = options_.run;
	name_.part = options_.part;
}

void TraceTail::read_identity()
{
	const auto recorded = recording_file::contents_in(directory_);
	if (!recorded || !parse_uuid(recorded->uuid, name_.uuid))
		return;
	is_known_ = true;
	is_of_this_boot_ = recorded->is_of_this_boot();
	progress_.uuid = name_.uuid;
	if (!options_.progress_file.empty())
		progress_.parse(read_text(options_.progress_file, max_description_file_bytes), name_.uuid);
	has_ended_ |= progress_.is_complete || recorded->complete();
	if (!progress_.wanted.forward) {
		progress_.wanted.forward = options_.forward;
		is_changed_ = true;
	}
	if (progress_.wanted.forward == Forward::each)
		options_.max_blocks = 1;
	is_fetched_due_ = is_on_demand();
	for (const FetchRequest &request : std::exchange(requests_, {}))
		apply_request(request);
}

void TraceTail::scan(Time now)
{
	if (now < next_scan_)
		return;
	const Time start = std::chrono::steady_clock::now();
	scan_all(now);
	next_scan_ = now + pause_factor * (std::chrono::steady_clock::now() - start);
}

void TraceTail::scan_all(Time now)
{
	if (!is_known_)
		read_identity();
	if (!is_known_ || is_complete() || (is_on_demand() && has_scanned_since_end_))
		return;
	const bool had_ended = has_ended_;
	std::error_code error;
	std::set<std::string> seen;
	for (fs::directory_iterator entry(directory_, error), end; !error && entry != end; entry.increment(error)) {
		const std::string name = entry->path().filename();
		struct stat status;
		if (is_stream_name(name) && ::lstat(entry->path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
			scan_stream(name, static_cast<std::uint64_t>(status.st_size), now);
			seen.insert(name);
		}
	}
	if (error)
		throw Error(error.value(), "cannot list " + directory_);
	for (auto &[name, stream] : streams_)
		if (!stream.is_gone && !seen.contains(name)) {
			stream.is_gone = true;
			while (const auto gone = stream.handed_out.missing({0, stream.blocks})) {
				stream.handed_out.add(gone->first, gone->second - gone->first);
				note_vanished(name, gone->first, gone->second - gone->first);
			}
		}
	if (is_requested_outdated_ || had_ended)
		fix_requested_blocks();
	scan_files("");
	scan_files(".monitor/");
	is_fetched_due_ |= had_ended && !has_scanned_since_end_ && is_on_demand();
	has_scanned_since_end_ |= had_ended;
	note_complete();
}

void TraceTail::scan_stream(const std::string &name, std::uint64_t bytes, Time now)
{
	const auto [found, is_new] = streams_.try_emplace(name);
	Stream &stream = found->second;
	const std::uint64_t blocks = std::min(bytes / block_bytes, max_stream_blocks);
	if (is_new) // stored before this process started
		if (const auto stored = progress_.streams.find(name); stored != progress_.streams.end())
			for (const auto &[first, end] : stored->second.ranges())
				if (first < blocks)
					stream.handed_out.add(first, std::min(end, blocks) - first);
	if (blocks <= stream.blocks)
		return;
	stream.blocks = blocks;
	select_blocks(name, stream);
	if (!stream.waits_since)
		stream.waits_since = now;
}

void TraceTail::scan_files(const std::string &below)
{
	std::error_code error;
	for (fs::directory_iterator entry(directory_ + '/' + below, error), end; !error && entry != end;
	     entry.increment(error)) {
		const std::string name = below + entry->path().filename().string();
		struct stat status;
		if (!is_description_name(name) || name.ends_with(".new") || (is_on_demand() && name == fetched_file) ||
		    ::lstat(entry->path().c_str(), &status) < 0 || !S_ISREG(status.st_mode))
			continue;
		File &file = files_[name];
		const auto changed_ns = std::int64_t(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
		const auto size = static_cast<std::uint64_t>(status.st_size);
		file.is_due |= file.changed_ns != changed_ns || file.size != size;
		file.changed_ns = changed_ns;
		file.size = size;
		if (file.is_due && name == final_description && !has_ended_)
			has_ended_ = trace_has_ended(directory_);
	}
}

std::optional<BlockRun> TraceTail::next_blocks(Time now)
{
	if (is_on_demand() && !progress_.files.contains(fetched_file))
		return {};
	if (!resend_.empty()) {
		const BlockRun run = resend_.back();
		resend_.pop_back();
		return run;
	}
	auto each = streams_.upper_bound(last_served_);
	for (std::size_t i = 0; i < streams_.size(); ++i, ++each) {
		if (each == streams_.end())
			each = streams_.begin();
		Stream &stream = each->second;
		const auto waiting = first_waiting(stream.wanted, stream.handed_out);
		if (!waiting)
			continue;
		const std::uint64_t length = waiting->second - waiting->first;
		if (length < options_.max_blocks && !has_ended_ && stream.waits_since &&
		    now - *stream.waits_since < options_.max_age)
			continue;
		const auto count = static_cast<unsigned>(std::min<std::uint64_t>(length, options_.max_blocks));
		const BlockRun run{each->first, waiting->first, count};
		stream.handed_out.add(waiting->first, count);
		stream.waits_since =
		    first_waiting(stream.wanted, stream.handed_out) ? std::optional(now) : std::nullopt;
		last_served_ = each->first;
		return run;
	}
	return {};
}

int TraceTail::read(const BlockRun &run, std::span<std::byte> to)
{
	const Fd file(::open((directory_ + '/' + run.stream).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
	if (!file && errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
		return errno;
	const ssize_t n = file ? read_at(file.get(), to, run.first * block_bytes) : 0;
	if (n < 0)
		return errno;
	if (n == static_cast<ssize_t>(to.size()))
		return 0;
	note_vanished(run.stream, run.first, run.count);
	return ENOENT;
}

// For the copy's own account: these blocks need not be sent, but are absent.
void TraceTail::note_absent(const std::string &stream, std::uint64_t first, std::uint64_t count)
{
	progress_.absent[stream].add(first, count);
}

void TraceTail::note_vanished(const std::string &stream, std::uint64_t first, std::uint64_t count)
{
	if (count == 0)
		return;
	progress_.vanished += count;
	progress_.streams[stream].add(first, count);
	note_absent(stream, first, count);
	is_changed_ = true;
	note_complete();
}

std::optional<TraceTail::Content> TraceTail::next_description(Time now)
{
	if (is_description_out_ || !is_known_)
		return {};
	if (auto content = fetched_description())
		return content;
	for (auto &[name, file] : files_) {
		if (!file.is_due || now < file.not_before || (!has_ended_ && now - file.returned_at < version_interval))
			continue;
		if (name == final_description && has_ended_ && !(has_scanned_since_end_ && all_is_stored()))
			continue;
		Content content{name, read_text(directory_ + '/' + name, max_description_file_bytes + 1), 0};
		content.hash = content_hash(std::as_bytes(std::span(content.bytes)));
		if (content.bytes.empty() && file.size) { // it could not be read
			std::error_code error;
			file.is_due = fs::exists(directory_ + '/' + name, error) || error;
			file.not_before = now + version_interval;
			continue;
		}
		file.is_due = false;
		file.returned_at = now;
		const auto stored = progress_.files.find(name);
		if (stored != progress_.files.end() && stored->second == content.hash)
			continue;
		if (content.bytes.size() > max_description_file_bytes) {
			description_stored(name, content.hash); // not sent, and not retried
			++progress_.refused_files;
			continue;
		}
		is_description_out_ = true;
		return content;
	}
	note_complete();
	return {};
}

void TraceTail::stored(const BlockRun &run, unsigned conflicts)
{
	progress_.streams[run.stream].add(run.first, run.count);
	progress_.conflicts += conflicts;
	is_changed_ = true;
	note_complete();
}

void TraceTail::refused(const BlockRun &run)
{
	if (run.count == 1) {
		++progress_.refused;
		note_absent(run.stream, run.first, run.count);
		stored(run, 0); // absent, and not retried
		return;
	}
	for (unsigned i = run.count; i-- > 0;)
		resend_.push_back({run.stream, run.first + i, 1});
}

void TraceTail::description_stored(const std::string &file, std::uint64_t hash)
{
	progress_.files[file] = hash;
	is_description_out_ = false;
	is_changed_ = true;
	note_complete();
}

void TraceTail::description_again(const std::string &file, Time now)
{
	is_description_out_ = false;
	if (file == fetched_file && is_on_demand()) {
		is_fetched_due_ = true;
		return;
	}
	files_[file].is_due = true;
	files_[file].not_before = now + version_interval;
}

void TraceTail::start_again(std::uint64_t store)
{
	progress_.start_again(store);
	resend_.clear();
	is_description_out_ = false;
	is_fetched_due_ = is_on_demand();
	is_changed_ = true;
	for (auto &[name, stream] : streams_) {
		stream.handed_out = {};
		if (stream.is_gone) {
			stream.handed_out.add(0, stream.blocks);
			note_vanished(name, 0, stream.blocks);
		}
		stream.waits_since = Time{};
	}
	for (auto &[name, file] : files_) {
		file.is_due = true;
		file.returned_at = {};
	}
}

bool TraceTail::blocks_are_stored(BlockRanges Stream::*which) const
{
	return std::ranges::all_of(streams_, [&](const auto &each) {
		const auto stored = progress_.streams.find(each.first);
		return std::ranges::all_of((each.second.*which).ranges(), [&](const BlockRanges::Range &range) {
			return stored != progress_.streams.end() && stored->second.has(range);
		});
	});
}

// All but the last description.
bool TraceTail::all_is_stored() const
{
	return blocks_are_stored() && !is_fetched_due_ && std::ranges::none_of(files_, [](const auto &each) {
		       return each.second.is_due && each.first != final_description;
	       });
}

void TraceTail::note_complete()
{
	if (progress_.is_complete || !has_scanned_since_end_ || !is_known_ || is_description_out_ || !all_is_stored())
		return;
	const auto last = files_.find(final_description);
	if (last == files_.end() || last->second.is_due || !progress_.files.contains(final_description) ||
	    kept_blocks() > 0)
		return;
	progress_.is_complete = true;
	is_changed_ = true;
}

std::uint64_t TraceTail::blocks() const
{
	return std::accumulate(streams_.begin(), streams_.end(), std::uint64_t(0),
			       [](std::uint64_t sum, const auto &each) { return sum + each.second.blocks; });
}

std::uint64_t TraceTail::bytes() const
{
	return std::accumulate(files_.begin(), files_.end(), blocks() * block_bytes,
			       [](std::uint64_t sum, const auto &each) { return sum + each.second.size; });
}

void TraceTail::save_if_due(Time now)
{
	if (now < next_save_)
		return;
	const Time start = std::chrono::steady_clock::now();
	save();
	next_save_ = now + pause_factor * (std::chrono::steady_clock::now() - start);
}

void TraceTail::save()
{
	if (!is_changed_ || options_.progress_file.empty())
		return;
	replace_file_durably(options_.progress_file, progress_.text(), 0600);
	is_changed_ = false;
}

} // namespace monitor::fleet
