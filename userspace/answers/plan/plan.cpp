// SPDX-License-Identifier: MIT
#include "plan.h"

#include <bit>

#include "base/buffering/buffers.h"
#include "base/error.h"
#include "base/ranges.h"

namespace monitor::plan {
namespace {

struct Pace {
	double recorder, load;
};
// Factors on times: the recorder is faster and the load slower, or the other way round. A machine's speed differs by as
// much from one recording to the next.
constexpr Pace paces[] = {{.9, 1.03}, {1, 1}, {1.1, .97}};

Range empty_range()
{
	return {1e300, -1e300};
}

bool loses_any(const Recorded &recorded, const Setting &setting)
{
	return std::ranges::any_of(circumstances_of(recorded.arrivals), [&](const Circumstances &circumstances) {
		return simulate(recorded.arrivals, recorded.times, setting, circumstances).lost > 0;
	});
}

// Four for each power of two, from the smallest size that `record --buffer` accepts.
std::vector<std::uint64_t> buffer_sizes(const Arrivals &arrivals)
{
	constexpr std::uint64_t quarters = 4;
	const std::uint64_t smallest =
	    buffering::min_total_bytes(static_cast<unsigned>(arrivals.steps.size()), arrivals.rings_of_cpu());
	std::vector<std::uint64_t> all{smallest};
	for (std::uint64_t power = std::bit_floor(smallest); power < max_buffer; power *= 2)
		for (std::uint64_t quarter = quarters; quarter < 2 * quarters; ++quarter)
			if (power / quarters * quarter > smallest)
				all.push_back(power / quarters * quarter);
	all.push_back(max_buffer);
	return all;
}

} // namespace

Recorded read_recorded(trace::Trace &trace, const analyze::RecordingInfo &info)
{
	Recorded recorded;
	recorded.arrivals = read_arrivals(trace, info);
	recorded.times = read_service_times(trace, info, recorded.arrivals);
	return recorded;
}

void expect_few_settings(std::size_t buffers, std::size_t disks)
{
	if (buffers * disks > max_settings)
		throw Error(
		    "{} values of --buffer and {} of --disk are {} settings, of which a plan simulates at most {}: "
		    "give fewer",
		    buffers, disks, buffers * disks, max_settings);
}

void expect_possible_buffer(std::uint64_t bytes, const std::string &text)
{
	if (bytes > max_wanted_buffer)
		throw Error("--buffer: {} is more than 1T, the most that a plan is made for", text);
}

std::vector<Circumstances> circumstances_of(const Arrivals &arrivals)
{
	constexpr double nearly_always = .9;
	const double beside = arrivals.recorder_beside_load();
	std::vector<Circumstances> all;
	for (const bool beside_load : {false, true})
		for (const Pace &pace : paces)
			if ((beside_load ? beside : 1 - beside) > 1 - nearly_always)
				all.push_back({beside_load, pace.recorder, pace.load,
					       static_cast<std::uint32_t>(all.size()) + 1});
	return all;
}

double recorder_cpu_percent(const Recorded &recorded, const Outcome &outcome)
{
	const Nanoseconds cpu = outcome.drain_cpu + outcome.writer_cpu + recorded.times.other_cpu;
	const Nanoseconds duration = std::max<Nanoseconds>(recorded.arrivals.duration, 1);
	return 100 * static_cast<double>(cpu) / static_cast<double>(duration);
}

Prediction predict(const Recorded &recorded, const Setting &setting)
{
	Prediction prediction{empty_range(), empty_range(), empty_range()};
	for (const Circumstances &circumstances : circumstances_of(recorded.arrivals)) {
		const Outcome outcome = simulate(recorded.arrivals, recorded.times, setting, circumstances);
		prediction.lost.add(outcome.lost_percent());
		prediction.recorder_cpu.add(recorder_cpu_percent(recorded, outcome));
		prediction.fullest.add(outcome.fullest / 10.);
	}
	return prediction;
}

std::vector<double> lost_in_each(const Recorded &recorded, const Setting &setting)
{
	return list_of<double>(circumstances_of(recorded.arrivals), [&](const Circumstances &circumstances) {
		return simulate(recorded.arrivals, recorded.times, setting, circumstances).lost_percent();
	});
}

std::optional<std::uint64_t> smallest_buffer(const Recorded &recorded, Setting setting)
{
	const auto all = buffer_sizes(recorded.arrivals);
	const auto found = std::ranges::partition_point(all, [&](std::uint64_t size) {
		setting.buffer_bytes = size;
		return loses_any(recorded, setting);
	});
	return found == all.end() ? std::nullopt : std::optional(*found);
}

} // namespace monitor::plan
