// SPDX-License-Identifier: MIT
// Fills the contents of .monitor/recording.json (base/recording_file/contents.h) from the recorder's parts. It is
// written at the start with the state `incomplete`, and again at a clean end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/encoding.h"
#include "base/recording_file/contents.h"
#include "recording.h"
#include "recording/calibration/calibration.h"
#include "recording/card/bpf_card.h"
#include "recording/flight/snapshot.h"
#include "recording/functions/function_search.h"
#include "recording/rings/class_counts.h"
#include "recording/rings/clock.h"
#include "recording/rings/writer.h"
#include "recording/triggers/triggers.h"
#include "recording/user_card/user_counts.h"

namespace monitor::record {

using recording_file::Contents;

// `command_pid` 0: no command.
void add_origin(Contents &file, const Options &options, int command_pid, const std::string &user, const Uuid &uuid);
// May be called again, when more classes are known.
void add_matching(Contents &file, const MatcherRequest &request, const EventMatcher &matcher);
// The triggers and their results so far.
void add_triggers(Contents &file, const std::vector<NamedTrigger> &triggers, const Triggers &fired,
		  const std::vector<ActCounts> &acts, const std::optional<card::UserCounts> &users);
// Other recorders that ran at the start or the end.
void add_other_recorders(Contents &file, const std::vector<pid_t> &others);
// At the start.
void add_calibration(Contents &file, const card::Calibration &calibration);
recording_file::Functions recorded_functions(const functions::FoundFunctions &found);
void add_card(Contents &file, const card::BpfCard &card);
void add_card_counts(Contents &file, const card::BpfCard &card);
void add_late_cpu(Contents &file, const recording_file::LateCpu &late);
// --count-only: what the probes had counted, by name of the class.
std::map<std::string, std::uint64_t> by_name(const CountsByClass &counts);
recording_file::StackCounts stack_counts(const card::StackOptions &chosen, const card::StackMemory &memory,
					 const recording_file::UnwindCounts &unwinding);
recording_file::Moment moment_of(const Sync &sync);
// For a snapshot, instead of the counts from start to end.
void add_snapshot(Contents &file, const SnapshotAccount &account, const Writer &writer);
void add_end(Contents &file, const std::string &reason, std::optional<int> command_exit, bool complete);

void write_recording(const Contents &file, const std::string &directory);

} // namespace monitor::record
