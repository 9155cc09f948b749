// SPDX-License-Identifier: MIT
// The recorder's part of triggers (record --trigger): reads firings from the cards in the main thread, and counts them.
// flight.cpp (snapshots) and Recording perform the actions.
//
//     probe: edc_firings of its CPU, wakeup -> poll() in ending.cpp -> take() -> snapshot, end
//     what no event fires: a timer -----------------------------------/   \-> write(), in the thread that writes tokens
//     events of programs: the drain -> add(), wakeup -----------------/
//
// A probe never waits for the recorder: without room, a firing is only counted.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include <poll.h>

#include "base/fd.h"
#include "base/recording_file/triggers.h"
#include "base/trigger.h"
#include "monitor/trigger.h"
#include "recording/card/bpf_card.h"
#include "recording/rings/clock.h"
#include "recording/rings/control_stream.h"
#include "recording/user_card/user_triggers.h"

namespace monitor::record {

struct Firing {
	enum class By { probe, clock, program };

	unsigned trigger = 0; // its number
	unsigned cpu = EDC_CPU_UNKNOWN;
	By by = By::probe;        // source; clock: no event
	bool held = false;        // it began a hold of a flight recorder's rings
	bool is_unnoted = false;  // only counted, for lack of room
	Sync at;                  // when it fired
	std::uint64_t paused = 0; // start of the pause that the recorder ended
	edc_firing noted{};
};

struct TriggerAccount {
	std::uint64_t fired = 0;
	std::uint64_t by_programs = 0;          // of these, by events of programs
	std::uint64_t delivered = 0;            // firings that the recorder was notified of
	std::uint64_t samples = 0;              // samples of all CPUs taken
	std::uint64_t samples_left_out = 0;     // too soon after the one before
	std::vector<std::uint64_t> reaction_ns; // delays until delivery, newest ones
};

using recording_file::ActCounts, recording_file::Pauses;

class Triggers {
public:
	// The references must outlive it. `since`: when the probes were attached. Throws Error.
	Triggers(const std::vector<NamedTrigger> &triggers, card::BpfCard &card, const EventMatcher &matcher,
		 const ClockSteering &steering, const Sync &since);

	// Call take() when one of these is readable.
	std::vector<pollfd> fds() const
	{
		return {{card_.firing_wakeup_fd(), card_.firing_events(), 0},
			{timer_.get(), POLLIN, 0},
			{program_wakeup_.get(), POLLIN, 0}};
	}
	// New firings, sorted by time.
	std::vector<Firing> take();
	// Adds firings by events of programs. Any one thread.
	void add(const std::vector<card::ProgramFiring> &fired);
	// Writes tokens of firings without a probe since the last call. Any one thread. `latest`: time of the last
	// token.
	void write(ControlStream &to, std::uint64_t latest = ~std::uint64_t(0));
	// A pause that lasts until the end of the recording ends here.
	void end_pause(const Sync &end);
	Pauses pauses() const;
	std::uint64_t unsampled() const { return card_.unsampled(); }
	// Firings by programs that were only counted, because of too many at once.
	std::uint64_t without_token() const
	{
		const std::lock_guard guard(lock_);
		return without_token_;
	}
	// Stops firing by time. Call directly after take().
	void stop() { is_over_ = true; }
	// Trace time of the last look: absences until then have fired.
	std::uint64_t checked_until() const { return checked_until_; }

	const NamedTrigger &trigger_of(const Firing &firing) const { return triggers_[firing.trigger]; }
	// By trigger.
	std::vector<TriggerAccount> accounts() const;
	// First events that triggers had no room to store.
	std::uint64_t forgotten() const;

private:
	void take_from_cpu(unsigned cpu, std::vector<Firing> &to);
	void restore_texts(edc_firing &noted) const;
	void note_reaction(const Firing &firing, const Sync &now);
	Sync sync_at(std::uint64_t time, const Sync &now) const;

	std::uint64_t fired(std::size_t trigger) const;
	void sample(const std::vector<Firing> &firings);
	void find_unnoted(const Sync &now, std::vector<Firing> &to);
	void pause_or_resume(Firing &firing, std::uint64_t time);
	void fire_by_time(const Sync &now, std::vector<Firing> &to);
	void take_from_programs(std::vector<Firing> &to);
	void fire(std::size_t trigger, std::uint64_t began, std::uint64_t key, const Sync &at, std::vector<Firing> &to);
	void set_timer(std::uint64_t monotonic_ns) const;

	const std::vector<NamedTrigger> &triggers_;
	card::BpfCard &card_;
	const edc_matcher *tables_;
	const bool invariant_tsc_;
	const double frequency_hz_;
	Fd timer_, program_wakeup_;
	std::vector<std::uint64_t> next_check_ns_; // by trigger, monotonic: when to look at the time; ~0: never
	mutable std::mutex lock_;                  // of:
	std::vector<Firing> to_write_, from_programs_;
	std::vector<std::uint64_t> fired_by_programs_; // by trigger
	std::uint64_t without_token_ = 0;
	Pauses ended_;                                             // not by probes
	std::uint64_t sampled_ns_ = 0;                             // monotonic: the last sample of all CPUs
	std::uint64_t taken_ns_ = 0, min_interval_ns_ = 1'000'000; // monotonic; before the next look
	bool is_over_ = false;
	std::uint64_t checked_until_ = 0;
	std::vector<TriggerAccount> accounts_;
	std::vector<std::uint64_t> seen_fired_; // by trigger: at the last look
	std::array<std::size_t, EDC_TRIGGERS> next_reaction_{};
};

} // namespace monitor::record
