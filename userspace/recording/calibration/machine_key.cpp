// SPDX-License-Identifier: MIT
#include "machine_key.h"

#include <cstdlib>
#include <functional>
#include <string_view>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "base/fd.h"
#include "recording/card/card_programs.h"

namespace monitor::card {
namespace {

constexpr std::size_t max_text = 1 << 16;

std::string cpu_model()
{
	const std::string cpus = read_text("/proc/cpuinfo", max_text);
	const std::size_t at = cpus.find("model name");
	return at == std::string::npos ? "" : cpus.substr(at, cpus.find('\n', at) - at);
}

} // namespace

std::string machine_and_card()
{
	utsname system{};
	::uname(&system);
	return fmt::format("{} {} {} {} card {:x}", system.release, system.version, cpu_model(),
			   read_text("/sys/kernel/debug/sched/preempt", max_text),
			   std::hash<std::string_view>()(CardPrograms::object()));
}

FactorsFile factors_of_this_machine()
{
	const std::string key = "monitor " MONITOR_VERSION " " + machine_and_card();
	const char *const directory = std::getenv("MONITOR_FACTORS");
	return directory ? FactorsFile(key, directory) : FactorsFile(key);
}

} // namespace monitor::card
