// SPDX-License-Identifier: MIT
#include "arrivals.h"

#include <algorithm>
#include <numeric>

namespace monitor::plan {

std::uint64_t Arrivals::blocks() const
{
	std::uint64_t sum = 0;
	for (const auto &of_cpu : steps)
		sum += static_cast<std::uint64_t>(
		    std::ranges::count_if(of_cpu, [](const Step &step) { return step.ring != Step::no_ring; }));
	return sum;
}

std::uint32_t Arrivals::busiest_cpu() const
{
	return static_cast<std::uint32_t>(std::ranges::max_element(steps, {}, &std::vector<Step>::size) -
					  steps.begin());
}

std::uint32_t Arrivals::quietest_cpu() const
{
	return static_cast<std::uint32_t>(std::ranges::min_element(steps, {}, &std::vector<Step>::size) -
					  steps.begin());
}

double Arrivals::recorder_beside_load() const
{
	const auto all = std::accumulate(recorder_time.begin(), recorder_time.end(), Nanoseconds(0));
	return all > 0 ? static_cast<double>(recorder_time[busiest_cpu()]) / static_cast<double>(all) : .5;
}

// Blocks fill `rate` times as fast; the work of each CPU stays the same.
Arrivals with_rate(const Arrivals &arrivals, double rate)
{
	Arrivals faster = arrivals;
	std::vector<double> filled(arrivals.rings.size()); // part of each ring's open block
	for (std::size_t cpu = 0; cpu < arrivals.steps.size(); ++cpu) {
		std::vector<Step> &steps = faster.steps[cpu];
		steps.clear();
		for (const Step &step : arrivals.steps[cpu]) {
			if (step.ring == Step::no_ring) {
				steps.push_back(step);
				continue;
			}
			const double before = filled[step.ring], after = before + rate;
			const auto blocks = static_cast<std::uint32_t>(after);
			Step rest = step;
			for (std::uint32_t i = 1; i <= blocks; ++i) {
				Step part = step;
				part.release = i == 1 ? step.release : 0;
				part.work =
				    static_cast<Nanoseconds>(static_cast<double>(step.work) * (i - before) / rate) -
				    (step.work - rest.work);
				rest.work -= part.work;
				steps.push_back(part);
			}
			filled[step.ring] = after - blocks;
			if (rest.work > 0 || !blocks)
				steps.push_back({blocks ? 0 : step.release, rest.work, Step::no_ring, 0});
		}
	}
	return faster;
}

} // namespace monitor::plan
