// SPDX-License-Identifier: MIT
#include "user_reads.h"

#include <algorithm>
#include <cstdlib>

#include <linux/perf_event.h>

#include "base/fd.h"
#include "monitor/card.h"
#include "recording/pmu/machine.h"
#include "recording/recorder/user.h"

namespace monitor::record {
namespace {

static_assert(EDC_USER_COUNTERS == EDC_COUNTERS_IN_SET);

// Why programs may not read counters; "" if they may (perf_event_open(2); Documentation/arm64/perf.rst).
std::string why_not()
{
#if defined(__x86_64__)
	for (const char *pmu : {"cpu", "cpu_core"}) {
		const std::string rdpmc = read_text(std::string("/sys/bus/event_source/devices/") + pmu + "/rdpmc");
		if (!rdpmc.empty())
			return rdpmc[0] == '0' ? std::string("programs may not read counters: ") + pmu + "/rdpmc is 0"
					       : "";
	}
	return "no PMU";
#elif defined(__aarch64__)
	const std::string access = read_text("/proc/sys/kernel/perf_user_access");
	return access.empty()     ? "this kernel does not let programs read counters"
	       : access[0] == '1' ? ""
				  : "programs may not read counters: kernel.perf_user_access is 0";
#else
	return "not on this architecture";
#endif
}

// Why the command's user may not count this; "" if it may.
std::string why_not_for_user(const perf_event_attr &attributes)
{
	const int paranoid = std::atoi(read_text("/proc/sys/kernel/perf_event_paranoid").c_str());
	if (invoking_user().uid == 0 || paranoid < 2 || (paranoid == 2 && attributes.exclude_kernel))
		return "";
	return "kernel.perf_event_paranoid is " + std::to_string(paranoid) +
	       (paranoid == 2 ? ": programs may count user mode, as instructions:u" : ": programs may count nothing");
}

edc_user_counter wanted(const perf_event_attr &attributes)
{
	constexpr std::uint64_t exclude_user = 1 << 4, exclude_kernel = 1 << 5, exclude_hv = 1 << 6;
	edc_user_counter counter{};
	counter.type = attributes.type;
	counter.config = attributes.config;
	counter.config1 = attributes.config1;
#if defined(__aarch64__)
	counter.config1 |= 2; // rdpmc: request a counter that programs can read
#endif
	counter.flags = (attributes.exclude_user ? exclude_user : 0) |
			(attributes.exclude_kernel ? exclude_kernel : 0) | (attributes.exclude_hv ? exclude_hv : 0);
	return counter;
}

} // namespace

UserReads user_reads(const Counting &counting)
{
	UserReads reads;
	const pmu::Selection &selection = counting.selection;
	if (counting.format != RatioFormat::exact || selection.sets.empty())
		reads.refused = "no counts are recorded";
	else if (!std::ranges::all_of(selection.sets[0], [&](std::size_t counter) {
			 return pmu::is_of_the_cpu(selection.counters[counter].attributes);
		 }))
		reads.refused = "programs can read only the PMU's counters";
	else
		reads.refused = why_not();
	for (std::size_t i = 0; reads.refused.empty() && i < selection.sets[0].size(); ++i)
		reads.refused = why_not_for_user(selection.counters[selection.sets[0][i]].attributes);
	if (reads.refused.empty())
		for (const std::size_t counter : selection.sets[0])
			reads.counters.push_back(wanted(selection.counters[counter].attributes));
	return reads;
}

} // namespace monitor::record
