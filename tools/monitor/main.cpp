// SPDX-License-Identifier: MIT
// `monitor`: one program, one subcommand per verb. Every error ends here as one sentence.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/sentence.h"
#include "commands.h"
#include "problems.h"

namespace {

// What CLI11 says, in plain words.
std::string plain_words(const CLI::ParseError &error)
{
	std::string text = error.what();
	const auto after = [&](std::string_view start) { return text.substr(start.size()); };
	constexpr std::string_view not_converted = "Could not convert: ",
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
		if (text.starts_with(start))
			return "unknown or misplaced: " + after(start);
	const std::string name = text.substr(0, text.find(':'));
	if (error.get_name() == "ArgumentMismatch" && text.find(" missing") != std::string::npos)
		return name + " needs a value";
	if (error.get_name() == "ArgumentMismatch" && text.find("At Most 1") != std::string::npos)
		return name + " can be given once";
	return text;
}

// One sentence, and where to read more.
std::string complaint(const CLI::App &app, const CLI::ParseError &error, const std::string &first)
{
	for (const CLI::App *command : app.get_subcommands({})) {
		if (command->get_name() == first)
			return fmt::format("{} (see monitor {} --help)", plain_words(error), first);
	}
	std::string names;
	for (const CLI::App *command : app.get_subcommands({}))
		names += (names.empty() ? "" : ", ") + command->get_name();
	if (first.empty() || first[0] == '-')
		return fmt::format("{}; the commands are {} (see monitor --help)", plain_words(error), names);
	return fmt::format("unknown command '{}'; the commands are {} (see monitor --help)", first, names);
}

// An empty value most likely comes from a variable that is not set: that is not the same as leaving the option out.
void refuse_empty_values(CLI::App &app)
{
	for (CLI::App *command : app.get_subcommands([](CLI::App *) { return true; })) {
		refuse_empty_values(*command);
		command->parse_complete_callback([command] {
			for (const CLI::Option *option : command->get_options())
				if (!option->get_positional() && option->count() &&
				    option->get_items_expected_min() > 0 &&
				    std::ranges::any_of(option->results(), &std::string::empty))
					throw CLI::ValidationError(option->get_name() + ": the value is empty");
		});
	}
}

// A reader that closes the pipe has read enough.
bool is_reader_gone()
{
	pollfd output = {STDOUT_FILENO, POLLOUT, 0};
	return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR);
}

// All of them, or the chosen one: the hundreds of options of the others take longer than to read a small trace.
void add_commands(CLI::App &app, int &exit_code, std::string_view chosen)
{
	const auto all = monitor::commands();
	const auto found = std::ranges::find(all, chosen, &monitor::Command::name);
	for (const monitor::Command &command : found == all.end() ? all : std::span(&*found, 1))
		command.add(app, exit_code);
}

void run(int argc, char **argv, int &exit_code)
{
	CLI::App app(
	    "monitor: show who used this machine, in which mode, what it waited for, and what measuring it cost");
	app.name("monitor");
	app.require_subcommand(1);
	app.set_version_flag("--version", "monitor " MONITOR_VERSION);
	app.footer("Examples:\n"
		   "  sudo monitor record -- make -j2     record the whole machine while the command runs\n"
		   "  monitor report DIR                  who used the CPUs, in which mode\n"
		   "  monitor check DIR                   check whether a trace is true\n"
		   "See `monitor COMMAND --help` and man monitor-COMMAND for more.");
	add_commands(app, exit_code, argc > 1 ? argv[1] : "");
	refuse_empty_values(app);
	try {
		app.parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		exit_code = error.get_exit_code() ? 2 : app.exit(error);
		if (exit_code)
			monitor::print_error(complaint(app, error, argc > 1 ? argv[1] : ""));
	}
}

} // namespace

int main(int argc, char **argv)
{
	int exit_code = 0;
	std::signal(SIGXFSZ, SIG_IGN); // a file at its size limit (ulimit -f) is an error like any other
	try {
		run(argc, argv, exit_code);
	} catch (const std::exception &error) {
		monitor::print_error(monitor::sentence_of(error));
		return exit_code ? exit_code : 1;
	}
	errno = 0;
	if ((std::fflush(stdout) != 0 || std::ferror(stdout)) && !is_reader_gone()) {
		fmt::print(stderr, "monitor: cannot write the output{}{}\n", errno ? ": " : "",
			   errno ? std::strerror(errno) : "");
		return exit_code ? exit_code : 1;
	}
	return exit_code;
}
