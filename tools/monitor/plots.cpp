// SPDX-License-Identifier: MIT
#include "plots.h"

#include <filesystem>
#include <span>

#include <fcntl.h>

#include "answers/plot/svg.h"
#include "base/escape.h"
#include "base/fd.h"
#include "common_options.h"
#include "problems.h"
#include "standard_descriptors.h"

namespace monitor {

CLI::Option *add_plot_options(CLI::App &command, PlotArguments &arguments)
{
	add_option(command, "--svg", "FILE", arguments.file, "draw the figures into this file, too, as a picture");
	return command.add_flag("--plot", arguments.in_text, "draw the figures of the table instead of printing them");
}

std::string plot_text(const std::vector<plot::Chart> &charts)
{
	return plot::to_text(charts, terminal_look());
}

void write_svg(const std::vector<plot::Chart> &charts, const std::string &file, const std::string &notes)
{
	if (file.empty())
		return;
	drop_text_if_stdout_closed();
	const std::string svg = plot::to_svg(charts, notes);
	std::error_code unknown;
	const std::filesystem::file_status status = std::filesystem::status(file, unknown);
	if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) // a pipe or a terminal
		write_all(open_file(file, O_WRONLY | O_CLOEXEC).get(), std::as_bytes(std::span(svg)), file);
	else if (std::filesystem::exists(status)) // the target of a symbolic link
		replace_file(std::filesystem::canonical(file), svg, static_cast<unsigned>(status.permissions()) & 0777);
	else
		replace_file(file, svg, 0644);
	print_note("monitor: {} written\n", printable(file));
}

} // namespace monitor
