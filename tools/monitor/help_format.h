// SPDX-License-Identifier: MIT
// How a command prints its help: --help leaves out the options of the group `more_options`, --help-all prints all.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace monitor {

inline constexpr char more_options[] = "More options";

class HelpFormat : public CLI::Formatter {
public:
	std::string make_help(const CLI::App *app, std::string name, CLI::AppFormatMode mode) const override;
};

// Before any command is added, which inherit both. Then show_help_all() decides who shows the flag.
void use_help_format(CLI::App &app);

// Only a command that has more options than its help shows --help-all there; it works everywhere.
void show_help_all(CLI::App &app);

} // namespace monitor
