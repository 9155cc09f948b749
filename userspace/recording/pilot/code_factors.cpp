// SPDX-License-Identifier: MIT
#include "code_factors.h"

#include <algorithm>
#include <chrono>

#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffering/buffers.h"
#include "base/error.h"
#include "builtin_workloads.h"
#include "recording/calibration/factor_fit.h"
#include "recording/calibration/phase_estimate.h"
#include "recording/session/card_options.h"
#include "trial_card.h"

namespace monitor::pilot {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double unit_ns = 20e6;  // CPU time of a run: short, because the machine's speed drifts
constexpr double max_waiting = 3; // max. wall time / CPU time
constexpr unsigned max_times = 1'000'000;
constexpr std::size_t min_rounds = 8; // fewer give no interval
constexpr const char *writable = "/var/tmp";

double ns(const timeval &time)
{
	return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
}

// Runs the load in a child process; returns its CPU time with children.
double run(const Workload &load, unsigned times)
{
	const pid_t child = ::fork();
	if (child < 0)
		throw Error(errno, "cannot start a program to calibrate with");
	if (child == 0) {
		load.run(times);
		::_exit(0);
	}
	int status = 0;
	rusage usage{};
	while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
		;
	return ns(usage.ru_utime) + ns(usage.ru_stime);
}

// Raises the priority during its lifetime; child processes inherit it.
class RaisedPriority {
public:
	RaisedPriority() : before_(::getpriority(PRIO_PROCESS, 0)) { ::setpriority(PRIO_PROCESS, 0, -20); }
	~RaisedPriority() { ::setpriority(PRIO_PROCESS, 0, before_); }
	RaisedPriority(const RaisedPriority &) = delete;
	RaisedPriority &operator=(const RaisedPriority &) = delete;

private:
	const int before_;
};

struct Trial {
	Workload load;
	unsigned times = 1;
	EventCounts events{};
	std::vector<card::Round> rounds{};

	// Chooses the number of repetitions for short runs; false: the load cannot run here.
	bool choose_times()
	{
		run(load, times);
		for (;;) {
			const auto begin = Clock::now();
			const double cpu_ns = run(load, times);
			const std::chrono::duration<double, std::nano> elapsed = Clock::now() - begin;
			const double duration_ns = std::max(cpu_ns, elapsed.count() / max_waiting);
			if (duration_ns > unit_ns * 0.7 || times >= max_times)
				return cpu_ns > unit_ns / 10;
			times = static_cast<unsigned>(times * std::clamp(unit_ns / duration_ns, 1.2, 8.0)) + 1;
		}
	}
	void count(TrialCard &card)
	{
		card.attach(::getpid());
		run(load, times);
		card.detach();
		events = card.events();
	}
	card::LoadCost cost(const recording_file::CalibratedCosts &loops) const;
};

card::LoadCost Trial::cost(const recording_file::CalibratedCosts &loops) const
{
	card::LoadCost result{.name = load.name, .rounds = rounds.size()};
	for (const auto &[family, number] : events) {
		result.events += number;
		result.predicted_ns[card::factor_group(family)] +=
		    static_cast<double>(number) * recording_file::median_in_loops(loops, family);
	}
	std::vector<double> added, without;
	for (const card::Round &round : rounds) {
		without.push_back((round.before + round.after) / 2);
		added.push_back(round.with - without.back());
	}
	result.cpu_ns = card::quantile(without, 0.5);
	const record::Median median = record::median_of(added);
	result.low_ns = median.low;
	result.measured_ns = median.median;
	result.high_ns = median.high;
	return result;
}

card::CardOptions default_card()
{
	card::CardOptions options =
	    record::card_options(record::Options{.card = "bpf"}, static_cast<unsigned>(::get_nprocs_conf()), {});
	options.blocks_per_cpu = buffering::divide_buffers({}, options.cpus, options.rings()).blocks_per_cpu;
	return options;
}

std::vector<Trial> prepare(const card::CardOptions &options)
{
	card::CardOptions filtering = options;
	filtering.filtering = true;
	TrialCard counting(filtering);
	std::vector<Trial> trials;
	for (Workload &load : builtin_workloads(writable)) {
		Trial trial{std::move(load)};
		if (!trial.choose_times())
			continue;
		trial.count(counting);
		trials.push_back(std::move(trial));
	}
	return trials;
}

// Without, with and without probes, all programs each time, because re-attaching waits for a grace period.
void make_round(TrialCard &card, std::vector<Trial> &trials)
{
	const auto run_all = [&](double card::Round::*part) {
		for (Trial &trial : trials)
			trial.rounds.back().*part = run(trial.load, trial.times);
	};
	for (Trial &trial : trials)
		trial.rounds.emplace_back();
	run_all(&card::Round::before);
	card.attach();
	run_all(&card::Round::with);
	card.detach();
	const std::uint64_t lost = card.lost();
	run_all(&card::Round::after);
	if (lost) // a probe costs less with a full ring
		for (Trial &trial : trials)
			trial.rounds.pop_back();
}

// The mean of start and end, because the loops' costs drift, too.
recording_file::CalibratedCosts mean(recording_file::CalibratedCosts start, const recording_file::CalibratedCosts &end)
{
	for (auto &[what, cost] : start)
		if (const auto found = end.find(what); found != end.end())
			cost.median = (cost.median + found->second.median) / 2;
	return start;
}

} // namespace

card::KeptFactors measure_factors(const FactorOptions &options)
{
	const card::CardOptions card_options = default_card();
	const RaisedPriority raised;
	std::vector<Trial> trials = prepare(card_options);
	TrialCard card(card_options);
	const recording_file::CalibratedCosts start = card.calibrate().costs;
	const auto begin = Clock::now();
	const auto share = [&] {
		return std::chrono::duration<double>(Clock::now() - begin).count() / options.seconds;
	};
	for (std::size_t round = 0; round < min_rounds || share() < 1; ++round) {
		if (options.on_progress)
			options.on_progress(std::min(share(), 1.0));
		make_round(card, trials);
	}
	const recording_file::CalibratedCosts loops = mean(start, card.calibrate().costs);
	card::KeptFactors result;
	for (const Trial &trial : trials)
		if (!trial.rounds.empty())
			result.loads.push_back(trial.cost(loops));
	result.factors = card::fit_factors(result.loads);
	return result;
}

} // namespace monitor::pilot
