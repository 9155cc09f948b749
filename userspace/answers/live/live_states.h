// SPDX-License-Identifier: MIT
// The states of a tree for a running recording (record --states): from its blocks in memory to run lengths.
// drain.cpp -> take() -> LiveEvents -> Evaluator -> run() -> ControlStream: state_subject, state_run
// The code is the same as for reading a trace from files, so the run lengths are the same. All but describe() are
// called in the thread that drains the rings, and by the main thread before and after that. Next in the flow:
// reading/states/recorded_runs.h. Invariants: a subject is written before its first run; its runs begin with the trace
// and are adjacent.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "live_events.h"
#include "reading/states/evaluator.h"
#include "reading/states/tree.h"
#include "recording/rings/block_sink.h"

namespace monitor::live {

class LiveStates final : public record::StateSink, private states::RunSink {
public:
	explicit LiveStates(states::Tree tree);
	~LiveStates() override;

	const std::vector<std::string> &state_names() const override { return state_names_; }
	const std::string &tree_name() const override { return tree_.name(); }
	const std::string &tree_text() const override { return tree_.text(); }

	void start(const record::LiveStart &start) override;
	void describe(const std::string &description) override { events_.describe(description); }
	bool take(record::StreamNumber stream, const std::string &name, const std::byte *block) override;
	void lose(record::StreamNumber stream) override { events_.lose(stream); }
	bool advance(std::uint64_t time) override;
	void set_window_end(std::uint64_t time) override;
	record::LiveEnd finish() override;

private:
	struct Visitor;

	void run(const states::Run &run) override;
	void write(const states::Run &run);
	// `cgroup`: one of the thread's; its current one is written last.
	void write_subject(std::uint32_t number, std::uint64_t cgroup);
	std::uint64_t cgroup_of(std::uint32_t number) const;
	void add_new_classes();

	const states::Tree tree_;
	std::vector<std::string> state_names_;
	record::ControlStream *output_ = nullptr;
	LiveEvents events_;
	std::unique_ptr<states::Evaluator> evaluator_;
	std::vector<states::Run> early_; // before the evaluator exists
	std::uint32_t subjects_ = 0;     // number written
	std::uint64_t now_ = 0;          // time of the current event
	record::LiveEnd end_;
	std::string why_stopped_; // a program declared a class for which the tree is invalid
};

} // namespace monitor::live
