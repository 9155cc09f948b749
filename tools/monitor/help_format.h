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

// Call before commands are added, because they inherit it. show_help_all() decides which of them show the flag.
void use_help_format(CLI::App &app);

// Only commands with rare options list --help-all; it works everywhere.
void show_help_all(CLI::App &app);

} // namespace monitor
