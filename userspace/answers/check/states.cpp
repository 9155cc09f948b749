// SPDX-License-Identifier: MIT
#include "states.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/escape.h"
#include "base/grow.h"
#include "reading/states/evaluator.h"
#include "reading/states/recorded_runs.h"

namespace monitor::check {
namespace {

// A digest of each subject's runs, so that memory does not grow with them.
class Digests : public states::RunSink {
public:
	struct Digest {
		std::uint64_t runs = 0, hash = 14695981039346656037u; // FNV-1a over whole words

		bool operator==(const Digest &) const = default;
	};

	void run(const states::Run &run) override
	{
		Digest &digest = grow_to(all_, run.subject);
		++digest.runs;
		for (const std::uint64_t word : {std::uint64_t{run.state}, run.from, run.to})
			digest.hash = (digest.hash ^ word) * 1099511628211u;
	}

	// A number may belong to several threads in turn.
	using Name = std::pair<std::int64_t, unsigned>;
	std::map<Name, Digest> by_name(const std::vector<states::Who> &subjects) const
	{
		std::map<Name, Digest> found;
		std::map<std::int64_t, unsigned> times;
		for (std::size_t i = 0; i < subjects.size(); ++i) {
			const std::int64_t number = subjects[i].thread ? subjects[i].thread->tid : subjects[i].cpu;
			found[{number, times[number]++}] = i < all_.size() ? all_[i] : Digest();
		}
		return found;
	}

private:
	std::vector<Digest> all_; // by subject
};

std::string why_not_comparable(const trace::Trace &trace, const RecordingInfo &info)
{
	if (!info.complete())
		return "the recording was not completed";
	if (!info.has_tokens)
		return "the tokens that they were computed from were not written";
	if (info.user_card && info.user_card->discarded + info.user_card->early)
		return "events of programs were lost, and the recorder learnt of it later";
	if (!trace.problems().empty())
		return "parts of the trace are damaged";
	return "";
}

std::string text_of(Digests::Name name, states::Subject subject)
{
	if (subject == states::Subject::machine)
		return "of the machine";
	return fmt::format("of {} {}", subject == states::Subject::cpu ? "CPU" : "thread", name.first);
}

Statement compare(trace::Trace &trace, const RecordingInfo &info)
{
	Digests recorded_digests, computed_digests;
	const trace::TimeRange window = window_of(trace, info);
	states::RecordedRuns recorded(trace, info, {});
	recorded.read(recorded_digests);
	states::Evaluator computed(recorded.tree(), input_of(trace, info), info, trace.begin_time(), window, {},
				   computed_digests);
	evaluate(trace, computed);
	const auto of_recorder = recorded_digests.by_name(recorded.subjects());
	const auto of_tokens = computed_digests.by_name(computed.subjects());
	std::uint64_t runs = 0;
	for (const auto &[name, digest] : of_tokens) {
		const auto found = of_recorder.find(name);
		const Digests::Digest other = found != of_recorder.end() ? found->second : Digests::Digest{};
		if (!(other == digest))
			return Statement(
			    "states", Verdict::fails,
			    "the run lengths {}: the recorder wrote {}, the tokens have {}, and they differ{}",
			    text_of(name, recorded.tree().subject()), other.runs, digest.runs,
			    info.states->late
				? fmt::format("; {} events came too late to be classified in the order of time",
					      info.states->late)
				: "");
		runs += digest.runs;
	}
	if (of_recorder.size() != of_tokens.size())
		return Statement("states", Verdict::fails,
				 "the recorder wrote run lengths of {} {}s, the tokens have {}", of_recorder.size(),
				 subject_name(recorded.tree().subject()), of_tokens.size());
	return Statement("states", Verdict::holds,
			 "the states of {}: the recorder's {} run lengths are those of the tokens",
			 printable(info.states->name), runs);
}

} // namespace

void judge_states(trace::Trace &trace, const RecordingInfo &info, Statements &statements)
{
	if (!info.states)
		return;
	if (info.has_damaged_states())
		return statements.add("states", Verdict::fails,
				      "the times of the run lengths in recording.json are damaged");
	const std::string why = why_not_comparable(trace, info);
	const auto not_witnessed = [&](const std::string &reason) {
		statements.add("states", Verdict::not_witnessed, "the run lengths of {}: {}",
			       printable(info.states->name), reason);
	};
	if (!why.empty())
		return not_witnessed(why);
	try {
		statements.push_back(compare(trace, info));
	} catch (const Error &error) { // the file is untrusted, and the tree may use events that no program had
		not_witnessed(error.what());
	}
}

} // namespace monitor::check
