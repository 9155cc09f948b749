// SPDX-License-Identifier: MIT
// The arguments of `monitor report`: which report, of what, with which rows. Filled from the command line by
// add_report_options() and take_report(); used by cmd_report.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "plots.h"
#include "selection.h"

namespace monitor {

enum class What : std::uint8_t {
	cpu,
	syscalls,
	offcpu,
	activities,
	ratios,
	segments,
	samples,
	stacks,
	counts,
	triggers,
	requests,
	help
};

struct Report {
	const char *name;
	What what;
	const char *line;            // of `help`
	std::vector<std::string> by; // its groupings, the default first; none: it has rows of its own
};

struct ReportArguments {
	std::vector<std::string> words; // directories, and perhaps the report's name
	std::string tdl;
	std::string by, sort, every, output, key;
	std::vector<std::string> debug_directories;
	Selection selection;
	PlotArguments plot;
	const Report *report = nullptr;
	bool json = false, csv = false, folded = false, lines = false, idle = false, by_is_chosen = false,
	     is_virtual = false;
	std::size_t top = 0;

	bool is(What what) const { return report->what == what; }
};

void add_report_options(CLI::App &command, ReportArguments &arguments);
void add_debug_directories(CLI::App &command, std::vector<std::string> &directories);
// The last word is the report, if it is the name of one.
void take_report(ReportArguments &arguments);
// Each report has its own kinds of rows, and not every selection has a meaning for it.
void expect_fitting(ReportArguments &arguments);
void print_reports();
std::vector<std::string> report_names();

} // namespace monitor
