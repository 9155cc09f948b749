// SPDX-License-Identifier: MIT
#include "triggers.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "base/error.h"
#include "recording/recorder/process_numbers.h"

namespace monitor::record {
namespace {

constexpr std::size_t max_reactions = 4096; // of each trigger
constexpr std::uint64_t never = ~std::uint64_t(0);
// Interval between looks, so that permanent firing does not keep the recorder awake. Longer if only its own system
// calls fire.
constexpr std::uint64_t min_take_interval_ns = 1'000'000, max_take_interval_ns = 10'000'000;
constexpr std::uint64_t min_sample_interval_ns = 1'000'000; // each sample interrupts all CPUs
constexpr std::size_t max_from_programs = 65536;            // pending firings; more are only counted

// Interval of looking for absent events, and so the maximum delay of noticing.
std::uint64_t check_interval_ns(const NamedTrigger &trigger)
{
	return std::clamp<std::uint64_t>(trigger.within_ns / 8, 10'000'000, 1'000'000'000);
}

edc_firing firing_of(const card::ProgramFiring &fired)
{
	edc_firing noted{};
	noted.time = fired.time;
	noted.began = fired.began;
	noted.key = fired.key;
	noted.trigger = fired.trigger;
	noted.tid = noted.tgid = -1;
	if (!fired.event)
		return noted;
	const auto &record = fired.event->record;
	noted.event = edc_token_id(record[0]) | static_cast<std::uint32_t>(edc_token_arg(record[0])) << 16;
	noted.tid = static_cast<std::int32_t>(fired.event->at.tid);
	noted.tgid = static_cast<std::int32_t>(fired.event->at.process);
	std::copy(record.begin() + 1, record.end(), noted.words);
	return noted;
}

} // namespace

Triggers::Triggers(const std::vector<NamedTrigger> &triggers, card::BpfCard &card, const EventMatcher &matcher,
		   const ClockSteering &steering, const Sync &since)
    : triggers_(triggers), card_(card), tables_(matcher.kernel_tables()), invariant_tsc_(steering.invariant_tsc()),
      frequency_hz_(steering.frequency_hz()), timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      program_wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), fired_by_programs_(triggers.size()),
      accounts_(triggers.size()), seen_fired_(triggers.size())
{
	if (!timer_ || !program_wakeup_)
		throw Error(errno, "cannot watch the time");
	for (const NamedTrigger &trigger : triggers_)
		next_check_ns_.push_back(trigger.kind == EDC_TRIGGER_START   ? since.monotonic_ns
					 : trigger.kind == EDC_TRIGGER_EVERY ? since.monotonic_ns + trigger.within_ns
					 : trigger.kind == EDC_TRIGGER_MISSING
					     ? since.monotonic_ns + check_interval_ns(trigger)
					     : never);
	set_timer(*std::ranges::min_element(next_check_ns_));
}

void Triggers::set_timer(std::uint64_t monotonic_ns) const
{
	if (monotonic_ns == never)
		return;
	itimerspec when{};
	when.it_value.tv_sec = static_cast<time_t>(monotonic_ns / 1'000'000'000);
	when.it_value.tv_nsec = static_cast<long>(monotonic_ns % 1'000'000'000);
	::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

void Triggers::fire(std::size_t trigger, std::uint64_t began, std::uint64_t key, const Sync &at,
		    std::vector<Firing> &to)
{
	Firing firing;
	firing.trigger = static_cast<unsigned>(trigger);
	firing.by = Firing::By::clock;
	firing.at = at;
	firing.noted.began = began;
	firing.noted.key = key;
	const std::string &key_name = triggers_[trigger].first_key;
	const bool is_thread = key_name == "tid" || key_name == "thread" || key_name == "pid";
	firing.noted.tid = is_thread ? static_cast<std::int32_t>(key) : -1;
	firing.noted.tgid = -1;
	accounts_[trigger].fired++;
	const std::lock_guard guard(lock_);
	pause_or_resume(firing, at.time);
	to.push_back(firing);
	to_write_.push_back(firing);
}

// As probes do. Under the lock.
void Triggers::pause_or_resume(Firing &firing, std::uint64_t time)
{
	if (triggers_[firing.trigger].stops())
		card_.pause_storing(time);
	if (!triggers_[firing.trigger].starts())
		return;
	firing.paused = card_.resume_storing();
	ended_.number += firing.paused != 0;
	ended_.ticks += firing.paused ? time - std::min(time, firing.paused) : 0;
}

void Triggers::end_pause(const Sync &end)
{
	const std::lock_guard guard(lock_);
	Firing ended;
	ended.trigger = EDC_TRIGGERS; // no trigger: only a token of the pause
	ended.at = end;
	ended.paused = card_.resume_storing();
	if (!ended.paused)
		return;
	++ended_.number;
	ended_.ticks += end.time - std::min(end.time, ended.paused);
	to_write_.push_back(ended);
}

Pauses Triggers::pauses() const
{
	const std::lock_guard guard(lock_);
	Pauses all = ended_;
	for (unsigned cpu = 0; cpu < card_.cpus(); ++cpu) {
		all.number += __atomic_load_n(&card_.area(cpu).firings.pauses, __ATOMIC_RELAXED);
		all.ticks += __atomic_load_n(&card_.area(cpu).firings.paused, __ATOMIC_RELAXED);
	}
	return all;
}

// Fires triggers by time: `every`, and absent events.
void Triggers::fire_by_time(const Sync &now, std::vector<Firing> &to)
{
	eventfd_t times;
	::eventfd_read(timer_.get(), &times);
	if (is_over_)
		return;
	checked_until_ = now.time;
	for (std::size_t i = 0; i < triggers_.size(); ++i) {
		const NamedTrigger &trigger = triggers_[i];
		if (now.monotonic_ns < next_check_ns_[i])
			continue;
		switch (trigger.kind) {
		case EDC_TRIGGER_START:
			fire(i, 0, 0, now, to);
			next_check_ns_[i] = never;
			break;
		case EDC_TRIGGER_EVERY: // if late by more than a period, skips periods
			fire(i, 0, 0, now, to);
			next_check_ns_[i] +=
			    ((now.monotonic_ns - next_check_ns_[i]) / trigger.within_ns + 1) * trigger.within_ns;
			break;
		default: {
			const std::uint64_t within =
			    trigger.within_ticks(static_cast<std::uint64_t>(std::llround(frequency_hz_)));
			for (const edc_pending_start &missed :
			     card_.take_overdue(static_cast<unsigned>(i), now.time - std::min(now.time, within)))
				fire(i, missed.begin, missed.key, now, to);
			next_check_ns_[i] = now.monotonic_ns + check_interval_ns(trigger);
		}
		}
	}
	set_timer(*std::ranges::min_element(next_check_ns_));
}

// Finds triggers whose firings were not noted for lack of room; reports each once.
void Triggers::find_unnoted(const Sync &now, std::vector<Firing> &to)
{
	const std::size_t noted = to.size();
	for (std::size_t i = 0; i < triggers_.size(); ++i) {
		const std::uint64_t now_fired = fired(i);
		const bool has_fired = now_fired > seen_fired_[i] && triggers_[i].needs_recorder();
		const auto is_of_it = [i](const Firing &firing) { return firing.trigger == i; };
		seen_fired_[i] = now_fired;
		if (!has_fired || std::any_of(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(noted), is_of_it))
			continue;
		Firing firing;
		firing.trigger = static_cast<unsigned>(i);
		firing.is_unnoted = true;
		firing.at = now;
		to.push_back(firing);
	}
}

void Triggers::write(ControlStream &to, std::uint64_t latest)
{
	const std::lock_guard guard(lock_);
	for (const Firing &firing : to_write_) {
		const std::uint64_t time = std::min(firing.at.time, latest);
		if (firing.by == Firing::By::program)
			to.fired_by_program(firing.trigger, firing.noted, time);
		else if (firing.trigger < triggers_.size())
			to.fired(firing.trigger, firing.noted.tid, firing.noted.began, firing.noted.key, time);
		if (firing.paused)
			to.paused(firing.paused, firing.at.time - std::min(firing.at.time, firing.paused), time);
	}
	to_write_.clear();
}

void Triggers::add(const std::vector<card::ProgramFiring> &fired)
{
	const Sync now = read_sync(invariant_tsc_);
	const std::lock_guard guard(lock_);
	for (const card::ProgramFiring &one : fired) {
		Firing firing;
		firing.trigger = one.trigger;
		if (firing.trigger >= triggers_.size())
			continue;
		++fired_by_programs_[firing.trigger];
		if (from_programs_.size() >= max_from_programs || to_write_.size() >= max_from_programs) {
			++without_token_;
			continue;
		}
		firing.by = Firing::By::program;
		firing.noted = firing_of(one);
		if (one.event)
			firing.cpu = one.event->at.cpu;
		firing.at = now;
		pause_or_resume(firing, now.time);
		to_write_.push_back(firing);
		firing.at = sync_at(one.time, now);
		from_programs_.push_back(firing);
	}
	::eventfd_write(program_wakeup_.get(), 1);
}

void Triggers::take_from_programs(std::vector<Firing> &to)
{
	eventfd_t times;
	::eventfd_read(program_wakeup_.get(), &times);
	const std::lock_guard guard(lock_);
	to.insert(to.end(), from_programs_.begin(), from_programs_.end());
	from_programs_.clear();
}

// All clocks at an earlier trace time.
Sync Triggers::sync_at(std::uint64_t time, const Sync &now) const
{
	const std::uint64_t ticks = now.time - std::min(now.time, time);
	const auto ns = static_cast<std::uint64_t>(static_cast<double>(ticks) * 1e9 / frequency_hz_);
	Sync then = now;
	then.time = time;
	then.monotonic_ns -= ns;
	then.realtime_ns -= ns;
	then.tai_ns -= ns;
	return then;
}

// Restores texts, which evaluation has byte-swapped for comparison (edc_match_texts()).
void Triggers::restore_texts(edc_firing &noted) const
{
	const unsigned slot = EventMatcher::slot_of(noted.event & 0xffff);
	const edc_match_class &cls = tables_->cls[slot];
	for (unsigned i = 0; i < std::size(noted.words); ++i)
		if (cls.has_patterns && cls.texts >> (EDC_VALUE_WORD + i) & 1)
			noted.words[i] = __builtin_bswap64(noted.words[i]);
}

// A copy is whole if its entry's number is the same before and after.
void Triggers::take_from_cpu(unsigned cpu, std::vector<Firing> &to)
{
	const edc_firings &firings = card_.area(cpu).firings;
	__u64 &taken = card_.area(cpu).reader.firings;
	const std::uint64_t count = __atomic_load_n(&firings.count, __ATOMIC_SEQ_CST);
	if (count == taken)
		return;
	for (std::uint64_t number = std::max<std::uint64_t>(taken, count - std::min<std::uint64_t>(count, EDC_FIRINGS));
	     number < count; ++number) {
		const edc_firing &entry = firings.entry[number % EDC_FIRINGS];
		const auto is_written = [&] { return __atomic_load_n(&entry.number, __ATOMIC_ACQUIRE) == number + 1; };
		Firing firing;
		firing.cpu = cpu;
		for (int tries = 0; tries < 1000 && !is_written(); ++tries) // it is being written
			;
		if (!is_written())
			continue;
		std::memcpy(&firing.noted, &entry, sizeof entry);
		std::atomic_thread_fence(std::memory_order_acquire);
		firing.trigger = firing.noted.trigger & (EDC_TRIGGERS - 1);
		if (!is_written() || firing.trigger >= triggers_.size())
			continue;
		firing.held = firing.noted.trigger & EDC_FIRING_HELD;
		restore_texts(firing.noted);
		to.push_back(firing);
	}
	__atomic_store_n(&taken, count, __ATOMIC_SEQ_CST);
}

// Samples at once, while the CPUs still do what they did at the firing.
void Triggers::sample(const std::vector<Firing> &firings)
{
	for (const Firing &firing : firings) {
		if (!triggers_[firing.trigger].samples() || firing.is_unnoted)
			continue;
		const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
		const bool is_by_probe = firing.by == Firing::By::probe;
		const bool is_due =
		    is_by_probe ? firing.noted.sample != 0 : now - sampled_ns_ >= min_sample_interval_ns;
		const bool is_taken =
		    is_due && card_.sample_all(is_by_probe ? firing.cpu : EDC_CPU_UNKNOWN, firing.noted.sample);
		if (is_taken)
			sampled_ns_ = now;
		++(is_taken ? accounts_[firing.trigger].samples : accounts_[firing.trigger].samples_left_out);
	}
}

std::vector<Firing> Triggers::take()
{
	const std::uint64_t since_ns = clock_ns(CLOCK_MONOTONIC) - taken_ns_;
	if (since_ns < min_interval_ns_)
		std::this_thread::sleep_for(std::chrono::nanoseconds(min_interval_ns_ - since_ns));
	taken_ns_ = clock_ns(CLOCK_MONOTONIC);
	card_.heard_firings();
	Sync now = read_sync(invariant_tsc_);
	std::vector<Firing> firings;
	fire_by_time(now, firings);
	const std::size_t by_clock = firings.size();
	take_from_programs(firings);
	for (std::size_t i = by_clock; i < firings.size(); ++i)
		note_reaction(firings[i], now);
	// Repeats while there is more: a firing before the probe sees our progress sends no wake-up.
	for (std::size_t known = ~std::size_t(0); known != firings.size();) {
		known = firings.size();
		for (unsigned cpu = 0; cpu < card_.cpus(); ++cpu)
			take_from_cpu(cpu, firings);
		now = read_sync(invariant_tsc_);
		for (std::size_t i = known; i < firings.size(); ++i) {
			firings[i].at = sync_at(firings[i].noted.time, now);
			note_reaction(firings[i], now);
		}
		if (firings.size() > std::size_t(64) * EDC_FIRINGS)
			break; // faster than they can be read: another wake-up follows
	}
	sample(firings);
	for (const Firing &firing : firings)
		accounts_[firing.trigger].delivered++;
	find_unnoted(now, firings);
	const bool is_own = !firings.empty() && std::ranges::all_of(firings, [](const Firing &firing) {
		return firing.by == Firing::By::probe && firing.noted.tgid == own_kernel_pid();
	});
	min_interval_ns_ = is_own ? std::min(2 * min_interval_ns_, max_take_interval_ns) : min_take_interval_ns;
	std::ranges::stable_sort(firings, {}, [](const Firing &firing) { return firing.at.time; });
	return firings;
}

void Triggers::note_reaction(const Firing &firing, const Sync &now)
{
	std::vector<std::uint64_t> &all = accounts_[firing.trigger].reaction_ns;
	const std::uint64_t reaction = now.monotonic_ns - firing.at.monotonic_ns;
	if (all.size() < max_reactions)
		all.push_back(reaction);
	else
		all[next_reaction_[firing.trigger]++ % max_reactions] = reaction;
}

std::vector<TriggerAccount> Triggers::accounts() const
{
	std::vector<TriggerAccount> all = accounts_;
	for (std::size_t i = 0; i < all.size(); ++i) {
		all[i].fired = fired(i);
		const std::lock_guard guard(lock_);
		all[i].by_programs = fired_by_programs_[i];
	}
	return all;
}

// Firings on all CPUs and by programs.
std::uint64_t Triggers::fired(std::size_t trigger) const
{
	std::uint64_t sum = accounts_[trigger].fired;
	for (unsigned cpu = 0; cpu < card_.cpus(); ++cpu)
		sum += __atomic_load_n(&card_.area(cpu).firings.fired[trigger], __ATOMIC_RELAXED);
	const std::lock_guard guard(lock_);
	return sum + fired_by_programs_[trigger];
}

std::uint64_t Triggers::forgotten() const
{
	std::uint64_t sum = 0;
	for (unsigned cpu = 0; cpu < card_.cpus(); ++cpu)
		sum += __atomic_load_n(&card_.area(cpu).firings.forgotten, __ATOMIC_RELAXED);
	return sum;
}

} // namespace monitor::record
