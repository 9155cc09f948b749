// SPDX-License-Identifier: MIT
#include "counter_fold.h"

#include <algorithm>
#include <utility>

#include "base/grow.h"
#include "monitor/ratio.h"

namespace monitor::analyze {
namespace {

constexpr std::uint64_t max_cpus = 8192;

void add(std::vector<std::uint64_t> &to, const std::vector<std::uint64_t> &from)
{
	to.resize(std::max(to.size(), from.size()));
	for (std::size_t i = 0; i < from.size(); ++i)
		to[i] += from[i];
}

void subtract(std::vector<std::uint64_t> &from, const std::vector<std::uint64_t> &what)
{
	for (std::size_t i = 0; i < std::min(from.size(), what.size()); ++i)
		from[i] -= what[i];
}

} // namespace

RatioSums &RatioSums::operator+=(const RatioSums &other)
{
	numerator += other.numerator;
	denominator += other.denominator;
	below += other.below;
	over += other.over;
	return *this;
}

CounterSums &CounterSums::operator+=(const CounterSums &other)
{
	add(counts, other.counts);
	add(ticks, other.ticks);
	add(enabled_ns, other.enabled_ns);
	add(missed_ns, other.missed_ns);
	occurrences += other.occurrences;
	ratios.resize(std::max(ratios.size(), other.ratios.size()));
	for (std::size_t i = 0; i < other.ratios.size(); ++i)
		ratios[i] += other.ratios[i];
	ratio_ticks += other.ratio_ticks;
	return *this;
}

CounterSums &CounterSums::operator-=(const CounterSums &other)
{
	subtract(counts, other.counts);
	subtract(ticks, other.ticks);
	subtract(enabled_ns, other.enabled_ns);
	subtract(missed_ns, other.missed_ns);
	occurrences -= other.occurrences;
	for (std::size_t i = 0; i < std::min(ratios.size(), other.ratios.size()); ++i) {
		ratios[i].numerator -= other.ratios[i].numerator;
		ratios[i].denominator -= other.ratios[i].denominator;
		ratios[i].below -= other.ratios[i].below;
		ratios[i].over -= other.ratios[i].over;
	}
	ratio_ticks -= other.ratio_ticks;
	return *this;
}

CounterFold::Reading CounterFold::reading_of(const CounterReading &reading)
{
	return {true, reading.time, reading.enabled_ns, reading.enabled_ns - reading.running_ns, ~0ull, reading.values};
}

CounterFold::CounterFold(const trace::Description &description, const CountersInfo &info, std::uint64_t begin,
			 std::uint64_t every_ticks, Scope scope)
    : info_(info), clock_(description.clock), classes_(description.classes().size()), begin_(begin),
      every_ticks_(every_ticks), scope_(std::move(scope)), outside_{{}, {}, none()}
{
	for (unsigned set = 0; set < info_.sets.size(); ++set)
		for (const auto &cls : description.classes())
			if (cls->id == info_.sets[set].id || cls->id == info_.sets[set].scaled_id)
				add_class(*cls, set, cls->id == info_.sets[set].scaled_id);
	for (const auto &cls : description.classes())
		if (info_.ratio_bits && cls->id == info_.ratio_id) {
			ratio_class_.known = true;
			for (const RatioInfo &ratio : info_.ratios)
				ratio_class_.codes.emplace_back(*cls, ratio.field);
		}
	for (const CounterReading &start : info_.start)
		if (Reading *first = last_reading(start.cpu, start.set))
			*first = reading_of(start);
	for (const CounterReading &end : info_.end)
		if (Reading *one = last_reading(end.cpu, end.set))
			one->until = end.time;
}

std::uint64_t CounterFold::part_of(std::uint64_t time) const
{
	return every_ticks_ ? (time - std::min(begin_, time)) / every_ticks_ : 0;
}

CounterSums CounterFold::none() const
{
	CounterSums sums;
	sums.counts.resize(info_.counters.size());
	sums.ticks.resize(info_.sets.size());
	sums.enabled_ns.resize(info_.sets.size());
	sums.missed_ns.resize(info_.sets.size());
	sums.ratios.resize(info_.ratios.size());
	return sums;
}

CounterSums CounterPart::of(const Thread &thread) const
{
	CounterSums sums;
	if (const auto found = threads.find(&thread); found != threads.end())
		for (const auto &[cgroup, counted] : found->second)
			sums += counted;
	return sums;
}

// The counts of the current part and of outside the scope: add(sums, part) adds those of one.
template <class Add> CounterSums CounterFold::up_to_now(Add &&add) const
{
	CounterSums sums = none();
	add(sums, outside_);
	if (!parts_.empty())
		add(sums, parts_.rbegin()->second);
	return sums;
}

CounterSums CounterFold::so_far(const Thread &thread) const
{
	return up_to_now([&](CounterSums &sums, const CounterPart &part) { sums += part.of(thread); });
}

CounterSums CounterFold::so_far(std::uint32_t cpu) const
{
	return up_to_now([&](CounterSums &sums, const CounterPart &part) {
		if (const auto found = part.cpus.find(cpu); found != part.cpus.end())
			sums += found->second;
	});
}

void CounterFold::add_class(const trace::EventClass &cls, unsigned set, bool scaled)
{
	CounterClass &known = classes_[cls.index];
	known = {true, set, {}, {}, {}};
	if (scaled) {
		known.enabled = {cls, "enabled"};
		known.running = {cls, "running"};
	}
	const CounterSetInfo &info = info_.sets[set];
	for (std::size_t i = 0; i < info.count; ++i)
		known.values.emplace_back(cls, info_.counters[info.first + i].field);
}

CounterFold::Reading *CounterFold::last_reading(std::uint64_t cpu, std::uint64_t set)
{
	if (cpu >= max_cpus || set >= info_.sets.size())
		return nullptr;
	if (last_.size() <= cpu)
		last_.resize(cpu + 1, std::vector<Reading>(info_.sets.size()));
	return &last_[cpu][set];
}

// The part that a reading belongs to; the reading covers the time since the previous one.
CounterPart &CounterFold::part_at(const Cpu &cpu, std::uint64_t since, std::uint64_t time)
{
	if (!scope_.includes(time, cpu.number))
		return outside_;
	reaching_back_ += part_of(since) != part_of(time);
	return parts_.try_emplace(part_of(time), CounterPart{{}, {}, none()}).first->second;
}

// The sums that get what a CPU counted since then; the CPU's own sums get it, too. Consecutive readings of one thread
// are one occurrence.
CounterSums &CounterFold::sums_of(CounterPart &part, const Cpu &cpu, std::uint64_t since)
{
	CounterSums &of_cpu = part.cpus.try_emplace(cpu.number, none()).first->second;
	CounterSums &sums = cpu.current && !cpu.current->hidden && since >= cpu.gap_until
				? part.threads[cpu.current].try_emplace(cpu.current->cgroup, none()).first->second
				: part.unknown;
	if (std::exchange(grow_to(running_, cpu.number), &sums) != &sums) {
		++sums.occurrences;
		++of_cpu.occurrences;
	}
	return sums;
}

void CounterFold::add_ratios(const Cpu &cpu, const trace::Event &event)
{
	const std::uint64_t before = std::exchange(grow_to(ratio_time_, cpu.number), event.time);
	if (before == 0)
		return; // the reading covers time from before the first token
	CounterSums now = none();
	now.ratio_ticks = event.time - before;
	for (std::size_t i = 0; i < ratio_class_.codes.size(); ++i) {
		const edc_ratio ratio =
		    edc_ratio_decode(ratio_class_.codes[i].get<std::uint32_t>(event), info_.ratio_bits);
		const bool over = ratio.flags & EDC_RATIO_OVER;
		if (ratio.flags & EDC_RATIO_INVALID)
			++contradictions_;
		else
			now.ratios[i] = {over ? 0 : ratio.numerator, over ? 0 : ratio.denominator,
					 ratio.flags & EDC_RATIO_BELOW ? 1u : 0u, over ? 1u : 0u};
	}
	CounterPart &part = part_at(cpu, before, event.time);
	sums_of(part, cpu, before) += now;
	part.cpus.at(cpu.number) += now;
}

// A CPU that was offline has lost its counters: reads repeat their last values.
void CounterFold::counters(const Cpu &cpu, const trace::Event &event)
{
	if (cpu.was_offline) {
		if (cpu.usage.cpu() > 0)
			uncounted_.insert(cpu.number);
		return;
	}
	if (ratio_class_.known && event.cls->id == info_.ratio_id)
		return add_ratios(cpu, event);
	const CounterClass &cls = classes_[event.cls->index];
	if (!cls.known)
		return;
	Reading now;
	now.time = event.time;
	if (cls.enabled) {
		now.enabled_ns = cls.enabled.get(event);
		now.missed_ns = now.enabled_ns - cls.running.get(event);
	}
	for (const trace::FieldRef &field : cls.values)
		now.values.push_back(field.get(event));
	now.known = true;
	if (const Reading *before = last_reading(cpu.number, cls.set); before && now.time > before->until)
		return add_end_reading(cpu, cls.set);
	add_reading(cpu, cls.set, std::move(now));
}

// Uses the end's reading as soon as tokens pass it: the thread that runs at the trace's end may be another.
void CounterFold::add_end_reading(const Cpu &cpu, unsigned set)
{
	for (const CounterReading &end : info_.end)
		if (end.cpu == cpu.number && end.set == set)
			add_reading(cpu, set, reading_of(end));
}

void CounterFold::add_reading(const Cpu &cpu, unsigned set, Reading &&now)
{
	Reading *before = last_reading(cpu.number, set);
	const CounterSetInfo &info = info_.sets[set];
	if (!before || now.values.size() != info.count || now.time > before->until ||
	    (before->known && now.time <= before->time))
		return;
	now.until = before->until;
	if (before->known && before->values.size() == info.count) {
		CounterPart &part = part_at(cpu, before->time, now.time);
		CounterSums &sums = sums_of(part, cpu, before->time);
		add_difference(sums, set, *before, now);
		add_difference(part.cpus.at(cpu.number), set, *before, now);
		for (std::size_t i = 0; i < info.count; ++i)
			contradictions_ += now.values[i] < before->values[i];
	}
	*before = std::move(now);
}

void CounterFold::add_difference(CounterSums &sums, unsigned set, const Reading &before, const Reading &now) const
{
	for (std::size_t i = 0; i < now.values.size(); ++i)
		sums.counts[info_.sets[set].first + i] += now.values[i] - before.values[i];
	const std::uint64_t ticks = now.time - before.time;
	sums.ticks[set] += ticks;
	// The short token has no enabled time: the set was enabled all the time.
	sums.enabled_ns[set] +=
	    before.enabled_ns && now.enabled_ns ? now.enabled_ns - before.enabled_ns : clock_.to_ns(ticks);
	sums.missed_ns[set] += now.missed_ns - before.missed_ns;
}

void CounterFold::begin_window()
{
	parts_.clear();
	outside_ = {{}, {}, none()};
	running_.clear();
}

void CounterFold::finish(const ThreadFold &fold)
{
	for (const CounterReading &end : info_.end) {
		Cpu without_tokens;
		without_tokens.number = static_cast<std::uint32_t>(end.cpu);
		const Cpu &cpu = end.cpu < fold.cpus().size() ? fold.cpus()[end.cpu] : without_tokens;
		if (end.cpu < max_cpus && end.set < info_.sets.size() && !cpu.was_offline)
			add_reading(cpu, static_cast<unsigned>(end.set), reading_of(end));
	}
	for (std::uint32_t number = 0; number < fold.cpus().size(); ++number) {
		const Cpu &cpu = fold.cpus()[number];
		if (cpu.was_offline && !cpu.is_offline && cpu.idle + cpu.usage.cpu() > 0)
			uncounted_.insert(number);
	}
}

} // namespace monitor::analyze
