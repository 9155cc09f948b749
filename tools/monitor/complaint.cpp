// SPDX-License-Identifier: MIT
#include "complaint.h"

#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ranges.h"
#include "base/suggestions.h"

namespace monitor {
namespace {

// The innermost subcommand: `add` of `monitor archive add`.
const CLI::App &chosen(const CLI::App &app)
{
	const std::vector<CLI::App *> parsed = app.get_subcommands();
	return parsed.empty() ? app : chosen(*parsed.back());
}

std::string command_path(const CLI::App &command)
{
	const std::string before = command.get_parent() ? command_path(*command.get_parent()) + " " : "";
	return before + command.get_name();
}

std::vector<std::string> names_of_subcommands(const CLI::App &command)
{
	return list_of<std::string>(command.get_subcommands({}), [](const CLI::App *each) { return each->get_name(); });
}

std::vector<std::string> names_of_options(const CLI::App &command)
{
	std::vector<std::string> names;
	for (const CLI::Option *option : command.get_options())
		for (const std::string &name : option->get_lnames())
			names.push_back("--" + name);
	return names;
}

// As in --help: AFTER, --to FORMAT.
std::string usage_text(const CLI::Option &option)
{
	const std::string &value = option.get_option_text();
	if (option.get_positional())
		return value.empty() ? option.get_name() : value;
	return option.get_name() + (value.empty() ? "" : " " + value);
}

std::string what_is_missing(const CLI::App &command, const std::string &name)
{
	if (name == "A subcommand")
		return fmt::format("{} needs one of its commands: {}", command_path(command),
				   fmt::join(names_of_subcommands(command), ", "));
	std::string missing = name, usage = command_path(command);
	for (const CLI::Option *option : command.get_options()) {
		if (option->get_name() == name)
			missing = usage_text(*option);
		if (option->get_required() || option->get_name() == name)
			usage += " " + usage_text(*option);
	}
	return fmt::format("{} is missing: {}", missing, usage);
}

// "--by: proces not in {process,thread}"
std::string not_a_choice(const std::string &text, std::size_t position)
{
	const std::size_t colon = text.find(": ");
	const std::string option = colon < position ? text.substr(0, colon + 2) : "";
	const std::string value = text.substr(option.size(), position - option.size());
	std::stringstream list(text.substr(text.find('{', position) + 1));
	std::vector<std::string> choices;
	for (std::string choice; std::getline(list, choice, ',');)
		choices.push_back(choice.substr(0, choice.find('}')));
	return fmt::format("{}'{}' is not one of {}.{}", option, value, fmt::join(choices, ", "),
			   suggestions(value, choices));
}

std::string plain_sentence(const CLI::App &command, const CLI::ParseError &error)
{
	const std::string text = error.what();
	const auto after = [&](std::string_view start) { return text.substr(start.size()); };
	constexpr std::string_view not_converted = "Could not convert: ", required = " is required",
				   not_expected[] = {"The following argument was not expected: ",
						     "The following arguments were not expected: "};
	if (text.starts_with(not_converted)) {
		const std::string what = after(not_converted);
		const std::size_t equal = what.find(" = ");
		return equal == std::string::npos
			   ? what + " is not a number"
			   : fmt::format("{}: '{}' is not a number", what.substr(0, equal), what.substr(equal + 3));
	}
	for (const std::string_view start : not_expected)
		if (text.starts_with(start)) {
			const std::string what = after(start);
			const std::string near =
			    what.starts_with("--") ? suggestions(what, names_of_options(command)) : "";
			return "unknown or misplaced: " + what + (near.empty() ? "" : "." + near);
		}
	if (error.get_name() == "RequiredError" && text.ends_with(required))
		return what_is_missing(command, text.substr(0, text.size() - required.size()));
	if (const std::size_t position = text.find(" not in {"); position != std::string::npos)
		return not_a_choice(text, position);
	const std::string name = text.substr(0, text.find(':'));
	if (error.get_name() == "ArgumentMismatch" && text.find(" missing") != std::string::npos)
		return name + " needs a value";
	if (error.get_name() == "ArgumentMismatch" && text.find("At Most 1") != std::string::npos)
		return name + " can be given once";
	return text;
}

} // namespace

std::string complaint(const CLI::App &app, const CLI::ParseError &error, const std::string &first)
{
	const CLI::App &command = chosen(app);
	if (&command != &app)
		return fmt::format("{} (see {} --help)", plain_sentence(command, error), command_path(command));
	const std::vector<std::string> names = names_of_subcommands(app);
	std::string what = "no command is given.";
	if (first.starts_with('-') && error.get_name() != "RequiredError")
		what = plain_sentence(app, error) + ".";
	else if (!first.empty() && !first.starts_with('-'))
		what = fmt::format("unknown command '{}'.{}", first, suggestions(first, names));
	return fmt::format("{} The commands are {} (see monitor --help)", what, fmt::join(names, ", "));
}

} // namespace monitor
