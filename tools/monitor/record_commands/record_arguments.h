// SPDX-License-Identifier: MIT
// The arguments of `monitor record`. Filled from the command line by add_record_options() and parse_record_arguments();
// used by cmd_record.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "recording/session/recording.h"
#include "stack_options.h"

namespace monitor {

// Options as text, and what parse_record_arguments() makes of them.
struct RecordArguments {
	record::Options options;
	std::string families, selection, measurements, ratio_format = "exact", every, reset_on, sample_every, buffer,
						       max_size;
	std::string functions, budget;
	StackArguments stacks;
	std::optional<std::string> filter;
	std::vector<std::string> counts, times, triggers, trigger_files;
	std::string states; // the tree
	std::string statistics, keep;
	std::optional<std::string> flight; // "": default size
	unsigned snapshots = 0;
	bool no_tokens = false, count_only = false;
	bool no_calibration = false, calibrate = false;
	std::optional<int> notify_fd;

	bool has_ratios() const { return !measurements.empty() && ratio_format != "exact"; }
};

void add_record_options(CLI::App &command, RecordArguments &arguments);
// Parses the texts into `options`. Throws Error.
void parse_record_arguments(RecordArguments &arguments);

} // namespace monitor
