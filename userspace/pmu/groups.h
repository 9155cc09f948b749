// SPDX-License-Identifier: MIT
// Groups: files of measurements under a short name (`-m cache`). Shipped ones are in share/groups, the user's own in
// ~/.config/monitor/groups, which go first. Documentation/groups.md tells the format. Called by selection.cpp and by
// `monitor events --groups`. Errors name file, line and column.
#pragma once

#include <string>
#include <vector>

#include "formula.h"
#include "machine.h"

namespace monitor::pmu {

struct GroupLine {
	std::string name;
	Formula formula;
	std::size_t line = 0, column = 0; // where the formula begins, from 1
};

// Lines for some CPUs: they replace those of the same name and add to the others.
struct GroupSection {
	std::vector<std::string> cpus; // "intel", "skl", ...: as in its brackets
	std::vector<GroupLine> lines;
};

struct Group {
	std::string name, path, description;
	std::vector<GroupLine> general;
	std::vector<GroupSection> sections;
};

Group parse_group(const std::string &name, const std::string &path, const std::string &text);

// Throws Error if there is none, naming those that there are.
Group load_group(const std::string &name, const Machine &machine);

std::vector<std::string> group_names(const Machine &machine);

// What the group measures on CPUs of these families: the general lines with the first section that fits.
std::vector<GroupLine> lines_for(const Group &group, const std::vector<std::string> &families);

// Whether a section's brackets mean this family: by its vendor, its name, or the beginning of a part of its name.
bool fits(const std::vector<std::string> &cpus, const std::string &family);

} // namespace monitor::pmu
