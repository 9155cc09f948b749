// SPDX-License-Identifier: MIT
#include "function_budget.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

#include <unistd.h>

#include "base/fd.h"

namespace monitor::record {
namespace {

constexpr std::chrono::milliseconds min_time{50}; // several units of /proc/stat

double used_cpu_unit_ns()
{
	return 1e9 / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

} // namespace

std::vector<std::size_t> costliest(const std::vector<FunctionLoad> &loads, double allowed_ns)
{
	std::vector<std::size_t> order(loads.size());
	std::iota(order.begin(), order.end(), 0);
	std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return loads[i].ns(); });
	double ns = 0;
	for (const FunctionLoad &load : loads)
		ns += load.ns();
	std::size_t count = 0;
	for (; count < order.size() && ns > allowed_ns && loads[order[count]].events > 0; ++count)
		ns -= loads[order[count]].ns();
	order.resize(count);
	return order;
}

std::vector<LeftOutFunction> FunctionBudget::update(std::chrono::steady_clock::time_point now,
						    std::vector<FunctionLoad> all, double used)
{
	left_out_.resize(all.size());
	if (since_ == std::chrono::steady_clock::time_point{}) {
		since_ = now;
		used_before_ = used;
		before_ = std::move(all);
		return {};
	}
	std::vector<FunctionLoad> loads = all;
	double spent = 0;
	for (std::size_t i = 0; i < loads.size(); ++i) {
		loads[i].events = left_out_[i] ? 0 : loads[i].events - before_[i].events;
		spent += loads[i].ns();
	}
	const std::chrono::duration<double> time = now - since_;
	const bool is_too_much = spent > share_ * 1e9 * cpus_ && time >= min_time;
	if (!is_too_much && time < std::chrono::seconds(1))
		return {};
	const double used_now = std::max(used - used_before_, used_cpu_unit_ns() * cpus_);
	std::vector<LeftOutFunction> result;
	for (const std::size_t number : costliest(loads, share_ * used_now)) {
		left_out_[number] = true;
		result.push_back({number, loads[number], time.count(), loads[number].ns() / used_now});
	}
	since_ = now;
	used_before_ = used;
	before_ = std::move(all);
	return result;
}

double used_cpu_ns()
{
	const std::string text = read_text("/proc/stat");
	unsigned long long user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0;
	std::sscanf(text.c_str(), "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &iowait, &irq,
		    &softirq);
	return static_cast<double>(user + nice + system + irq + softirq) * used_cpu_unit_ns();
}

} // namespace monitor::record
