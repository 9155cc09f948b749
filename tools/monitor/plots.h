// SPDX-License-Identifier: MIT
// --plot and --svg of commands that print tables: a plot of the rows instead of the table, or in a file
// (answers/plot/).
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "answers/plot/from_table.h"
#include "answers/plot/text.h"
#include "terminal.h"

namespace monitor {

using PlotArguments = plot::Wanted;

// The caller excludes --plot with options for other formats than text.
CLI::Option *add_plot_options(CLI::App &command, PlotArguments &arguments);

// As wide as the terminal, or 80 characters; Unicode if the locale has it.
inline plot::Look terminal_look()
{
	const std::size_t width = terminal_width();
	return {width ? width : plot::Look{}.width, locale_is_utf8()};
}
std::string plot_text(const std::vector<plot::Chart> &charts);
// `file`: "" for none. `notes`: lines about losses and unknowns. Replaces an existing file atomically. Throws Error.
void write_svg(const std::vector<plot::Chart> &charts, const std::string &file, const std::string &notes);

} // namespace monitor
