// SPDX-License-Identifier: MIT
#include "counters.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "base/error.h"
#include "monitor/card.h"
#include "recording/pmu/perf_group.h"
#include "recording/rings/clock.h"

namespace monitor::record {
namespace {

// Raises RLIMIT_NOFILE: a counter takes a descriptor on each CPU.
void allow_files(std::size_t more)
{
	constexpr rlim_t others = 4096;
	rlimit limit{};
	if (::getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= more + others)
		return;
	limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, more + others);
	limit.rlim_max = std::max(limit.rlim_max, limit.rlim_cur);
	::setrlimit(RLIMIT_NOFILE, &limit); // if this fails, opening reports it
}

} // namespace

static_assert(pmu::max_in_set == EDC_COUNTERS_IN_SET && pmu::max_sets == EDC_COUNTER_SETS);

Counters::Counters(pmu::Selection selection, unsigned cpus) : selection_(std::move(selection))
{
	int error = 0;
	allow_files(selection_.counters.size() * cpus);
	for (unsigned set = 0; set < selection_.sets.size(); ++set) {
		bool anywhere = false;
		for (unsigned cpu = 0; cpu < cpus; ++cpu) {
			const int result = open_set(cpu, set);
			anywhere |= result == 0;
			error = result ? result : error;
			// Offline, or a CPU of another kind; any other error would leave the figures incomplete.
			if (result && result != ENODEV && result != ENOENT && result != EOPNOTSUPP && result != EINVAL)
				throw Error(result, fmt::format("cannot open a counter on CPU {}", cpu));
		}
		if (!anywhere)
			throw Error(error, fmt::format("cannot open the counter {} and the others of its set",
						       selection_.counters[selection_.sets[set].front()].name));
	}
	for (const OpenSet &set : open_)
		::ioctl(set.counters.front().get(), PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

// Returns 0, or why this CPU lacks some of them.
int Counters::open_set(unsigned cpu, unsigned set)
{
	std::vector<perf_event_attr> attributes;
	attributes.reserve(selection_.sets[set].size());
	for (const std::size_t counter : selection_.sets[set]) {
		attributes.push_back(selection_.counters[counter].attributes);
		attributes.back().read_format =
		    PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	}
	OpenSet opened{cpu, set, pmu::open_group(std::move(attributes), -1, static_cast<int>(cpu))};
	if (opened.counters.empty())
		return errno;
	open_.push_back(std::move(opened));
	return 0;
}

void Counters::give_to(card::BpfCard &card) const
{
	for (const OpenSet &set : open_)
		for (unsigned i = 0; i < set.counters.size(); ++i)
			card.set_counter(set.set, i, set.cpu, set.counters[i].get());
}

std::vector<CounterReading> Counters::read(bool at_end, bool invariant_tsc) const
{
	std::vector<CounterReading> readings;
	for (const OpenSet &set : open_) {
		std::array<std::uint64_t, 3 + EDC_COUNTERS_IN_SET> words{}; // their number, enabled, running, values
		const std::size_t bytes = (3 + set.counters.size()) * 8;
		const std::uint64_t before = read_sync(invariant_tsc).time;
		if (::read(set.counters.front().get(), words.data(), bytes) != static_cast<ssize_t>(bytes))
			continue;
		readings.push_back(
		    {set.cpu, set.set, at_end ? before : read_sync(invariant_tsc).time, words[1], words[2],
		     std::vector<std::uint64_t>(words.begin() + 3,
						words.begin() + 3 + static_cast<std::ptrdiff_t>(set.counters.size()))});
	}
	return readings;
}

} // namespace monitor::record
