// SPDX-License-Identifier: MIT
#include "period_ages.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "monitor/ring.h"

namespace monitor::record {
namespace {

std::optional<std::uint64_t> end_of_period(const std::string &path)
{
	const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
	edc_block last{};
	const off_t at = file ? ::lseek(file.get(), -static_cast<off_t>(EDC_BLOCK_SIZE), SEEK_END) : -1;
	if (at < 0 || ::pread(file.get(), &last, sizeof last, at) != sizeof last || last.magic != EDC_BLOCK_MAGIC)
		return {};
	return last.timestamp_end;
}

} // namespace

PeriodEnds ends_of_periods(const std::string &directory)
{
	PeriodEnds ends;
	std::error_code ignored;
	for (const std::filesystem::directory_entry &entry : std::filesystem::directory_iterator(directory, ignored))
		if (const std::string name = entry.path().filename();
		    name.starts_with(PeriodFiles::prefix) &&
		    std::filesystem::is_regular_file(entry.symlink_status(ignored)))
			ends[name] = end_of_period(entry.path());
	return ends;
}

std::uint64_t latest_end(const PeriodEnds &ends)
{
	std::uint64_t last = 0;
	for (const auto &[name, end] : ends)
		last = std::max(last, end.value_or(0));
	return last;
}

PeriodFiles::Ages ages_of(const PeriodEnds &ends, const std::vector<std::uint64_t> &boots, std::uint64_t now,
			  std::uint64_t frequency_hz)
{
	std::map<std::uint64_t, std::uint64_t>
	    pauses; // by end of a period: length of the following gap of unknown duration
	for (const std::uint64_t boot : boots) {
		std::uint64_t before = 0;
		for (const auto &[name, end] : ends)
			if (end && *end <= boot)
				before = std::max(before, *end);
		pauses[before] = boot - before;
	}
	PeriodFiles::Ages ages;
	for (const auto &[name, end] : ends) {
		std::uint64_t ticks = now - std::min(now, end.value_or(now));
		for (auto pause = pauses.lower_bound(end.value_or(now)); pause != pauses.end(); ++pause)
			ticks -= std::min(ticks, pause->second);
		ages[name] = static_cast<std::int64_t>(static_cast<long double>(ticks) * 1e9L /
						       static_cast<long double>(frequency_hz));
	}
	return ages;
}

} // namespace monitor::record
