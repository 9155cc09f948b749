// SPDX-License-Identifier: MIT
#include "timeline.h"

#include <bit>
#include <numeric>
#include <tuple>

#include "base/ranges.h"
#include "groups.h"
#include "picture_bytes.h"

namespace monitor::view {
namespace {

using analyze::Cpu;
using analyze::Mode;
using analyze::Thread;

constexpr std::uint64_t min_base_ticks = 256;
constexpr std::uint64_t max_bins = std::uint64_t(1) << 31; // of level 0: a slice has 32 bits for its bin
constexpr std::uint64_t max_mode_cells = 4'000'000;        // for all CPUs
constexpr std::uint64_t min_mode_bins = 64, max_mode_bins = 16384;
constexpr std::size_t slices_between_checks = 1 << 16; // between checks of their memory

} // namespace

std::uint64_t ThreadLanes::ran() const
{
	return sum_of_all<std::uint64_t>(stays, [](const Stay &stay) { return stay.runs.busy(); });
}

std::vector<Slice> ThreadLanes::runs(unsigned level, std::uint64_t from_bin, std::uint64_t to_bin,
				     const Group *group) const
{
	std::vector<Slice> slices;
	for (const Stay &stay : stays) {
		if (group && !group->has(stay))
			continue;
		const std::vector<Slice> own = stay.runs.slices(level, from_bin, to_bin);
		slices.insert(slices.end(), own.begin(), own.end());
	}
	return slices;
}

Timeline::Timeline(std::uint64_t begin, std::uint64_t end, std::size_t cpus, std::size_t max_bytes, std::uint64_t bins)
    : begin_(begin), ticks_(std::max(end, begin + 1) - begin),
      base_ticks_(std::max(min_base_ticks, std::bit_ceil(ticks_ / max_bins + 1))), max_bytes_(max_bytes)
{
	while (cpus_level_ + 1 < levels && ticks_ / (base_ticks_ << 2 * cpus_level_) > bins)
		++cpus_level_;
	threads_level_ = cpus_level_;
	const std::uint64_t mode_bins =
	    std::clamp(max_mode_cells / (std::max<std::size_t>(cpus, 1) * picture_modes), min_mode_bins, max_mode_bins);
	mode_bin_ticks_ = ticks_ / mode_bins + 1;
}

Timeline::Timeline(const Timeline &whole, unsigned first_level, std::size_t max_bytes, bool of_threads)
    : begin_(whole.begin_), ticks_(whole.ticks_), base_ticks_(whole.base_ticks_), mode_bin_ticks_(0),
      max_bytes_(max_bytes), cpus_level_(first_level), threads_level_(first_level), of_threads_(of_threads)
{
}

Timeline::Timeline(CacheReader &reader)
    : begin_(reader.number<std::uint64_t>()), ticks_(reader.number<std::uint64_t>()),
      base_ticks_(reader.number<std::uint64_t>()), mode_bin_ticks_(reader.number<std::uint64_t>()),
      max_bytes_(reader.number<std::uint64_t>()), cpus_level_(reader.number<std::uint32_t>()),
      threads_level_(reader.number<std::uint32_t>())
{
	for (auto cpus = reader.number<std::uint64_t>(); cpus-- > 0;) {
		const auto number = reader.number<std::uint32_t>();
		Lane lane(base_ticks_, reader);
		cpus_.push_back({number, std::move(lane), reader.array<std::array<std::uint64_t, picture_modes>>()});
	}
	for (auto threads = reader.number<std::uint64_t>(); threads-- > 0;) {
		ThreadLanes thread;
		thread.tid = reader.number<std::int32_t>();
		thread.tgid = reader.number<std::int32_t>();
		thread.number = reader.number<std::uint64_t>();
		thread.first = reader.number<std::uint64_t>();
		thread.cpu = reader.number<std::uint32_t>();
		thread.name = reader.text();
		thread.command = reader.text();
		thread.in_tree = reader.number<std::uint8_t>() != 0;
		for (auto stays = reader.number<std::uint64_t>(); stays-- > 0;) {
			const auto first = reader.number<std::uint64_t>(), cgroup = reader.number<std::uint64_t>();
			thread.stays.push_back({first, cgroup, Lane(base_ticks_, reader)});
		}
		thread.waits = Lane(base_ticks_, reader);
		threads_.push_back(std::move(thread));
	}
	hidden_ = reader.array<std::int32_t>();
	sort_by_tid();
}

void Timeline::save(CacheWriter &writer) const
{
	for (const std::uint64_t number :
	     {begin_, ticks_, base_ticks_, mode_bin_ticks_, static_cast<std::uint64_t>(max_bytes_)})
		writer.number(number);
	writer.number(std::uint32_t{cpus_level_});
	writer.number(std::uint32_t{threads_level_});
	writer.number(static_cast<std::uint64_t>(cpus_.size()));
	for (const CpuLane &cpu : cpus_) {
		writer.number(cpu.number);
		cpu.threads.save(writer);
		writer.array(cpu.modes);
	}
	writer.number(static_cast<std::uint64_t>(threads_.size()));
	for (const ThreadLanes &thread : threads_) {
		writer.number(thread.tid);
		writer.number(thread.tgid);
		writer.number(static_cast<std::uint64_t>(thread.number));
		writer.number(thread.first);
		writer.number(thread.cpu);
		writer.text(thread.name);
		writer.text(thread.command);
		writer.number(static_cast<std::uint8_t>(thread.in_tree));
		writer.number(static_cast<std::uint64_t>(thread.stays.size()));
		for (const Stay &stay : thread.stays) {
			writer.number(stay.first);
			writer.number(stay.cgroup);
			stay.runs.save(writer);
		}
		thread.waits.save(writer);
	}
	writer.array(hidden_);
}

std::size_t Timeline::add_cpu(std::uint32_t number)
{
	cpu_index_.resize(std::max<std::size_t>(cpu_index_.size(), number + std::size_t{1}), no_index);
	cpu_index_[number] = static_cast<std::uint32_t>(cpus_.size());
	cpus_.push_back({number, Lane(base_ticks_), {}});
	cpus_.back().threads.drop_below(cpus_level_);
	unfound_.emplace_back();
	if (mode_bin_ticks_ == 0)
		return cpu_index_[number];
	while ((ticks_ / mode_bin_ticks_ + 1) * cpus_.size() * picture_modes > max_mode_cells &&
	       ticks_ / mode_bin_ticks_ > min_mode_bins)
		coarsen_modes(); // there are more CPUs than the recording said
	cpus_.back().modes.resize(ticks_ / mode_bin_ticks_ + 1);
	return cpu_index_[number];
}

std::uint32_t Timeline::thread_index_of(const Thread &thread, std::uint32_t cpu, std::uint64_t ticks)
{
	auto &recent = recent_[static_cast<std::uint32_t>(thread.tid) % recent_.size()];
	if (recent.first == &thread)
		return recent.second;
	const auto [found, is_new] = thread_indices_.try_emplace(&thread, static_cast<std::uint32_t>(threads_.size()));
	if (is_new) {
		threads_.push_back({thread.tid, thread.tgid, 0, ticks, cpu, {}, {}, false, {}, Lane(base_ticks_)});
		threads_.back().waits.drop_below(threads_level_);
	}
	recent = {&thread, found->second};
	return found->second;
}

// Usage delivered until a thread moves belongs to the cgroup that it leaves (ThreadFold::visit_cgroups()).
Lane &Timeline::runs_of(std::uint32_t index, const Thread &thread, std::uint64_t ticks)
{
	std::vector<Stay> &stays = threads_[index].stays;
	while (stays.size() <= thread.left.size()) {
		stays.push_back({ticks, 0, Lane(base_ticks_)});
		stays.back().runs.drop_below(threads_level_);
	}
	return stays.back().runs;
}

void Timeline::coarsen_modes()
{
	mode_bin_ticks_ *= 2;
	for (CpuLane &cpu : cpus_) {
		for (std::size_t bin = 0; bin < cpu.modes.size(); ++bin)
			for (std::size_t mode = 0; mode < picture_modes; ++mode) {
				const std::uint64_t ticks = std::exchange(cpu.modes[bin][mode], 0);
				cpu.modes[bin / 2][mode] += ticks;
			}
		cpu.modes.resize(std::min<std::size_t>(cpu.modes.size(), ticks_ / mode_bin_ticks_ + 1));
		cpu.modes.shrink_to_fit();
		cpu.bin /= 2;
		cpu.bin_begin = cpu.bin * mode_bin_ticks_;
	}
}

// Calls add(bin, ticks) for each bin of modes that a time overlaps.
template <class Add> void Timeline::each_bin(CpuLane &lane, std::uint64_t from, std::uint64_t to, const Add &add) const
{
	if (mode_bin_ticks_ == 0)
		return;
	if (from - lane.bin_begin >= mode_bin_ticks_) { // also true if `from` is earlier
		lane.bin = from / mode_bin_ticks_;
		lane.bin_begin = lane.bin * mode_bin_ticks_;
	}
	while (from < to) {
		const std::uint64_t end = std::min(lane.bin_begin + mode_bin_ticks_, to);
		add(lane.modes[lane.bin], end - from);
		from = end;
		if (from == lane.bin_begin + mode_bin_ticks_) {
			++lane.bin;
			lane.bin_begin = from;
		}
	}
}

void Timeline::add_run(CpuLane &lane, const Thread &thread, std::uint64_t from, std::uint64_t to)
{
	if (lane.thread != &thread) {
		lane.thread = &thread;
		lane.thread_index = thread_index_of(thread, lane.number, from);
	}
	lane.threads.add(from, to, lane.thread_index);
	if (of_threads_)
		runs_of(lane.thread_index, thread, from).add(from, to, lane.number);
	if (++adds_ % slices_between_checks == 0)
		limit_memory();
}

// Another thread may have had the CPU.
void Timeline::add_hidden_run(CpuLane &lane, const Thread &thread, std::uint64_t from, std::uint64_t to)
{
	lane.threads.add(from, to, key_unknown);
	if (std::ranges::find(hidden_, thread.tid) == hidden_.end())
		hidden_.push_back(thread.tid);
}

void Timeline::spent(const Cpu &cpu, std::uint64_t from, std::uint64_t to, Mode in_mode, bool is_idle)
{
	const std::size_t index = index_of(cpu);
	CpuLane &lane = cpus_[index];
	const Thread *thread = cpu.current;
	from -= begin_;
	to -= begin_;
	const std::size_t mode = is_idle ? mode_idle : static_cast<std::size_t>(in_mode);
	each_bin(lane, from, to, [mode](auto &bin, std::uint64_t ticks) { bin[mode] += ticks; });
	std::vector<Interval> &unfound = unfound_[index];
	if (!thread && !unfound.empty() && unfound.back().to == from)
		unfound.back().to = to;
	else if (!thread)
		unfound.push_back({from, to});
	else if (thread->hidden)
		add_hidden_run(lane, *thread, from, to);
	else if (thread->tid != 0 || !is_idle)
		add_run(lane, *thread, from, to);
}

void Timeline::found(const Cpu &cpu, const Thread &thread)
{
	const std::size_t index = index_of(cpu);
	for (const Interval &interval : unfound_[index])
		if (thread.tid != 0)
			add_run(cpus_[index], thread, interval.from, interval.to);
		else
			each_bin(cpus_[index], interval.from, interval.to, [](auto &bin, std::uint64_t ticks) {
				bin[static_cast<std::size_t>(Mode::unknown)] -= ticks;
				bin[mode_idle] += ticks;
			});
	unfound_[index].clear();
}

// These were the last ticks, so they are taken from the last bins.
void Timeline::moved(const Cpu &cpu, Mode from, Mode to, std::uint64_t ticks)
{
	CpuLane &lane = cpus_[index_of(cpu)];
	for (std::size_t bin = std::min<std::size_t>(lane.bin + 1, lane.modes.size()); ticks && bin-- > 0;) {
		auto &modes = lane.modes[bin];
		const std::uint64_t part = std::min(ticks, modes[static_cast<std::size_t>(from)]);
		modes[static_cast<std::size_t>(from)] -= part;
		modes[static_cast<std::size_t>(to)] += part;
		ticks -= part;
	}
}

void Timeline::waited(const Thread &thread, std::uint64_t from, std::uint64_t to)
{
	if (of_threads_)
		threads_[thread_index_of(thread, thread.cpu, from - begin_)].waits.add(from - begin_, to - begin_, 0);
}

void Timeline::lost(const Cpu &cpu, std::uint64_t from, std::uint64_t to)
{
	const std::size_t index = index_of(cpu);
	add_unfound_as_unknown(index);
	each_bin(cpus_[index], from - begin_, to - begin_,
		 [](auto &bin, std::uint64_t ticks) { bin[static_cast<std::size_t>(Mode::unknown)] += ticks; });
	cpus_[index].threads.add(from - begin_, to - begin_, key_unknown);
}

// Offline time is in none of the modes.
void Timeline::offline(const Cpu &cpu, std::uint64_t from, std::uint64_t to)
{
	cpus_[index_of(cpu)].threads.add(from - begin_, to - begin_, key_offline);
}

// No thread was found for that time.
void Timeline::add_unfound_as_unknown(std::size_t cpu)
{
	for (const Interval &interval : unfound_[cpu])
		cpus_[cpu].threads.add(interval.from, interval.to, key_unknown);
	unfound_[cpu].clear();
}

Timeline Timeline::modes_only() const
{
	Timeline made(begin_, begin_ + ticks_, 1, 0);
	made.mode_bin_ticks_ = mode_bin_ticks_;
	for (const CpuLane &cpu : cpus_)
		made.cpus_.push_back({cpu.number, Lane(base_ticks_), cpu.modes});
	std::ranges::sort(made.cpus_, {}, &CpuLane::number);
	return made;
}

std::size_t Timeline::bytes_of_cpus() const
{
	std::size_t sum = 0;
	for (const CpuLane &cpu : cpus_)
		sum += cpu.threads.bytes();
	return sum;
}

std::size_t Timeline::bytes_of_threads() const
{
	std::size_t sum = 0;
	for (const ThreadLanes &thread : threads_) {
		sum += thread.waits.bytes();
		for (const Stay &stay : thread.stays)
			sum += stay.runs.bytes();
	}
	return sum;
}

void Timeline::limit_memory()
{
	while (cpus_level_ + 1 < levels && bytes_of_cpus() > max_bytes_ / 2) {
		++cpus_level_;
		for (CpuLane &cpu : cpus_)
			cpu.threads.drop_below(cpus_level_);
	}
	while (threads_level_ + 1 < levels && bytes_of_threads() > max_bytes_) {
		++threads_level_;
		for (ThreadLanes &thread : threads_) {
			thread.waits.drop_below(threads_level_);
			for (Stay &stay : thread.stays)
				stay.runs.drop_below(threads_level_);
		}
	}
}

void Timeline::finish(const analyze::ThreadFold &fold)
{
	for (std::size_t cpu = 0; cpu < cpus_.size(); ++cpu) {
		add_unfound_as_unknown(cpu);
		cpus_[cpu].threads.finish();
	}
	std::ranges::sort(cpus_, {}, &CpuLane::number);
	std::size_t number = 0;
	for (const Thread &thread : fold.threads()) {
		const auto found = thread_indices_.find(&thread);
		++number;
		if (found == thread_indices_.end())
			continue;
		ThreadLanes &lanes = threads_[found->second];
		lanes.tid = thread.tid;
		lanes.tgid = thread.tgid;
		lanes.number = number - 1;
		lanes.name = thread.name;
		lanes.command = fold.leader(thread).name;
		lanes.in_tree = thread.in_tree;
		for (std::size_t stay = 0; stay < lanes.stays.size(); ++stay) {
			lanes.stays[stay].cgroup =
			    stay < thread.left.size() ? thread.left[stay].cgroup : fold.cgroup_of(thread);
			lanes.stays[stay].runs.finish();
		}
		lanes.waits.finish();
	}
	sort_by_tid();
	limit_memory();
}

void Timeline::sort_by_tid()
{
	by_tid_.resize(threads_.size());
	std::iota(by_tid_.begin(), by_tid_.end(), std::uint32_t{0});
	std::ranges::sort(by_tid_, {}, [this](std::uint32_t index) {
		const ThreadLanes &thread = threads_[index];
		return std::tuple(thread.tid, thread.tid == 0 ? thread.cpu : 0, thread.first);
	});
}

std::uint32_t Timeline::find(std::int32_t tid, std::uint32_t cpu, std::uint64_t ticks) const
{
	const std::uint32_t of_cpu = tid == 0 ? cpu : 0;
	const auto is_same = [&](std::uint32_t index) {
		return threads_[index].tid == tid && (tid != 0 || threads_[index].cpu == of_cpu);
	};
	auto after = std::ranges::upper_bound(by_tid_, std::tuple(tid, of_cpu, ticks), {}, [this](std::uint32_t index) {
		const ThreadLanes &thread = threads_[index];
		return std::tuple(thread.tid, thread.tid == 0 ? thread.cpu : 0, thread.first);
	});
	if (after != by_tid_.begin() && is_same(*std::prev(after)))
		return *std::prev(after);
	return after != by_tid_.end() && is_same(*after) ? *after : no_index;
}

} // namespace monitor::view
