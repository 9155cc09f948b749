// SPDX-License-Identifier: MIT
#include "samples.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"

namespace monitor::analyze {

SampleFold::SampleFold(const Machine &machine) : machine_(machine)
{
	if (!machine.kinds().has(Kind::sample))
		throw Error("this recording has no samples: record with --sample-every, which needs the kernel module");
}

void SampleFold::sample(const Cpu &, const Thread &thread, const Sample &sample)
{
	++samples_;
	SampledProcess &process = by_thread_[&thread];
	process.leader = &thread;
	++(sample.doing == EDC_DOING_USER     ? process.user
	   : sample.doing == EDC_DOING_KERNEL ? process.kernel
					      : process.idle);
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
	++rounds_by_cpus_[round.cpus];
	spreads_.add(round.last - round.first);
	largest_spread_ = std::max(largest_spread_, round.last - round.first);
}

void SampleFold::finish()
{
	for (const auto &[number, round] : open_)
		close(round);
	open_.clear();
	complete_ = rounds_by_cpus_.empty() ? 0 : rounds_by_cpus_.rbegin()->second;
}

// The leader of a thread is known only when the whole trace has been read.
std::vector<SampledProcess> SampleFold::processes() const
{
	std::unordered_map<const Thread *, SampledProcess> by_leader;
	SampledProcess idle;
	for (const auto &[thread, sampled] : by_thread_) {
		if (!thread->selected)
			continue;
		const Thread &leader = machine_.leader(*thread);
		SampledProcess &process = thread->tid == 0 ? idle : by_leader[&leader];
		process.leader = &leader;
		process.user += sampled.user;
		process.kernel += sampled.kernel;
		process.idle += sampled.idle;
	}
	std::vector<SampledProcess> all;
	all.reserve(by_leader.size() + 1);
	for (const auto &[leader, process] : by_leader)
		all.push_back(process);
	if (idle.leader)
		all.push_back(idle);
	std::ranges::sort(all, [](const SampledProcess &a, const SampledProcess &b) {
		return std::tuple(b.samples(), a.leader->tid) < std::tuple(a.samples(), b.leader->tid);
	});
	return all;
}

} // namespace monitor::analyze
