// SPDX-License-Identifier: MIT
#include "interrupt_names.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace monitor::analyze {
namespace {

// As the drivers name them; some append the number of the CPU or of the timer.
constexpr std::string_view cpu_timers[] = {"arch_timer", "riscv-timer",    "clint-timer",
					   "twd",        "Hyper-V stimer", // on arm64
					   "mct_tick"};
// "timer": i8253 or HPET on x86, but the CPU's on mips and LoongArch, and as "timer0" in guests of Xen.
constexpr std::string_view other_timers[] = {"timer", "hpet", "arch_mem_timer"};

std::string_view without_number(std::string_view handler)
{
	return handler.substr(0, handler.find_last_not_of("0123456789") + 1);
}

InterruptSource source_of_one(std::string_view handler)
{
	const std::string_view name = without_number(handler);
	const bool is_timer = std::ranges::count(cpu_timers, name) > 0 || std::ranges::count(other_timers, name) > 0;
	return is_timer ? InterruptSource::timer : InterruptSource::device;
}

InterruptSource source_of(std::string_view handlers)
{
	constexpr std::string_view separator = ", ";
	std::size_t end = handlers.find(separator);
	const InterruptSource first = source_of_one(handlers.substr(0, end));
	while (end != std::string_view::npos) {
		handlers.remove_prefix(end + separator.size());
		end = handlers.find(separator);
		if (source_of_one(handlers.substr(0, end)) != first)
			return InterruptSource::unknown;
	}
	return first;
}

} // namespace

InterruptNames::InterruptNames(std::map<std::string, std::string> names) : names_(std::move(names))
{
	for (const auto &[text, handlers] : names_) {
		std::uint32_t number = 0;
		if (std::from_chars(text.data(), text.data() + text.size(), number).ptr == text.data() + text.size())
			learn(number, handlers);
	}
}

void InterruptNames::learn(std::uint32_t number, std::string_view handlers)
{
	const auto [known, is_new] = sources_.try_emplace(number);
	if (!is_new)
		return;
	known->second = source_of(handlers);
	has_cpu_timers_ |= std::ranges::count(cpu_timers, without_number(handlers)) > 0;
}

const std::string *InterruptNames::find(std::uint32_t number) const
{
	const auto found = names_.find(std::to_string(number));
	return found == names_.end() ? nullptr : &found->second;
}

InterruptSource InterruptNames::source(std::uint32_t number, InterruptSource without_name) const
{
	const auto found = sources_.find(number);
	return found == sources_.end() ? without_name : found->second;
}

} // namespace monitor::analyze
