// SPDX-License-Identifier: MIT
#include "conservation.h"

#include <numeric>

#include <fmt/ranges.h>

#include "base/grow.h"

namespace monitor::check {
namespace {

constexpr unsigned first_kernel_id = EDC_ID_KERNEL_FIRST;

std::uint64_t seen_of(const RecordingInfo &info, const std::string &name)
{
	std::uint64_t seen = 0;
	for (const ClassCounts &counts : info.classes)
		if (counts.name == name)
			seen += counts.seen;
	return seen;
}

} // namespace

void Conservation::trigger_event(const trace::Event &event)
{
	switch (event.cls->id) {
	case EDC_ID_PAUSED:
	case EDC_ID_RECORDER_PAUSED:
		++pauses_;
		paused_ticks_ += trace::FieldRef(*event.cls, "duration").get(event);
		break;
	case EDC_ID_TRIGGER_FIRED:
	case EDC_ID_RECORDER_FIRED:
	case EDC_ID_PROGRAM_FIRED: {
		const std::size_t number =
		    trace::FieldRef(*event.cls, "trigger").get<std::uint16_t>(event); // untrusted
		++grow_to(firings_, number);
		break;
	}
	default:
		break;
	}
}

std::uint64_t Conservation::total() const
{
	return std::accumulate(tokens_.begin(), tokens_.end(), std::uint64_t{0});
}

void Conservation::judge(const RecordingInfo &info, bool hidden, Statements &statements) const
{
	if (!info.complete())
		return statements.add(
		    "conservation", Verdict::not_checked,
		    "conservation cannot be checked: the recording was not completed and left no counts");
	if (info.flight)
		judge_snapshot(info, statements);
	else
		judge_classes(info, statements);
	judge_control(info, statements);
	judge_losses(info, statements);
	judge_triggers(info, statements);
	judge_user(info, statements);
	for (const auto &[event, fired] : info.fault_counts) {
		const std::uint64_t seen = seen_of(info, event);
		// Hidden threads have no tokens; and without tokens there is no list of threads.
		const Verdict verdict = seen == fired            ? Verdict::holds
					: hidden && seen < fired ? Verdict::not_checked
								 : Verdict::fails;
		statements.add("fired_" + event, verdict, "{}: the kernel fired it {} times, the probe saw {}{}", event,
			       fired, seen,
			       verdict != Verdict::not_checked ? ""
			       : info.has_tokens               ? "; those of hidden threads are missing"
						 : "; those of threads that the kernel hides are missing");
	}
}

void Conservation::judge_classes(const RecordingInfo &info, Statements &statements) const
{
	if (info.has_only_states()) {
		const auto sum = [&](auto member) {
			return std::accumulate(info.classes.begin(), info.classes.end(), std::uint64_t{0},
					       [&](std::uint64_t so_far, const ClassCounts &counts) {
						       return so_far + (counts.*member)();
					       });
		};
		return statements.add("conservation", Verdict::not_witnessed,
				      "{} tokens were read for the states and not written, {} were lost",
				      sum(&ClassCounts::written), sum(&ClassCounts::lost));
	}
	std::uint64_t seen = 0, lost = 0, filtered = 0, paused = 0, in_blocks = 0;
	bool all = true;
	std::vector<bool> counted(tokens_.size());
	for (const ClassCounts &counts : info.classes) {
		const std::uint64_t found = tokens_[counts.id & 4095];
		counted[counts.id & 4095] = true;
		seen += counts.seen;
		lost += counts.lost();
		filtered += counts.filtered;
		paused += counts.paused;
		in_blocks += found;
		if (found == counts.written())
			continue;
		all = false;
		statements.add("conservation", Verdict::fails,
			       "{} ({}): {} seen, but {} in blocks + {} discarded + {} nested too deep + {} filtered + "
			       "{} not stored in pauses",
			       counts.name, counts.id, counts.seen, found, counts.discarded, counts.too_deep,
			       counts.filtered, counts.paused);
	}
	for (unsigned id = first_kernel_id; id < tokens_.size(); ++id)
		if (tokens_[id] && !counted[id]) {
			all = false;
			statements.add("conservation", Verdict::fails,
				       "class {}: {} tokens in blocks that no probe counted", id, tokens_[id]);
		}
	if (all)
		statements.add("conservation", Verdict::holds,
			       "{} events seen = {} tokens in blocks + {} lost + {} filtered out{}, in each class",
			       seen, in_blocks, lost, filtered,
			       paused ? fmt::format(" + {} not stored in pauses", paused) : "");
}

// For a flight recorder: what its rings discarded is known per ring, not per class.
void Conservation::judge_snapshot(const RecordingInfo &info, Statements &statements) const
{
	std::uint64_t copied = 0, found = 0;
	std::string wrong;
	for (const ClassCounts &counts : info.classes) {
		copied += counts.seen;
		if (tokens_[counts.id & 4095] != counts.seen)
			wrong = fmt::format("; of {} ({}) {} and {}", counts.name, counts.id, counts.seen,
					    tokens_[counts.id & 4095]);
	}
	for (std::size_t id = first_kernel_id; id < tokens_.size(); ++id)
		found += tokens_[id];
	statements.add("conservation", wrong.empty() && copied == found ? Verdict::holds : Verdict::fails,
		       "{} tokens were copied from the rings, {} are in blocks{}", copied, found, wrong);
}

void Conservation::judge_control(const RecordingInfo &info, Statements &statements) const
{
	const std::uint64_t found =
	    std::accumulate(tokens_.begin(), tokens_.begin() + first_kernel_id, std::uint64_t{0});
	const bool holds = info.recorder.control_tokens && *info.recorder.control_tokens == found;
	statements.add("control_tokens", holds ? Verdict::holds : Verdict::fails,
		       info.recorder.control_tokens
			   ? fmt::format("the recorder wrote {} tokens of its own, {} are in blocks",
					 *info.recorder.control_tokens, found)
			   : "recording.json does not say how many tokens the recorder itself wrote");
}

// Events of instrumented programs: counted by their cards and the recorder, against those in the streams.
void Conservation::judge_user(const RecordingInfo &info, Statements &statements) const
{
	if (!info.user_card)
		return;
	const UserInfo &user = *info.user_card;
	const bool is_equal = user.tokens == user_tokens_ && user.discarded == user_discarded_;
	statements.add("user_events",
		       info.has_only_states()         ? Verdict::not_witnessed
		       : is_equal && !user_uncounted_ ? Verdict::holds
						      : Verdict::fails,
		       "{} events of {} instrumented processes were read, {} are in blocks; {} were discarded by full "
		       "rings, the streams report {}{}; {} occurred before there were rings{}",
		       user.tokens, user.processes, user_tokens_, user.discarded, user_discarded_,
		       user_uncounted_ ? " and others that are not counted" : "", user.early,
		       user.filtered ? fmt::format("; {} more were filtered out", user.filtered) : "");
	judge_claims(user, statements);
	if (user.not_searched)
		statements.add("user_search", Verdict::not_checked,
			       "{} processes that ran before the recording could not be searched: if they are "
			       "instrumented, their events may be missing",
			       user.not_searched);
	if (user.unanswered)
		statements.add("user_unanswered", Verdict::fails,
			       "{} instrumented programs ended, or executed another one, before the recorder had "
			       "answered them: what they posted is not counted",
			       user.unanswered);
	if (user.damaged)
		statements.add("user_damage", Verdict::fails, "{} blocks of instrumented processes were damaged: {}",
			       user.damaged, user.damage);
	if (user.refused + user.classes_refused)
		statements.add("user_refused", Verdict::fails,
			       "rings were refused to {} processes, and ids to {} event classes{}", user.refused,
			       user.classes_refused, user.why_refused.empty() ? "" : " (" + user.why_refused + ")");
}

// The losses that each process reports, as nothing else can count them.
void Conservation::judge_claims(const UserInfo &user, Statements &statements)
{
	std::string text;
	for (const UserClaim &claim : user.largest_claims) {
		if (claim.possible)
			text += fmt::format("; process {}: {} discarded by its rings, {} before it had any",
					    claim.process, claim.discarded, claim.early);
		else
			statements.add(
			    "user_claims", Verdict::fails,
			    "process {} reports more lost events than all CPUs can post: that is not believed",
			    claim.process);
	}
	if (!text.empty())
		statements.add("user_claims", Verdict::holds, "{} processes report lost events, {} in total{}",
			       user.claims, user.discarded + user.early, text);
}

void Conservation::judge_triggers(const RecordingInfo &info, Statements &statements) const
{
	if (info.pauses.number || pauses_)
		statements.add("pauses",
			       pauses_ == info.pauses.number && paused_ticks_ == info.pauses.ticks ? Verdict::holds
												   : Verdict::fails,
			       "{} pauses in which nothing was stored; the tokens tell of {}, {} as long in all",
			       info.pauses.number, pauses_, paused_ticks_ == info.pauses.ticks ? "just" : "not");
	if ((info.triggers.empty() && firings_.empty()) || info.flight || info.has_only_states())
		return; // a snapshot has only some of them
	std::uint64_t fired = 0, tokens = 0, lost = info.triggers_without_token;
	bool holds = firings_.size() <= info.triggers.size();
	for (std::size_t i = 0; i < info.triggers.size(); ++i) {
		const std::uint64_t found = i < firings_.size() ? firings_[i] : 0;
		fired += info.triggers[i].fired.value_or(0);
		tokens += found;
		holds &= info.triggers[i].fired && found <= *info.triggers[i].fired;
	}
	for (const ClassCounts &counts : info.classes)
		if (counts.id == EDC_ID_TRIGGER_FIRED)
			lost += counts.lost();
	statements.add("triggers", holds && fired == tokens + lost ? Verdict::holds : Verdict::fails,
		       "{} triggers fired {} times = {} tokens + {} that have none or were lost", info.triggers.size(),
		       fired, tokens, lost);
}

void Conservation::judge_losses(const RecordingInfo &info, Statements &statements) const
{
	std::uint64_t refused = info.flight ? info.flight->discarded : 0, too_deep = 0;
	for (const ClassCounts &counts : info.classes) {
		refused += counts.discarded;
		too_deep += counts.too_deep;
	}
	const std::uint64_t paused = info.paused();
	const std::uint64_t marks = info.phase_marks();
	const bool placed = discarded_ == refused + paused + marks && !uncounted_;
	statements.add("losses_placed",
		       info.has_only_states() ? Verdict::not_witnessed
		       : placed               ? Verdict::holds
					      : Verdict::fails,
		       "{} tokens were discarded by full rings{}{}, the streams report {} in {} gaps{}", refused,
		       paused ? fmt::format(" and {} not stored in pauses", paused) : "",
		       marks ? fmt::format(" and {} gaps marked where probes were detached", marks) : "", discarded_,
		       gaps_, uncounted_ ? ", some uncounted" : "");
	if (marks)
		statements.add("calibration", Verdict::not_checked,
			       "all probes were detached {} times while the command ran, and once before, to "
			       "calibrate: how many events there were then is not known",
			       info.calibration->phases->number);
	if (refused + too_deep)
		statements.add("losses", Verdict::holds,
			       "{} events were lost and counted: {} discarded by full rings, {} nested too deep",
			       refused + too_deep, refused, too_deep);
	if (!info.has_losses_of_cpus())
		statements.add("losses_by_cpu", Verdict::fails,
			       "{} events were lost, but recording.json's losses by CPU are not as many: {}",
			       info.lost(), fmt::join(info.lost_by_cpu, ", "));
	for (const WithoutRoom &each : info.stacks.unwinding.without_room)
		statements.add("stacks_without_room", Verdict::not_checked,
			       "stacks of user {} may end early: {} lists of mappings and {} unwind tables of the "
			       "user's programs found no room in the recorder's tables, of which a user has a share",
			       each.user, each.mappings, each.tables);
	if (info.stacks.unwinding.opener_lost)
		statements.add("stacks_opener", Verdict::fails,
			       "the process that opens files for --stacks was ended: stacks of what programs started "
			       "or loaded later end early, and their functions have no names");
	if (info.recorder.dropped_blocks)
		statements.add("dropped_blocks", Verdict::fails, "{} blocks could not be written to the disk",
			       info.recorder.dropped_blocks);
	const std::uint64_t misses = info.missed();
	const std::uint64_t fired =
	    std::accumulate(info.classes.begin(), info.classes.end(), misses,
			    [](std::uint64_t sum, const ClassCounts &c) { return sum + c.seen; });
	const bool counted = info.misses.start.size() == info.misses.end.size() &&
			     (info.card == "user" || info.card == "module" || !info.misses.end.empty());
	statements.add("misses", misses || !counted ? Verdict::fails : Verdict::holds,
		       "{} times the kernel refused to run a probe (its recursion_misses); fired {}", misses, fired);
	if (info.clamped > total() / 1000)
		statements.add("clamped", Verdict::fails, "{} times stepped back and were moved up to the previous one",
			       info.clamped);
	if (info.traced_refused)
		statements.add("filter_full", Verdict::fails, "{} threads did not fit into the filter of -p",
			       info.traced_refused);
}

} // namespace monitor::check
