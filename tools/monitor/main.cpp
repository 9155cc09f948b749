// SPDX-License-Identifier: MIT
// `monitor`: one program, one subcommand per verb. Every exception ends here as an error message.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include "base/byte_size.h"
#include "base/memory_bound.h"
#include "base/ranges.h"
#include "base/sentence.h"
#include "base/signals.h"
#include "base/suggestions.h"
#include "commands.h"
#include "complaint.h"
#include "help_format.h"
#include "problems.h"
#include "questions.h"
#include "standard_descriptors.h"

namespace {

// An empty value most likely comes from an unset variable, so it must not act like a missing option.
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

// The reader has closed the pipe: not an error.
bool is_reader_gone()
{
	pollfd output = {STDOUT_FILENO, POLLOUT, 0};
	return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR);
}

// Adds all commands, or only the chosen one: creating all options takes longer than reading a small trace.
void add_commands(CLI::App &app, int &exit_code, std::string_view chosen)
{
	const auto all = monitor::commands();
	const auto found = std::ranges::find(all, chosen, &monitor::Command::name);
	for (const monitor::Command &command : found == all.end() ? all : std::span(&*found, 1)) {
		command.add(app, exit_code);
		app.get_subcommand(std::string(command.name))->group(command.purpose);
	}
	monitor::show_help_all(app);
}

bool is_command(const std::string &word)
{
	return std::ranges::find(monitor::commands(), word, &monitor::Command::name) != monitor::commands().end();
}

// `monitor help WORD ...`, where the first word is no command.
int answer_questions(std::span<const std::string> words)
{
	const std::vector<monitor::Question> questions = monitor::questions_with(words);
	for (const monitor::Question &question : questions)
		fmt::print("{}\n    {}\n", question.text, question.commands);
	if (!questions.empty())
		return 0;
	const auto names = monitor::list_of<std::string>(monitor::commands(), &monitor::Command::name);
	monitor::print_error(fmt::format("no command and no question has {} '{}'.{} Try one other word, such as "
					 "`monitor help slow`; the commands are {} (see monitor --help)",
					 words.size() > 1 ? "all of the words" : "the word", fmt::join(words, " "),
					 monitor::suggestions(words.front(), names), fmt::join(names, ", ")));
	return 2;
}

// Whether the command that was given has --from and --to.
bool has_window(const CLI::App &app)
{
	const auto commands = app.get_subcommands();
	return !commands.empty() && commands.front()->get_option_no_throw("--from");
}

void run(std::vector<std::string> words, int &exit_code)
{
	if (!words.empty() && words.front() == "help") {
		words.erase(words.begin());
		if (!words.empty() && !is_command(words.front()) && !words.front().starts_with('-')) {
			exit_code = answer_questions(words);
			return;
		}
		words.emplace_back("--help"); // `monitor help VERB` is `monitor VERB --help`
	}
	CLI::App app(
	    "monitor: show who used this machine, in which mode, what it waited for, and what measuring it cost");
	app.name("monitor");
	monitor::use_help_format(app);
	app.require_subcommand(1);
	app.set_version_flag("-v,--version", "monitor " MONITOR_VERSION);
	app.footer(
	    "Examples:\n"
	    "  sudo monitor record -- make -j2     record the whole machine while the command runs\n"
	    "  monitor report DIR                  who used the CPUs, in which mode\n"
	    "  monitor check DIR                   check whether a trace is true\n"
	    "`monitor COMMAND --help` and man monitor-COMMAND say more of a command; `monitor help WORD`, such as\n"
	    "`monitor help slow`, finds questions and the commands that answer them.");
	monitor::set_memory_bound(monitor::usual_memory_bound());
	app.add_option_function<std::string>(
	       "--memory",
	       [](const std::string &size) { monitor::set_memory_bound(monitor::parse_bytes(size, "--memory")); },
	       "before COMMAND: how much memory reading may take, such as 4G (default: a tenth of the machine's, at "
	       "most 800M)")
	    ->option_text("SIZE");
	const std::string first = words.empty() ? "" : words.front();
	add_commands(app, exit_code, first);
	app.get_option("--help-all")->description("Print the options of every command and exit");
	refuse_empty_values(app);
	try {
		std::ranges::reverse(words); // CLI11 expects them reversed
		app.parse(words);
	} catch (const std::bad_alloc &error) {
		exit_code = exit_code ? exit_code : 1;
		const std::uint64_t bound = monitor::memory_bound();
		monitor::set_memory_bound(0); // the message needs memory
		monitor::print_error(bound ? monitor::memory_ended_text(bound, has_window(app))
					   : monitor::sentence_of(error));
	} catch (const CLI::ParseError &error) {
		exit_code = error.get_exit_code() ? 2 : app.exit(error);
		if (exit_code)
			monitor::print_error(monitor::complaint(app, error, first));
	}
}

} // namespace

int main(int argc, char **argv)
{
	int exit_code = 0;
	monitor::occupy_standard_descriptors();
	monitor::remember_signals();
	std::signal(SIGXFSZ, SIG_IGN); // a file at its size limit (ulimit -f) is an error like any other
	try {
		run({argv + 1, argv + argc}, exit_code);
	} catch (const std::exception &error) {
		monitor::print_error(monitor::sentence_of(error));
		return exit_code ? exit_code : 1;
	}
	errno = 0;
	if ((std::fflush(stdout) != 0 || std::ferror(stdout)) && !is_reader_gone()) {
		monitor::print_note("monitor: cannot write the output{}{}\n", errno ? ": " : "",
				    errno ? std::strerror(errno) : "");
		return exit_code ? exit_code : 1;
	}
	return exit_code;
}
