// SPDX-License-Identifier: MIT
#include "witness.h"

#include <algorithm>
#include <set>

namespace monitor::check {
namespace {

constexpr const char *moments[] = {"start", "end"};

const std::vector<CallWitness> &at(const RecordingInfo &info, std::size_t moment)
{
	return moment == 0 ? info.witness.start : info.witness.end;
}

// A CPU is witnessed at start or end if the statement holds there; required for all CPUs that the recorder could use,
// at both times.
class Witnessed {
public:
	explicit Witnessed(const RecordingInfo &info)
	{
		for (std::size_t moment = 0; moment < 2; ++moment)
			for (const CallWitness &cpu : at(info, moment))
				left_.insert(cpu.cpu);
	}
	void add(std::size_t moment, const CallWitness &cpu)
	{
		left_.erase(cpu.cpu);
		cpus_.insert(cpu.cpu);
		seen_[moment] = true;
	}
	bool all() const { return left_.empty() && seen_[0] && seen_[1]; }
	std::size_t cpus() const { return cpus_.size(); }
	std::string missing_text() const
	{
		for (std::size_t moment = 0; moment < 2; ++moment)
			if (!seen_[moment])
				return fmt::format("none at the {}", moments[moment]);
		return fmt::format("none on {} of {} CPUs", left_.size(), left_.size() + cpus_.size());
	}

private:
	std::set<unsigned> left_, cpus_;
	bool seen_[2] = {};
};

} // namespace

Statement judge_calls(const RecordingInfo &info)
{
	Witnessed witnessed(info);
	std::uint64_t calls = 0;
	for (std::size_t moment = 0; moment < 2; ++moment)
		for (const CallWitness &cpu : at(info, moment)) {
			const std::uint64_t exits = info.has_counts_only() ? cpu.entries : cpu.exits;
			const bool fewer = cpu.entries < cpu.calls || exits < cpu.calls;
			const bool more = cpu.entries > cpu.calls || exits > cpu.calls;
			if (fewer || (cpu.alone && more))
				return Statement(
				    "calls_witnessed", Verdict::fails,
				    "system calls: at the {} {} were made on CPU {}, the probes saw {} entries{}",
				    moments[moment], cpu.calls, cpu.cpu, cpu.entries,
				    info.has_counts_only() ? "" : fmt::format(" and {} exits", exits));
			if (!cpu.alone)
				continue; // calls of other threads were seen, too
			witnessed.add(moment, cpu);
			calls += cpu.calls;
		}
	if (!witnessed.all())
		return Statement("calls_witnessed", Verdict::not_witnessed,
				 "system calls: {} were counted apart from other threads' calls",
				 witnessed.missing_text());
	return Statement("calls_witnessed", Verdict::holds,
			 "system calls: {} were made on {} CPUs at the start and the end, the probes saw exactly these",
			 calls, witnessed.cpus());
}

namespace {

Statement judge_times(const RecordingInfo &info, const trace::Clock &clock)
{
	Witnessed witnessed(info);
	std::uint64_t brackets = 0, furthest = 0, narrowest = ~0ull;
	for (std::size_t moment = 0; moment < 2; ++moment)
		for (const CallWitness &cpu : at(info, moment)) {
			if (!cpu.brackets)
				continue;
			if (cpu.outside > cpu.allowed)
				return Statement("probe_times", Verdict::fails,
						 "probes' times: at the {}, tokens on CPU {} are up to {} ns outside "
						 "the TSC reads around their calls, the probes' clock was off by {} ns",
						 moments[moment], cpu.cpu, clock.to_ns(cpu.outside),
						 clock.to_ns(cpu.allowed));
			witnessed.add(moment, cpu);
			brackets += cpu.brackets;
			furthest = std::max(furthest, cpu.outside);
			narrowest = std::min(narrowest, cpu.width);
		}
	if (!witnessed.all())
		return Statement("probe_times", Verdict::not_witnessed,
				 "probes' times: {} were compared with TSC reads around calls",
				 witnessed.missing_text());
	return Statement("probe_times", Verdict::holds,
			 "probes' times: the tokens of {} system calls on {} CPUs are between the TSC reads around "
			 "them, at least {} ns apart, or at most {} ns outside",
			 brackets, witnessed.cpus(), clock.to_ns(narrowest), clock.to_ns(furthest));
}

} // namespace

void judge_witness(const RecordingInfo &info, const trace::Clock &clock, Statements &statements)
{
	if (info.card == "user" || !info.present)
		return;
	if (!info.has_program("sys_enter"))
		return statements.add(
		    "probe_times", Verdict::not_witnessed,
		    "probes' times: system calls were not recorded, so there are no tokens to compare");
	statements.push_back(judge_calls(info));
	statements.push_back(judge_times(info, clock));
}

} // namespace monitor::check
