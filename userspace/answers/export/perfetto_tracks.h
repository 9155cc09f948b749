// SPDX-License-Identifier: MIT
// Perfetto's track events, for what ftrace has no event for: activities and events of programs on the tracks of their
// threads, counters on tracks of their CPUs, wake-ups as arrows.
// An activity is written, with its start, when it has ended, as Perfetto sorts by time; only if both ends are known.
// Activities on a track are nested or disjoint, so one that overlaps another is on a track of its own beside the
// thread's.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "perfetto_packets.h"
#include "reading/activities/tracker.h"
#include "reading/analyze/counters_info.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::exporting::perfetto {

class Tracks : public analyze::Observer, public activities::Observer {
public:
	Tracks(PacketStream &packets, const trace::Description &description, const analyze::RecordingInfo &info,
	       const analyze::ThreadFold &fold, const activities::Tracker &tracker, bool with_flows);

	void finished(const activities::Finished &activity) override;
	void user_event(const analyze::Thread &thread, const trace::Event &event) override;
	void counters(const analyze::Cpu &cpu, const trace::Event &event) override;
	void blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
		     const analyze::Waker &waker) override;
	void exchanged(const analyze::Thread &one, const analyze::Thread &other) override;

	// The trace's time range, which Perfetto otherwise takes from the events.
	void mark_ends(std::uint64_t begin, std::uint64_t end, bool is_complete);
	// A thread got a CPU.
	void runs(std::uint64_t time, std::int32_t tid);

	std::uint64_t events() const { return events_; }     // of programs, and counter readings
	std::uint64_t readings() const { return readings_; } // of counters only

private:
	struct Counter {                // a field of an event class
		std::size_t number = 0; // its number in all classes
		std::string name, unit;
		trace::FieldRef field;
		unsigned ratio_bits = 0; // the field is a ratio's code; 0: a count
		bool is_inverse = false;
	};

	void find_counters(const trace::Description &description, const analyze::CountersInfo &info);
	void find_events(const trace::Description &description, const analyze::RecordingInfo &info);
	void add_set_counters(const trace::EventClass &cls, const analyze::CountersInfo &info,
			      const analyze::CounterSetInfo &set);
	std::uint64_t track_of(const analyze::Thread &thread);
	std::uint64_t track_of(const analyze::Cpu &cpu, const Counter &counter);
	std::uint64_t side_track(const activities::Finished &activity);
	template <class Fill> void add(std::uint64_t time, std::uint64_t track, unsigned type, Fill &&fill);
	static void annotate(pbf_writer &event, const trace::Event &from);

	PacketStream &packets_;
	const analyze::ThreadFold &fold_;
	const activities::Tracker &tracker_;
	bool with_flows_;
	std::vector<std::vector<Counter>> counters_; // by class index
	std::vector<bool> is_shown_;                 // by class index: events of programs shown by themselves
	std::unordered_map<const analyze::Thread *, std::uint64_t> thread_tracks_;
	std::map<std::pair<std::size_t, std::uint32_t>, std::uint64_t> counter_tracks_; // by counter and CPU
	struct SideTrack {
		std::uint64_t track, until; // the end of its last activity
	};
	std::map<std::pair<const analyze::Thread *, std::uint32_t>, std::vector<SideTrack>>
	    side_tracks_;                                       // by thread and activity
	std::unordered_map<std::int32_t, std::uint64_t> woken_; // by TID: the arrow that leads to the thread
	std::uint64_t next_track_ = 1, next_flow_ = 1, events_ = 0, readings_ = 0;
};

} // namespace monitor::exporting::perfetto
