// SPDX-License-Identifier: MIT
// --plot and --svg of the subcommands that print tables: a picture of the rows in the place of the table, or in a file
// beside it. answers/plot/ draws.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "answers/plot/from_table.h"
#include "answers/plot/text.h"
#include "terminal.h"

namespace monitor {

using PlotArguments = plot::Wanted;

// --plot does not go with options that print something else than text: the caller excludes them.
CLI::Option *add_plot_options(CLI::App &command, PlotArguments &arguments);

// As wide as the terminal, or 80 characters; Unicode if the locale has it.
inline plot::Look terminal_look()
{
	const std::size_t width = terminal_width();
	return {width ? width : plot::Look{}.width, locale_is_utf8()};
}
std::string plot_text(const std::vector<plot::Chart> &charts);
// `notes`: what the text says of losses and of what is unknown, in lines. A file that is there is replaced as a whole.
// Throws Error.
void write_svg(const std::vector<plot::Chart> &charts, const std::string &file, const std::string &notes);

} // namespace monitor
