// SPDX-License-Identifier: MIT
#include "online_cpus.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/sysinfo.h>

namespace monitor::record {
namespace {

constexpr const char *online_file = "/sys/devices/system/cpu/online"; // "0-3,6"

std::vector<std::uint32_t> cpus_in(const std::string &list, std::uint32_t configured)
{
	std::vector<std::uint32_t> cpus;
	for (std::size_t at = 0; at < list.size() && list[at] >= '0' && list[at] <= '9';) {
		char *end;
		const auto first = static_cast<std::uint32_t>(std::strtoul(list.c_str() + at, &end, 10));
		const auto last = *end == '-' ? static_cast<std::uint32_t>(std::strtoul(end + 1, &end, 10)) : first;
		for (std::uint32_t cpu = first; cpu <= std::min(last, configured - 1); ++cpu)
			cpus.push_back(cpu);
		at = static_cast<std::size_t>(end - list.c_str()) + (*end == ',');
	}
	return cpus;
}

} // namespace

std::vector<std::uint32_t> online_cpus()
{
	return cpus_in(read_text(online_file), static_cast<std::uint32_t>(::get_nprocs_conf()));
}

OfflineCpus::OfflineCpus(std::uint32_t cpus) : OfflineCpus(cpus, online_file) {}

OfflineCpus::OfflineCpus(std::uint32_t cpus, const char *list)
    : list_(::open(list, O_RDONLY | O_CLOEXEC)), was_offline_(cpus), reported_(cpus)
{
}

std::vector<std::uint32_t> OfflineCpus::poll()
{
	std::array<char, 4096> text; // as long as such a list can be
	const ssize_t length = ::pread(list_.get(), text.data(), text.size(), 0);
	if (length <= 0)
		return {};
	std::vector<bool> is_offline(was_offline_.size(), true);
	for (const std::uint32_t cpu : cpus_in(std::string(text.data(), static_cast<std::size_t>(length)),
					       static_cast<std::uint32_t>(is_offline.size())))
		is_offline[cpu] = false;
	std::vector<std::uint32_t> found;
	for (std::uint32_t cpu = 0; cpu < is_offline.size(); ++cpu) {
		if (is_offline[cpu] && (was_offline_[cpu] || is_first_) && !reported_[cpu])
			found.push_back(cpu);
		reported_[cpu] = is_offline[cpu] && (reported_[cpu] || was_offline_[cpu] || is_first_);
	}
	was_offline_ = std::move(is_offline);
	if (std::exchange(is_first_, false))
		at_start_ = found;
	return found;
}

} // namespace monitor::record
