// SPDX-License-Identifier: MIT
#include "samples.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/ranges.h"

namespace monitor::analyze {

SampleFold::SampleFold(const ThreadFold &fold) : fold_(fold)
{
	if (!fold.kinds().has(EventMeaning::sample))
		throw Error("this recording has no samples: record with --sample-every, or --trigger '... => sample'");
}

void Spreads::add(std::uint64_t ticks)
{
	min = std::min(min, ticks);
	max = std::max(max, ticks);
	histogram.add(ticks);
}

void SampleFold::sample(const Cpu &cpu, const Thread &thread, const Sample &sample)
{
	++samples_;
	if (fold_.is_selected(thread)) {
		SampledProcess &process = by_thread_[&thread];
		++(sample.doing == EDC_DOING_USER     ? process.user
		   : sample.doing == EDC_DOING_KERNEL ? process.kernel
						      : process.idle);
	}
	first_ = std::min(first_, sample.number);
	last_ = std::max(last_, sample.number);
	const auto [known, is_first_of_cpu] = by_cpu_.try_emplace(cpu.number);
	SampledCpu &sampled = known->second;
	++sampled.samples;
	sampled.idle += sample.doing == EDC_DOING_IDLE;
	if (!is_first_of_cpu && sampled.last == sample.number)
		return;
	++sampled.rounds;
	sampled.last = sample.number;
	if (is_first_of_cpu)
		sampled.first = sample.number;
	const auto [found, is_first] = open_.try_emplace(sample.number, Round{sample.time, sample.time, 0});
	Round &round = found->second;
	round.first = std::min(round.first, sample.time);
	round.last = std::max(round.last, sample.time);
	++round.cpus;
	if (open_.size() <= max_open)
		return;
	close(open_.begin()->second);
	open_.erase(open_.begin());
}

void SampleFold::close(const Round &round)
{
	++rounds_;
	if (round.cpus < cpus_)
		return;
	if (round.cpus > std::exchange(cpus_, round.cpus)) {
		complete_ = 0;
		spreads_ = {};
	}
	++complete_;
	if (cpus_ > 1)
		spreads_.add(round.last - round.first);
}

void SampleFold::finish()
{
	for (const auto &[number, round] : open_)
		close(round);
	open_.clear();
}

const SampledCpu *SampleFold::cpu(std::uint32_t number) const
{
	const auto found = by_cpu_.find(number);
	return found == by_cpu_.end() ? nullptr : &found->second;
}

std::uint64_t SampleFold::missing(const SampledCpu &cpu) const
{
	if (last_ - first_ < 2)
		return 0;
	const std::uint64_t expected = last_ - first_ - 1;
	const std::uint64_t answered = cpu.rounds - (cpu.first == first_) - (cpu.last == last_);
	return expected - std::min(answered, expected);
}

std::uint64_t SampleFold::missing() const
{
	return sum_of_all<std::uint64_t>(by_cpu_, [&](const auto &each) { return missing(each.second); });
}

// The leader of a thread is known only when the whole trace has been read.
std::vector<SampledProcess> SampleFold::processes() const
{
	std::unordered_map<const Thread *, SampledProcess> by_leader; // null: of idle, which each CPU has
	for (const auto &[thread, sampled] : by_thread_) {
		const Thread &leader = fold_.leader(*thread);
		SampledProcess &process = by_leader[thread->tid == 0 ? nullptr : &leader];
		process.leader = &leader;
		process.user += sampled.user;
		process.kernel += sampled.kernel;
		process.idle += sampled.idle;
	}
	auto all = list_of<SampledProcess>(by_leader, [](const auto &each) { return each.second; });
	std::ranges::sort(all, [](const SampledProcess &a, const SampledProcess &b) {
		return std::tuple(b.samples(), a.leader->tid) < std::tuple(a.samples(), b.leader->tid);
	});
	return all;
}

} // namespace monitor::analyze
