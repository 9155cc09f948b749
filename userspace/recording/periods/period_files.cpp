// SPDX-License-Identifier: MIT
#include "period_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/date_text.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/sentence.h"
#include "monitor/ring.h"

namespace monitor::record {
namespace {

// "statistics_20261126T140300Z": the period's start in UTC, with milliseconds if shorter than a second.
std::string name_of(std::int64_t begin_wall_ns)
{
	constexpr std::int64_t second_ns = 1'000'000'000;
	const std::int64_t ms = begin_wall_ns % second_ns / 1'000'000;
	return fmt::format("{}{}{}Z", PeriodFiles::prefix, utc_date(begin_wall_ns / second_ns, "%Y%m%dT%H%M%S"),
			   ms ? fmt::format(".{:03}", ms) : "");
}

// An empty final packet that counts the packets before it: a file without it is truncated.
std::array<std::byte, EDC_BLOCK_SIZE> end_mark(std::span<const std::byte> blocks)
{
	std::array<std::byte, EDC_BLOCK_SIZE> mark{};
	edc_block header{};
	if (blocks.size() >= EDC_BLOCK_SIZE)
		std::memcpy(&header, blocks.data() + blocks.size() - EDC_BLOCK_SIZE, sizeof header);
	header.timestamp_begin = header.timestamp_end;
	header.content_size = EDC_BLOCK_HEADER * 8;
	header.packet_seq_num = blocks.size() / EDC_BLOCK_SIZE;
	std::memcpy(mark.data(), &header, sizeof header);
	return mark;
}

} // namespace

PeriodFiles::PeriodFiles(std::string directory, std::uint64_t keep_ns, const Ages &ages)
    : directory_(std::move(directory)), keep_ns_(keep_ns)
{
	for (const auto &[name, age_ns] : ages)
		files_.push_back({directory_ + "/" + name, -age_ns});
	std::ranges::sort(files_, {}, &File::end_ns);
	remove_unfinished();
	thread_ = std::thread([this] { run(); });
}

// Removes partial files of a killed recorder.
void PeriodFiles::remove_unfinished() const
{
	std::error_code ignored;
	for (const std::filesystem::directory_entry &entry : std::filesystem::directory_iterator(directory_, ignored))
		if (entry.path().filename().string().starts_with('.' + std::string(prefix)))
			::unlink(entry.path().c_str());
}

void PeriodFiles::stop()
{
	{
		const std::lock_guard guard(lock_);
		is_over_ = true;
	}
	changed_.notify_one();
	if (thread_.joinable())
		thread_.join();
}

void PeriodFiles::add(Period period)
{
	{
		const std::lock_guard guard(lock_);
		if (!failure_.empty())
			throw Error(failure_);
		if (waiting_.size() >= max_waiting)
			throw Error("the disk of {} takes longer to write a period than the period lasts",
				    printable(directory_));
		waiting_.push_back(std::move(period));
	}
	changed_.notify_one();
}

void PeriodFiles::finish()
{
	stop();
	if (!failure_.empty())
		throw Error(failure_);
}

std::optional<PeriodFiles::Period> PeriodFiles::wait_for_next()
{
	std::unique_lock guard(lock_);
	changed_.wait(guard, [this] { return is_over_ || !waiting_.empty(); });
	if (waiting_.empty() || !failure_.empty())
		return {};
	std::optional<Period> next = std::move(waiting_.front());
	waiting_.pop_front();
	return next;
}

void PeriodFiles::run()
{
	while (const std::optional<Period> period = wait_for_next())
		try {
			write(*period);
			remove_old(period->end_ns);
			if (period->after_write)
				period->after_write();
		} catch (const std::exception &error) {
			const std::lock_guard guard(lock_);
			failure_ = sentence_of(error);
		}
}

// Atomic for readers, also after a power failure.
void PeriodFiles::write(const Period &period)
{
	std::string name = name_of(period.begin_wall_ns);
	for (unsigned number = 2; ::access((directory_ + "/" + name).c_str(), F_OK) == 0; ++number)
		name = fmt::format("{}-{}", name_of(period.begin_wall_ns), number); // the clock was set back
	const std::string path = directory_ + "/" + name, unfinished = directory_ + "/." + name;
	try {
		const Fd file = open_file(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
		write_all(file.get(), period.blocks, unfinished);
		write_all(file.get(), end_mark(period.blocks), unfinished);
		if (::fdatasync(file.get()) < 0)
			throw Error(errno, "cannot write " + unfinished);
	} catch (const Error &) {
		::unlink(unfinished.c_str());
		throw;
	}
	if (!period.description.empty())
		replace_file(directory_ + "/metadata", period.description, 0600);
	if (::rename(unfinished.c_str(), path.c_str()) != 0)
		throw Error(errno, "cannot write " + path);
	if (std::exchange(is_first_, false))
		for (File &earlier : files_)
			earlier.end_ns += period.end_ns;
	files_.push_back({path, period.end_ns});
}

// Removes a file when its whole period is older than keep_ns.
void PeriodFiles::remove_old(std::int64_t now_ns)
{
	if (keep_ns_ == 0)
		return;
	while (files_.size() > 1 && files_.front().end_ns <= now_ns - static_cast<std::int64_t>(keep_ns_)) {
		if (::unlink(files_.front().path.c_str()) != 0 && errno != ENOENT)
			throw Error(errno, "cannot remove " + files_.front().path);
		files_.pop_front();
	}
}

} // namespace monitor::record
