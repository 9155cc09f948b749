// SPDX-License-Identifier: MIT
#include "online_cpus.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include <sys/sysinfo.h>

#include "base/fd.h"

namespace monitor::record {

std::vector<std::uint32_t> online_cpus()
{
	std::vector<std::uint32_t> cpus;
	const auto configured = static_cast<std::uint32_t>(::get_nprocs_conf());
	const std::string online = read_text("/sys/devices/system/cpu/online"); // "0-3,6"
	for (std::size_t at = 0; at < online.size() && online[at] >= '0' && online[at] <= '9';) {
		char *end;
		const auto first = static_cast<std::uint32_t>(std::strtoul(online.c_str() + at, &end, 10));
		const auto last = *end == '-' ? static_cast<std::uint32_t>(std::strtoul(end + 1, &end, 10)) : first;
		for (std::uint32_t cpu = first; cpu <= std::min(last, configured - 1); ++cpu)
			cpus.push_back(cpu);
		at = static_cast<std::size_t>(end - online.c_str()) + (*end == ',');
	}
	return cpus;
}

std::vector<std::uint32_t> OfflineCpus::look()
{
	std::vector<bool> is(was_.size(), true);
	const std::vector<std::uint32_t> online = online_cpus();
	if (online.empty())
		return {};
	for (const std::uint32_t cpu : online)
		if (cpu < is.size())
			is[cpu] = false;
	std::vector<std::uint32_t> found;
	for (std::uint32_t cpu = 0; cpu < is.size(); ++cpu) {
		if (is[cpu] && (was_[cpu] || is_first_) && !told_[cpu])
			found.push_back(cpu);
		told_[cpu] = is[cpu] && (told_[cpu] || was_[cpu] || is_first_);
	}
	was_ = std::move(is);
	if (std::exchange(is_first_, false))
		at_start_ = found;
	return found;
}

} // namespace monitor::record
