// SPDX-License-Identifier: MIT
#include "help_format.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace monitor {
namespace {

bool is_more(const CLI::Option *option)
{
	return option->get_group() == more_options;
}

} // namespace

std::string HelpFormat::make_help(const CLI::App *app, std::string name, CLI::AppFormatMode mode) const
{
	if (mode == CLI::AppFormatMode::Sub) // part of the help of the command above
		return make_expanded(app);
	const std::vector<const CLI::Option *> all = app->get_options(
	    [](const CLI::Option *option) { return option->nonpositional() && !option->get_group().empty(); });
	std::vector<const CLI::Option *> shown = all;
	if (mode == CLI::AppFormatMode::Normal)
		std::erase_if(shown, is_more);
	std::string text = make_description(app) + make_usage(app, std::move(name)) + make_positionals(app) +
			   make_group("Options", false, shown);
	if (shown.size() < all.size())
		text += fmt::format("\n{} more options: monitor {} --help-all\n", all.size() - shown.size(),
				    app->get_name());
	return text + make_subcommands(app, mode) + '\n' + make_footer(app);
}

void use_help_format(CLI::App &app)
{
	app.formatter(std::make_shared<HelpFormat>());
	app.set_help_all_flag("--help-all", "Print this help with all options and exit");
}

void show_help_all(CLI::App &app)
{
	for (CLI::App *command : app.get_subcommands([](CLI::App *) { return true; })) {
		show_help_all(*command);
		if (std::ranges::none_of(command->get_options(), is_more))
			command->get_option("--help-all")->group("");
	}
}

} // namespace monitor
