// SPDX-License-Identifier: MIT
// The options that select a part of a trace, with one meaning in every reading command; monitor-list(1) describes them.
//
// Commands add them with add_selection(), or refuse them with an error: refuse_selection().
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "answers/selection/selection.h"

namespace monitor {

using selection::event_names;
using selection::print_undecided;
using selection::Selection;

// `what` the help says before each of them: "print only events of"; `of_threads` before those of threads, "": the same.
void add_selection(CLI::App &command, Selection &selection, const std::string &what,
		   const std::string &of_threads = "");
// Also --filter.
void add_event_filter(CLI::App &command, Selection &selection, const std::string &what);

// Refuses these options, unlisted in the help, with an error.
inline constexpr const char *selecting_options[] = {"--from", "--to",   "--cpu",    "--pid",
						    "--tid",  "--comm", "--cgroup", "--command"};
void refuse_option(CLI::App &command, const char *option, const std::string &sentence);
void refuse_selection(CLI::App &command, const std::string &sentence);

} // namespace monitor
