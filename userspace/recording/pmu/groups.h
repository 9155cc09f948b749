// SPDX-License-Identifier: MIT
// Groups: files of measurements under a short name (`-m cache`). Shipped ones are in share/groups; the user's own in
// ~/.config/monitor/groups take precedence. Documentation/counters.md describes the format. Errors name file, line and
// column.
#pragma once

#include <string>
#include <vector>

#include "formula.h"
#include "machine.h"

namespace monitor::pmu {

struct GroupLine {
	std::string name;
	Formula formula;
	TextPosition position; // of the formula
};

// Lines for some CPUs: they replace general lines of the same name; the others are added.
struct GroupSection {
	std::vector<std::string> cpus; // "intel", "skl", ...: as written in its brackets
	std::vector<GroupLine> lines;
};

struct Group {
	std::string name, path, description;
	std::vector<GroupLine> general;
	std::vector<GroupSection> sections;
};

Group parse_group(const std::string &name, const std::string &path, const std::string &text);

// Throws Error if there is no such group, and names those that exist.
Group load_group(const std::string &name, const Machine &machine);

std::vector<std::string> group_names(const Machine &machine);

// What the group measures on CPUs of these families: the general lines and those of the first section that fits.
std::vector<GroupLine> lines_for(const Group &group, const std::vector<std::string> &families);

// Whether a section's brackets match this family: by its vendor, its name, or the start of a part of its name.
bool fits(const std::vector<std::string> &cpus, const std::string &family);

} // namespace monitor::pmu
