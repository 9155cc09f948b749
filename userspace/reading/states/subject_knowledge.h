// SPDX-License-Identifier: MIT
// The fold's knowledge at a token about a CPU, a thread or the machine, as names for the conditions of a tree: `state`,
// `mode`, `call` ... Documentation/states.md lists them.
// Evaluator (evaluator.h) sets the subject before each classification; the conditions look up values as needed.
// Invariant: what the fold does not know is unknown; absent is only what the subject does not have at that time.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "reading/activities/tracker.h"
#include "reading/analyze/thread_fold.h"
#include "reading/filter/known.h"
#include "tree.h"

namespace monitor::states {

enum class Known : std::uint8_t {
	state,
	mode,
	call,
	blocked_on,
	activity,
	outer_activity,
	tid,
	process,
	thread,
	running,
	idle
};

// Which kinds of knowledge the trace can have.
struct Recorded {
	bool switches = false, wakings = false, calls = false;
	bool without_tokens = false;
	bool partial = false;                         // record --filter left out events that the fold needs
	bool user_events = false, activities = false; // from programs
};
Recorded recorded(const analyze::FoldInput &input, const analyze::RecordingInfo &info,
		  const analyze::EventKinds &kinds);

// All names, in the order of Known; those that the subject or the trace lacks say why, or have no name if another
// tracer's trace has a field of this name.
filter::KnownNames known_names(Subject subject, const Recorded &recorded, const trace::Description &description);

class SubjectKnowledge final : public filter::Knowledge {
public:
	// `cpus`: the machine's.
	SubjectKnowledge(Subject subject, const analyze::ThreadFold &fold, const std::vector<std::uint32_t> &cpus)
	    : subject_(subject), fold_(fold), cpus_(cpus)
	{
	}

	// Before the first event, if a condition asks for activities.
	void set_tracker(const activities::Tracker &tracker) { tracker_ = &tracker; }
	// The CPU; for the machine, the event's. `is_idle`: the CPU as it was earlier, when it was
	// idle without a token that said so.
	void set_cpu(const analyze::Cpu *cpu, bool is_idle = false)
	{
		cpu_ = cpu;
		is_idle_ = is_idle;
		thread_ = cpu && !is_idle ? cpu->current : nullptr;
	}
	void set_thread(const analyze::Thread &thread) { thread_ = &thread; }

	// Events of programs were lost: the activities of each thread are unknown until its next event.
	void lose_activities() { ++losses_; }
	// A program's event of this thread.
	void note_event_of(const analyze::Thread &thread)
	{
		if (losses_)
			seen_[&thread] = losses_;
	}

private:
	Answer find_number(std::uint32_t index, std::uint64_t &value) override;
	Answer find_text(std::uint32_t index, std::string_view &value) override;
	Answer state(std::uint64_t &value) const;
	Answer mode(std::uint64_t &value) const;
	Answer call(std::uint64_t &value) const;
	Answer blocked_on(std::uint64_t &value) const;
	Answer cpus_in_use(bool idle, std::uint64_t &value) const;
	Answer activity(bool outermost, std::string_view &value) const;
	bool is_offline() const { return subject_ == Subject::cpu && cpu_ && cpu_->is_offline; }
	bool is_idle() const { return is_idle_ || (thread_ && thread_->tid == 0); }

	Subject subject_;
	const analyze::ThreadFold &fold_;
	const activities::Tracker *tracker_ = nullptr;
	const std::vector<std::uint32_t> &cpus_;
	const analyze::Cpu *cpu_ = nullptr;
	const analyze::Thread *thread_ = nullptr; // null: unknown
	bool is_idle_ = false;
	std::uint64_t losses_ = 0;
	std::unordered_map<const analyze::Thread *, std::uint64_t> seen_; // losses_ at the thread's last event
};

} // namespace monitor::states
