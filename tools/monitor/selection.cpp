// SPDX-License-Identifier: MIT
#include "selection.h"

#include <vector>

namespace monitor {
namespace {

template <class Values>
void add_list(CLI::App &command, const char *option, Values &values, const std::string &what, const char *value)
{
	command.add_option(option, values, what)->delimiter(',')->allow_extra_args(false)->option_text(value);
}

} // namespace

void add_selection(CLI::App &command, Selection &selection, const std::string &what, const std::string &of_threads)
{
	const std::string threads = of_threads.empty() ? what : of_threads;
	command
	    .add_option("--from", selection.from,
			"start here: 1.5 or 1500ms from the start of the trace, or a local time")
	    ->option_text("TIME");
	CLI::Option *end = command.add_option(selection.end_option, selection.to, "stop here")->option_text("TIME");
	if (end->check_name("--to")) // `convert` alone has another name for it, which is known everywhere
		command.add_option("--until", selection.to, "stop here")->excludes(end)->group("");
	add_list(command, "--cpu", selection.cpus, what + " these CPUs", "N,...");
	add_list(command, "--pid", selection.threads.pids, threads + " these processes", "PID,...");
	add_list(command, "--tid", selection.threads.tids, threads + " these threads", "TID,...");
	add_list(command, "--comm", selection.threads.comms, threads + " threads with these names, such as 'cc*'",
		 "NAME,...");
	add_list(command, "--cgroup", selection.threads.cgroups, threads + " threads in or below these cgroups",
		 "PATH|ID,...");
	command.add_flag("--command", selection.threads.command, threads + " the recorded command and its descendants");
}

void add_event_filter(CLI::App &command, Selection &selection, const std::string &what)
{
	command.add_option("--filter", selection.filter, what + " events for which this is true, see monitor-list(1)")
	    ->option_text("EXPR");
}

void refuse_option(CLI::App &command, const char *option, const std::string &sentence)
{
	command
	    .add_option_function<std::vector<std::string>>(option,
							   [option, sentence](const std::vector<std::string> &) {
								   throw CLI::ValidationError(std::string(option) +
											      ": " + sentence);
							   })
	    ->expected(0, 1)
	    ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
	    ->group("");
}

void refuse_selection(CLI::App &command, const std::string &sentence)
{
	for (const char *option : selecting_options)
		refuse_option(command, option, sentence);
}

} // namespace monitor
