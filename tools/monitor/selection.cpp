// SPDX-License-Identifier: MIT
#include "selection.h"

#include <vector>

#include "common_options.h"

namespace monitor {

void add_selection(CLI::App &command, Selection &selection, const std::string &what, const std::string &of_threads)
{
	const std::string threads = of_threads.empty() ? what : of_threads;
	add_option(command, "--from", "TIME", selection.from,
		   "start here: 1.5 or 1500ms from the start of the trace, or a local time");
	CLI::Option *end = add_option(command, selection.end_option, "TIME", selection.to, "stop here");
	if (end->check_name("--to")) // `convert` needs --to for the format, so --until works everywhere
		command.add_option("--until", selection.to, "stop here")->excludes(end)->group("");
	add_option(command, "--cpu", "N,...", selection.cpus, what + " these CPUs")->delimiter(',');
	add_option(command, "--pid", "PID,...", selection.threads.pids, threads + " these processes")->delimiter(',');
	add_option(command, "--tid", "TID,...", selection.threads.tids, threads + " these threads")->delimiter(',');
	add_option(command, "--comm", "NAME,...", selection.threads.comms,
		   threads + " threads with these names, such as 'cc*'")
	    ->delimiter(',');
	add_option(command, "--cgroup", "PATH|ID,...", selection.threads.cgroups,
		   threads + " threads in or below these cgroups")
	    ->delimiter(',');
	command.add_flag("--command", selection.threads.command, threads + " the recorded command and its descendants");
}

void add_event_filter(CLI::App &command, Selection &selection, const std::string &what)
{
	add_option(command, "--filter", "EXPR", selection.filter,
		   what + " events for which this is true, see monitor-list(1)");
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
