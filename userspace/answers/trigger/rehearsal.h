// SPDX-License-Identifier: MIT
// What triggers would have done in a trace: events are matched by the same conditions and passed to the same state
// machine (include/monitor/trigger.h) as in the kernel. Also what the trace says they did.
// merge() -> event(): conditions (FDL) -> edc_trigger_step() -> firings()
// Events that were lost or not recorded are missing here, and events of two CPUs within the uncertainty of the clock
// may be processed in another order.
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
	std::size_t trigger = 0;             // trigger number
	std::uint64_t time = 0;              // of the event
	std::uint64_t noticed = 0;           // time of the token; 0: none
	std::uint32_t cpu = EDC_CPU_UNKNOWN; // where the event was posted
	std::int64_t tid = trace::Threads::unknown;
	std::uint32_t cause = 0;          // class id of the event; 0: the event is missing
	std::uint64_t began = 0, key = 0; // as in edc_firing
};

class Rehearsal {
public:
	// Throws ParseError: a condition is wrong. The trace must outlive it. `doubts`: see filter::Filter.
	Rehearsal(const std::vector<NamedTrigger> &triggers, const trace::Trace &trace,
		  std::vector<std::string> *doubts = nullptr);

	// Called for each event of the trace, in the order of time.
	void event(const trace::Event &event, const filter::Running &running);
	// Events are complete up to these times.
	void end(std::uint64_t time, std::uint64_t programs_time)
	{
		expire(time, of_kernel);
		expire(programs_time, of_programs);
	}

	const std::vector<Fired> &firings() const { return firings_; }
	// First events that were not remembered because of limits.
	std::uint64_t forgotten() const { return forgotten_; }
	// Events that cannot be judged, because their thread is unknown.
	std::uint64_t unnamed() const { return unnamed_; }

private:
	struct Input {
		std::optional<filter::Filter> filter;
		bool has_key = false;                                 // false: the key is always 0
		std::vector<std::optional<filter::ValueSource>> keys; // by class; nullopt: its events are no inputs
	};
	// Events of the kernel and of programs are never combined: the former are judged by probes, the latter by the
	// recorder.
	enum Side { of_kernel, of_programs };
	struct Remembered {
		std::unique_ptr<edc_trigger_state> state = std::make_unique<edc_trigger_state>();
		std::deque<std::pair<std::uint64_t, std::uint64_t>> waiting; // time and key of pending first events
	};
	struct Trigger {
		edc_trigger definition{};
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

// The firings that the cards and the recorder report.
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
