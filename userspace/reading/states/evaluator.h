// SPDX-License-Identifier: MIT
// Events, in time order, to run lengths: which state of a tree each CPU, each thread or the machine was in, and for how
// many ticks.
//
//     Evaluator evaluator(tree, input_of(trace, info), info, whole, scope, sink);
//     evaluate(trace, evaluator);
//
// It folds the events (reading/analyze/thread_fold.h), and after each one classifies the subjects that it is about: the
// machine; the CPU that it was posted on; the thread that ran there, that was switched to or away from, that was woken
// or created, or that posted it. What the sink gets first is a table (answers/run_lengths/) or a matcher (matcher.h).
// The events need not come from files: see FoldInput. One thread feeds it.
// Invariants: the runs of a subject follow each other without a gap, adjacent ones differ in their states, and their
// lengths add up to the window: that part of `whole` which the scope includes. No state is carried across a loss.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "classifier.h"
#include "reading/activities/tracker.h"
#include "reading/analyze/thread_fold.h"
#include "reading/events/threads.h"
#include "subject_knowledge.h"
#include "tree.h"

namespace monitor::states {

struct Run {
	std::uint32_t subject = 0; // index in Evaluator::subjects()
	State state = 0;
	std::uint64_t from = 0, to = 0; // ticks; equal if a state was left in the tick in which it was entered

	std::uint64_t ticks() const { return to - from; }
};

// Gets the runs of each subject in order; runs of different subjects are interleaved.
class RunSink {
public:
	virtual ~RunSink() = default;
	virtual void run(const Run &run) = 0;
};

// Which CPU or thread the runs are of; for the machine both are unset.
struct Who {
	std::uint32_t cpu = 0;
	const analyze::Thread *thread = nullptr;
};

class Evaluator : private analyze::Observer {
public:
	// `begin_time`: of the trace, from which `time` counts. `whole`: the time that the runs cover; outside of the
	// input's window it is PAUSE. Threads are subjects if the scope includes them and they ran or posted an event.
	// Throws Error: the tree uses what the trace lacks. The tree, the input's description and the sink must outlive
	// it.
	Evaluator(const Tree &tree, const analyze::FoldInput &input, const analyze::RecordingInfo &info,
		  std::uint64_t begin_time, trace::TimeRange whole, const analyze::Scope &scope, RunSink &sink);

	// Adds a stream that the input did not have; its index is the next one.
	void add_stream(const trace::StreamInfo &stream);
	// The input's description has new classes of programs. Throws Error.
	void add_classes();
	// Sets the end of the input's window, and of `whole` if that was not known. Called before anything at or after
	// that time.
	void set_window_end(std::uint64_t time);
	// Warnings about names in the tree that no class has so far. Only if the input may have more classes.
	const std::vector<std::string> &doubts() const { return doubts_; }

	void event(const trace::Event &event);
	// `to`: ThreadFold::open_end if it is not known yet.
	void gap(const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to);
	void gap_ended(const trace::StreamInfo &stream, std::uint64_t to);
	// Nothing is known from here on: there are no further events.
	void lose_rest(std::uint64_t time) { lose_all(time, analyze::ThreadFold::open_end); }
	// Ends the last runs: at the end of `whole`, or at this time if that was not known before.
	void finish() { finish(whole_.to); }
	void finish(std::uint64_t end_time);

	const std::vector<Who> &subjects() const { return shown_; }
	const analyze::ThreadFold &fold() const { return fold_; }
	// In ticks; the end is exclusive.
	std::uint64_t window_begin() const { return begin_; }
	std::uint64_t window_end() const { return end_; }

private:
	static constexpr std::uint32_t none = ~0u;

	// A subject whose states are followed.
	struct Followed {
		State state = 0;
		bool is_initial = true; // nothing was known yet
		bool is_listed = false; // in known_
		std::uint64_t since = 0;
		std::uint64_t unknown_until = 0; // a loss
		std::uint32_t number = none;     // index in shown_
		Who who;
		std::vector<Run> early; // of a thread, before it is shown
	};

	void add_cpu(std::uint32_t number);
	void make_classifier();
	void process(const trace::Event &event);
	State classify(const trace::Event &event) const { return classifier_->classify(event, running_); }
	bool uses_activities() const;
	Followed &follow(Who who, std::uint64_t absent_until);
	Followed *followed_cpu(std::uint32_t number);
	Followed *followed_thread(const analyze::Thread &thread);
	void show(Followed &followed);

	void set(Followed &followed, std::uint64_t time, State state);
	void emit(Followed &followed, State state, std::uint64_t from, std::uint64_t to);
	void lose(Followed &followed, std::uint64_t from, std::uint64_t to);
	void lose_all(std::uint64_t from, std::uint64_t to);

	const analyze::Cpu *cpu_in(const trace::Event &event) const;
	void on_offline(const trace::Event &event, const analyze::EventKind &kind);
	void on_cpu(const trace::Event &event, const analyze::EventKind &kind, bool was_known);
	void on_machine(const trace::Event &event);
	void on_threads(const trace::Event &event, const analyze::EventKind &kind, const analyze::Thread *before);
	void on_thread(const trace::Event &event, const analyze::Thread &thread, bool ran);
	void on_listed(const trace::Event &event, const analyze::EventKind &kind);

	// As analyze::Observer:
	void lost(const analyze::Cpu &cpu, std::uint64_t from, std::uint64_t to) override;
	void user_event(const analyze::Thread &thread, const trace::Event &event) override;
	void user_gap(const trace::StreamInfo &stream, std::uint32_t process) override;
	void exchanged(const analyze::Thread &one, const analyze::Thread &other) override;

	const Tree &tree_;
	RunSink &sink_;
	const trace::Description &description_;
	std::uint64_t begin_time_;
	trace::TimeRange whole_, attached_; // what the runs cover; while all probes were attached
	std::uint64_t begin_ = 0, end_ = 0; // of the window
	bool is_complete_ = true, is_generic_ctf_ = false;
	analyze::ThreadFold fold_;
	std::vector<std::uint32_t> cpus_; // CPUs of the machine
	std::unique_ptr<activities::Tracker> tracker_;
	std::unique_ptr<const Classifier> classifier_;
	SubjectKnowledge knowledge_;
	std::optional<trace::Threads> threads_; // if a condition uses values derived from earlier events
	filter::Running running_{trace::Threads::unknown, nullptr, &knowledge_};
	bool uses_programs_ = false; // events of programs may change a state
	Recorded recorded_;
	bool has_more_classes_ = false;
	std::vector<std::string> doubts_;

	std::vector<std::unique_ptr<Followed>> followed_all_;
	std::vector<Followed *> by_cpu_; // or the machine alone
	std::unordered_map<const analyze::Thread *, Followed *> by_thread_;
	std::vector<Followed *> known_;       // threads that a loss may make unknown
	std::uint64_t all_unknown_until_ = 0; // because of a loss
	std::vector<const analyze::Thread *> exchanged_;
	const analyze::Thread *writer_ = nullptr; // of a program's event
	std::vector<Who> shown_;
};

// Feeds a whole trace.
void evaluate(trace::Trace &trace, Evaluator &evaluator);

} // namespace monitor::states
