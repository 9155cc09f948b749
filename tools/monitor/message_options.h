// SPDX-License-Identifier: MIT
// --sync and --key: which events of programs are the sending and the arrival of a message between hosts.
// Used by cmd_check.cpp and cmd_merge.cpp.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace monitor {

// `sync`: two expressions. Returns --sync, for options that need it.
inline CLI::Option *add_message_options(CLI::App &command, std::vector<std::string> &sync, std::string &key,
					const std::string &what_for)
{
	CLI::Option *const option =
	    command.add_option("--sync", sync, what_for + ": events that send one, events that receive one")
		->expected(2)
		->option_text("SEND RECEIVE");
	command.add_option("--key", key, "fields that identify a message, common to its sending and its arrival")
	    ->needs(option)
	    ->option_text("NAME,...");
	option->needs("--key");
	return option;
}

} // namespace monitor
