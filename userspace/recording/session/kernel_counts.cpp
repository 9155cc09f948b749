// SPDX-License-Identifier: MIT
#include "kernel_counts.h"

#include <filesystem>
#include <sstream>

#include <unistd.h>

#include "base/fd.h"
#include "recording/rings/clock.h"

namespace monitor::record {
namespace {

void parse_cpu_line(std::istringstream &fields, const std::string &label, KernelCounts &counts)
{
	const std::uint64_t ns_per_tick = 1'000'000'000ull / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
	const std::size_t cpu = std::stoul(label.substr(3));
	std::uint64_t value = 0, steal = 0;
	for (int column = 0; column < 8 && fields >> value; ++column)
		steal = column == 7 ? value : 0;
	if (counts.steal_ns.size() <= cpu)
		counts.steal_ns.resize(cpu + 1);
	counts.steal_ns[cpu] = steal * ns_per_tick;
}

void parse_stat(const std::string &text, KernelCounts &counts)
{
	std::istringstream lines(text);
	for (std::string line; std::getline(lines, line);) {
		std::istringstream fields(line);
		std::string label;
		fields >> label;
		if (label == "ctxt")
			fields >> counts.context_switches;
		else if (label == "intr")
			fields >> counts.interrupts;
		else if (std::uint64_t value = 0; label == "softirq" && fields >> value)
			counts.softirqs = value;
		else if (label == "processes" && fields >> value)
			counts.thread_creations = value;
		else if (label.starts_with("cpu") && label.size() > 3)
			parse_cpu_line(fields, label, counts);
	}
}

// The handlers of a numbered row, after two spaces: "36: 7 0 PCI-MSIX-0000:00:02.0 1-edge vda".
std::string name_of_row(const std::string &line, const std::string &label)
{
	constexpr std::size_t max_name = 48;
	const std::size_t before = line.rfind("  ");
	const bool has_number = label.find_first_not_of("0123456789") == std::string::npos;
	const std::string last = before == std::string::npos ? "" : line.substr(before + 2);
	const bool is_count = last.find_first_not_of("0123456789 ") == std::string::npos;
	return has_number && !is_count ? last.substr(0, max_name) : "";
}

void parse_interrupts(const std::string &text, KernelCounts &counts)
{
	std::istringstream lines(text);
	std::string line;
	std::getline(lines, line); // CPU0 CPU1 ...
	while (std::getline(lines, line)) {
		std::istringstream fields(line);
		std::string label;
		fields >> label;
		if (label.empty() || label.back() != ':')
			continue;
		label.pop_back();
		std::uint64_t value = 0, sum = 0;
		while (fields >> value)
			sum += value;
		counts.interrupt_rows[label] = sum;
		if (const std::string name = name_of_row(line, label); !name.empty())
			counts.interrupt_names[label] = name;
	}
}

// "254        0  268435456 vda", below a heading.
void parse_partitions(const std::string &text, KernelCounts &counts)
{
	std::istringstream lines(text);
	for (std::string line; std::getline(lines, line);) {
		std::istringstream fields(line);
		std::uint64_t major = 0, minor = 0, blocks = 0;
		std::string name;
		if (fields >> major >> minor >> blocks >> name)
			counts.disk_names[std::to_string(major) + ":" + std::to_string(minor)] = name;
	}
}

// Adds rejected idle states, which have tokens, too.
void read_idle(KernelCounts &counts, bool invariant_tsc)
{
	namespace fs = std::filesystem;
	std::error_code error;
	counts.idle_before = read_sync(invariant_tsc).time;
	for (const fs::directory_entry &cpu : fs::directory_iterator("/sys/devices/system/cpu", error))
		for (const fs::directory_entry &state : fs::directory_iterator(cpu.path() / "cpuidle", error))
			for (const char *file : {"usage", "rejected"})
				if (const std::string text = read_text((state.path() / file).string()); !text.empty())
					counts.idle_ends = counts.idle_ends.value_or(0) + std::stoull(text);
	counts.idle_after = read_sync(invariant_tsc).time;
}

} // namespace

KernelCounts read_kernel_counts(bool invariant_tsc)
{
	KernelCounts counts;
	counts.before = read_sync(invariant_tsc).time;
	const std::string stat = read_text("/proc/stat");
	counts.after = read_sync(invariant_tsc).time;
	parse_stat(stat, counts);
	parse_interrupts(read_text("/proc/interrupts"), counts);
	parse_partitions(read_text("/proc/partitions"), counts);
	read_idle(counts, invariant_tsc);
	return counts;
}

} // namespace monitor::record
