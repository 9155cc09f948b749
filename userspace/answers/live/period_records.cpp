// SPDX-License-Identifier: MIT
#include "period_records.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "monitor/card.h"

namespace monitor::live {
namespace {

using analyze::Thread;
using analyze::Usage;

std::uint64_t pair(std::uint64_t first, std::uint64_t second)
{
	return (first & 0xffffffff) | second << 32;
}

// Saturates each count.
std::uint64_t pair_of_counts(std::uint64_t first, std::uint64_t second)
{
	constexpr std::uint64_t largest = std::numeric_limits<std::uint32_t>::max();
	return pair(std::min(first, largest), std::min(second, largest));
}

// A row: a thread, or the sum of several.
struct PeriodRow {
	std::uint32_t flags = 0;
	std::int32_t tid = 0, tgid = 0;
	std::string name;
	std::uint64_t started = 0, cgroup = 0;
	Usage usage;
};

class PeriodWriter {
public:
	PeriodWriter(record::ControlStream &to, const analyze::ThreadFold &fold, const PeriodSums &sums)
	    : to_(to), fold_(fold), sums_(sums)
	{
	}

	void write(const PeriodFacts &facts)
	{
		time_shift_ = facts.time_shift;
		threads_since_ = facts.threads_since;
		post(EDC_ID_STATISTICS_PERIOD, fold_.window_begin(), facts.is_lossy ? EDC_PERIOD_LOSSY : 0,
		     {fold_.window_end() + time_shift_, facts.lost, facts.late, facts.recorder_ns});
		for (const auto &[id, count] : facts.events)
			post(EDC_ID_STATISTICS_EVENTS, id, {count});
		for (const auto &[id, count] : facts.outside)
			post(EDC_ID_STATISTICS_EVENTS, id | EDC_EVENTS_OUTSIDE, {count});
		for (const analyze::Cpu &cpu : fold_.cpus())
			write_cpu(cpu);
		choose_rows();
		for (const PeriodRow &row : rows_)
			write_row(row);
		for (const auto &[key, sum] : sums_.calls()) {
			post(analyze::is_compat(key.call) ? EDC_ID_STATISTICS_CALLS_OTHER_ABI : EDC_ID_STATISTICS_CALLS,
			     key.call, {pair(row_of(key.owner), 0), sum.count, sum.failed, sum.total, sum.longest});
			write_buckets(sum.lengths);
		}
		for (const auto &[key, sum] : sums_.sleeps()) {
			const std::uint32_t waker = key.waker.is_nobody() ? EDC_NO_ROW : row_of(key.waker);
			post(analyze::is_compat(key.call) ? EDC_ID_STATISTICS_SLEEPS_OTHER_ABI
							  : EDC_ID_STATISTICS_SLEEPS,
			     key.call,
			     {pair(row_of(key.owner), waker), pair(key.irq, 0), sum.count, sum.total, sum.longest});
			write_buckets(sum.lengths);
			if (const PeriodSums::Sums::Transfers &transfers = sum.transfers; transfers.count)
				post(EDC_ID_STATISTICS_TRANSFERS, 0,
				     {transfers.count, transfers.total, transfers.longest});
		}
		if (sums_.activities())
			write_activities(*sums_.activities());
	}

private:
	void post(std::uint32_t id, std::uint64_t time, std::uint32_t argument,
		  std::initializer_list<std::uint64_t> words)
	{
		time += time_shift_;
		to_.repeat(edc_token(id, EDC_MODE_KERNEL, time, argument), {words.begin(), words.size()}, time);
	}
	void post(std::uint32_t id, std::uint32_t argument, std::initializer_list<std::uint64_t> words)
	{
		post(id, fold_.window_end(), argument, words);
	}

	void write_cpu(const analyze::Cpu &cpu)
	{
		const auto &ticks = cpu.usage.ticks;
		post(EDC_ID_STATISTICS_CPU, cpu.number,
		     {ticks[0], ticks[1], ticks[2], ticks[3], ticks[4], ticks[5], cpu.runner_unknown});
	}

	void write_row(const PeriodRow &row)
	{
		std::array<char, 16> name{};
		row.name.copy(name.data(), name.size() - 1);
		const auto comm = std::bit_cast<std::array<std::uint64_t, 2>>(name);
		const Usage &usage = row.usage;
		post(EDC_ID_STATISTICS_THREAD, row.flags,
		     {pair(static_cast<std::uint32_t>(row.tid), static_cast<std::uint32_t>(row.tgid)), comm[0], comm[1],
		      row.started ? row.started + time_shift_ : threads_since_, row.cgroup, usage.waiting,
		      usage.blocked});
		const auto &ticks = usage.ticks;
		if (usage.cpu() != 0)
			post(EDC_ID_STATISTICS_USAGE, 0, {ticks[0], ticks[1], ticks[2], ticks[3], ticks[4], ticks[5]});
		if (usage.counts() != 0)
			post(EDC_ID_STATISTICS_COUNTS, 0,
			     {pair_of_counts(usage.voluntary, usage.involuntary),
			      pair_of_counts(usage.migrations, usage.syscalls),
			      pair_of_counts(usage.minor_faults, usage.major_faults)});
		if (usage.throttled != 0)
			post(EDC_ID_STATISTICS_THROTTLED, 0, {usage.throttled});
	}

	void write_activities(const PeriodActivities &all)
	{
		const activities::Unpaired unpaired = all.unpaired();
		post(EDC_ID_STATISTICS_OPEN, 0, {all.open(), unpaired.begins, unpaired.ends});
		for (const auto &[key, sum] : all.sums()) {
			post(EDC_ID_STATISTICS_ACTIVITIES, key.activity,
			     {pair(row_of(key.owner), key.caller), sum.count, sum.left, sum.total, sum.exclusive,
			      sum.longest});
			const activities::Span &inclusive = sum.inclusive;
			post(EDC_ID_STATISTICS_INCLUSIVE, 0,
			     {inclusive.ticks, inclusive.cpu, inclusive.waiting, inclusive.blocked});
			write_buckets(sum.lengths);
		}
	}

	void write_buckets(const CoarseHistogram &lengths)
	{
		lengths.visit_powers([this](unsigned power, std::span<const std::uint64_t> counts) {
			for (std::size_t i = 0; i < counts.size(); i += 4) {
				const std::uint64_t low = pair_of_counts(counts[i], counts[i + 1]),
						    high = pair_of_counts(counts[i + 2], counts[i + 3]);
				if (low | high)
					post(EDC_ID_STATISTICS_BUCKETS,
					     static_cast<std::uint32_t>(power * counts.size() + i), {low, high});
			}
		});
	}

	// Threads that did something, and those whose names are needed for calls and sleeps.
	std::vector<const Thread *> threads_of_interest() const
	{
		std::unordered_set<const Thread *> named;
		for (const auto *all : {&sums_.calls(), &sums_.sleeps()})
			for (const auto &[key, sum] : *all)
				for (const PeriodKey &one : {key.owner, key.waker})
					if (one.thread())
						named.insert(one.thread());
		if (sums_.activities())
			for (const auto &[key, sum] : sums_.activities()->sums())
				if (key.owner.thread())
					named.insert(key.owner.thread());
		std::vector<const Thread *> chosen;
		for (const Thread &thread : fold_.threads()) {
			if (thread.tid == 0 || (thread.usage.is_empty() && !named.contains(&thread)))
				continue;
			chosen.push_back(&thread);
			named.insert(&fold_.leader(thread));
		}
		const std::unordered_set<const Thread *> already_chosen(chosen.begin(), chosen.end());
		for (const Thread &thread : fold_.threads())
			if (thread.tid != 0 && named.contains(&thread) && !already_chosen.contains(&thread))
				chosen.push_back(&thread);
		return chosen;
	}

	void choose_rows()
	{
		std::vector<const Thread *> chosen = threads_of_interest();
		if (chosen.size() > max_rows)
			std::ranges::stable_sort(chosen, [](const Thread *a, const Thread *b) {
				const std::uint64_t left = a->usage.cpu(), right = b->usage.cpu();
				return left != right ? left > right : a->usage.waiting > b->usage.waiting;
			});
		Usage others = sums_.ended()[PeriodSums::other].usage;
		for (const Thread *thread : chosen) {
			// A row for each of its cgroups; calls and sleeps belong to the last one, its current cgroup.
			fold_.visit_cgroups(*thread, [&](std::uint64_t cgroup, const Usage &usage) {
				if (rows_.size() < max_rows) {
					row_indices_.insert_or_assign(thread, static_cast<std::uint32_t>(rows_.size()));
					rows_.push_back(row_of_thread(*thread, cgroup, usage));
				} else {
					others += usage;
				}
			});
		}
		first_ended_ = static_cast<std::uint32_t>(rows_.size());
		rows_.push_back({EDC_ROW_OTHER, -1, -1, "other", 0, 0, others});
		for (std::size_t i = 1; i < sums_.ended().size(); ++i) {
			const PeriodSums::Ended &ended = sums_.ended()[i];
			rows_.push_back({EDC_ROW_ENDED | flags_of(ended.in_tree, ended.is_kernel, ended.is_filtered),
					 -1, -1, ended.command, 0, ended.cgroup, ended.usage});
		}
	}

	static std::uint32_t flags_of(bool in_tree, bool is_kernel, bool is_filtered)
	{
		return (in_tree ? EDC_ROW_IN_COMMAND : 0u) | (is_kernel ? EDC_ROW_KERNEL : 0u) |
		       (is_filtered ? EDC_ROW_FILTERED : 0u);
	}

	static PeriodRow row_of_thread(const Thread &thread, std::uint64_t cgroup, const Usage &usage)
	{
		return {flags_of(thread.in_tree, thread.is_kernel, thread.filtered) |
			    (thread.hidden ? EDC_ROW_HIDDEN : 0u),
			thread.tid,
			thread.tgid,
			thread.name,
			thread.born,
			cgroup,
			usage};
	}

	std::uint32_t row_of(PeriodKey key) const
	{
		if (key.is_ended())
			return first_ended_ + static_cast<std::uint32_t>(key.index());
		const auto found = row_indices_.find(key.thread());
		return found == row_indices_.end() ? first_ended_ : found->second;
	}

	record::ControlStream &to_;
	const analyze::ThreadFold &fold_;
	const PeriodSums &sums_;
	std::uint64_t time_shift_ = 0, threads_since_ = 0;
	std::vector<PeriodRow> rows_;
	std::unordered_map<const Thread *, std::uint32_t> row_indices_; // in rows_
	std::uint32_t first_ended_ = 0;                                 // index in rows_: `other`, then ended threads
};

} // namespace

void write_period(record::ControlStream &to, const PeriodFacts &facts, const analyze::ThreadFold &fold,
		  const PeriodSums &sums)
{
	PeriodWriter(to, fold, sums).write(facts);
}

} // namespace monitor::live
