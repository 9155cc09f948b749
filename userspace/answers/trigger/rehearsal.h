// SPDX-License-Identifier: MIT
// What triggers would have done in a trace: each event is judged by the same conditions and stepped through the same
// code (include/monitor/trigger.h) as in the kernel. And what the trace says they did.
//
//     merge() -> event(): conditions (FDL) -> edc_trigger_step() -> firings()
//
// Events that were lost or not recorded are missing here, and events of two CPUs within the uncertainty of the clock
// may count in another order than they did.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/trigger.h"
#include "monitor/trigger.h"
#include "reading/events/field_ref.h"
#include "reading/events/threads.h"
#include "reading/events/trace.h"
#include "reading/filter/filter.h"

namespace monitor::trigger {

struct Fired {
	std::size_t trigger = 0;             // its number
	std::uint64_t time = 0;              // of the event
	std::uint64_t noticed = 0;           // of the token; 0: there is none
	std::uint32_t cpu = EDC_CPU_UNKNOWN; // where the event was posted
	std::int64_t tid = trace::Threads::unknown;
	std::uint32_t cause = 0;          // id of the event's class; 0: none, it was missing
	std::uint64_t began = 0, key = 0; // as in edc_firing
};

class Rehearsal {
public:
	// Throws Refusal: a condition is wrong. The trace must outlive it. `doubts`: as of filter::Filter.
	Rehearsal(const std::vector<NamedTrigger> &triggers, const trace::Trace &trace,
		  std::vector<std::string> *doubts = nullptr);

	// Each event of the trace, in the order of time.
	void event(const trace::Event &event, const filter::Running &running);
	// Up to here it is complete.
	void end(std::uint64_t time, std::uint64_t programs_time)
	{
		expire(time, of_kernel);
		expire(programs_time, of_programs);
	}

	const std::vector<Fired> &firings() const { return firings_; }
	// First events that there was no room to remember.
	std::uint64_t forgotten() const { return forgotten_; }
	// Events that cannot be judged, because the trace does not say in which thread they happened.
	std::uint64_t unnamed() const { return unnamed_; }

private:
	struct Input {
		std::optional<filter::Filter> filter;
		bool has_key = false;                                 // else it is always 0
		std::vector<std::optional<filter::ValueSource>> keys; // by class; none: its events are no inputs
	};
	// The kernel's events and those of programs meet nowhere: the ones are judged by probes, the others by the
	// recorder.
	enum Side { of_kernel, of_programs };
	struct Remembered {
		std::unique_ptr<edc_trigger_state> state = std::make_unique<edc_trigger_state>();
		std::deque<std::pair<std::uint64_t, std::uint64_t>>
		    waiting; // time and key of first events, to be missed
	};
	struct Trigger {
		edc_trigger made{};
		Input inputs[2];
		Remembered remembered[2]; // by side
	};

	void prepare(Input &input, const std::string &condition, const std::string &key,
		     std::vector<std::string> *doubts);
	void step(std::size_t number, unsigned input, const trace::Event &event, const filter::Running &running);
	void expire(std::uint64_t time, Side side);

	const trace::Trace &trace_;
	std::vector<Trigger> triggers_;
	std::vector<Fired> firings_;
	__u64 forgotten_ = 0;
	std::uint64_t unnamed_ = 0;
};

// What the cards and the recorder say fired.
class RecordedFirings {
public:
	explicit RecordedFirings(const trace::Trace &trace);

	void event(const trace::Event &event);
	const std::vector<Fired> &firings() const { return firings_; }
	// The names of the triggers, by number.
	std::string name(std::size_t trigger) const;

private:
	struct Fields {
		const trace::EventClass *cls;
		trace::FieldRef trigger, cause, tid, began, key, at;
	};
	std::vector<Fields> classes_;
	std::vector<Fired> firings_;
};

} // namespace monitor::trigger
