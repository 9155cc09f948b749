// SPDX-License-Identifier: MIT
// Merges the shards of a fleet's run: each host's directory, the exchanges of clocks, the accounts, the conflicts.
// A host is in one shard, and shard 0 has the exchanges of all hosts, so no time is changed: write_run_clocks()
// (run_clocks.h) then gives every host its clock as in a run that was collected whole. Invariant: the shards stay
// unchanged, and no collector continues the result, as files are linked.
#pragma once

#include <string>
#include <vector>

namespace monitor::fleet {

// Whether it is the directory of one of several collectors. False for a run that was collected whole.
bool is_shard(const std::string &directory);

struct MergedRuns {
	std::string run; // its name; "": several, or none
	std::vector<std::string> hosts;
	std::vector<std::string> missing; // shards that were not given: "2/4"
};

// Files are linked if the file system allows it, otherwise copied. On error, removes what was written and throws Error.
MergedRuns merge_runs(const std::string &output, const std::vector<std::string> &runs, bool copy);

} // namespace monitor::fleet
