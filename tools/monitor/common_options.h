// SPDX-License-Identifier: MIT
// How subcommands declare their options, and the options that several of them have.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace monitor {

// Adds an option or argument with a value, shown in the help as `shape`. An option is repeated for each value.
template <class Value>
CLI::Option *add_option(CLI::App &command, const std::string &names, const std::string &shape, Value &value,
			const std::string &help)
{
	CLI::Option *const option = command.add_option(names, value, help)->option_text(shape);
	if constexpr (requires { value.emplace_back(); })
		if (names.starts_with('-'))
			option->allow_extra_args(false);
	return option;
}

// A check beside CLI::Range, which takes "nan" for a number within any range.
inline std::string nan_error(const std::string &text)
{
	return std::isnan(std::strtod(text.c_str(), nullptr)) ? text + " is not a number" : "";
}

// Adds --tdl, passed to Trace::open.
inline void add_tdl_option(CLI::App &command, std::string &tdl)
{
	add_option(command, "--tdl", "FILE", tdl,
		   "read this trace with a TDL description: a file, or the name of a shipped one (monitor-tdl(1))");
}

// Adds the directories of traces to be read as one, and --tdl.
inline void add_traces(CLI::App &command, std::vector<std::string> &directories, std::string &tdl)
{
	add_option(command, "trace", "DIR...", directories, "trace directories; several are read as one")->required();
	add_tdl_option(command, tdl);
}

inline void add_debug_directories(CLI::App &command, std::vector<std::string> &directories)
{
	add_option(command, "--debug-dir", "DIR", directories,
		   "of stacks: search symbols and debug information here, too, by build id (default: /usr/lib/debug)")
	    ->check(CLI::ExistingDirectory);
}

// Adds --sync, two expressions for the events that send and receive a message between hosts, and --key. Returns --sync,
// for options that need it.
inline CLI::Option *add_message_options(CLI::App &command, std::vector<std::string> &sync, std::string &key,
					const std::string &what_for)
{
	CLI::Option *const option =
	    command.add_option("--sync", sync, what_for + ": events that send one, events that receive one")
		->expected(2)
		->option_text("SEND RECEIVE");
	add_option(command, "--key", "NAME,...", key,
		   "fields that identify a message, common to its sending and its arrival")
	    ->needs(option);
	option->needs("--key");
	return option;
}

// CLI11 validator: the error, or "". CLI11 would accept -1 as the largest number.
inline std::string row_count_error(const std::string &text)
{
	constexpr std::size_t max_digits = 18;
	return text.find_first_not_of("0123456789") == std::string::npos && text.size() <= max_digits
		   ? std::string()
		   : "'" + text + "' is not a number of rows";
}

} // namespace monitor
