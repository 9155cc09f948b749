// SPDX-License-Identifier: MIT
#include "stack_options.h"

#include <vector>

#include "base/error.h"
#include "common_options.h"
#include "option_texts.h"
#include "recording/session/stack_choice.h"

namespace monitor {
namespace {

constexpr unsigned usual_rate_hz = 999; // not 1000: a program may do something every millisecond

} // namespace

card::StackOptions StackArguments::options() const
{
	const auto words = [](const std::string &list) {
		return list.empty() ? std::vector<std::string>() : split(list);
	};
	if (which == "no")
		throw Error("--stacks=no takes none: leave out --stacks-on and --rate");
	card::StackOptions options =
	    record::choose_stacks(words(which), words(events), rate_hz.value_or(usual_rate_hz));
	if (rate_hz && options.timer_hz == 0)
		throw Error("--rate is that of stacks at the timer: add --stacks=cpu");
	return options;
}

void add_stack_options(CLI::App &command, StackArguments &arguments, const std::string &use)
{
	add_option(command, "--stacks", "[WHICH,...]", arguments.which,
		   use + ": cpu (at a timer), offcpu (when a thread blocks), wake, fault, exec, syscall:NAME (default: "
			 "cpu,offcpu)")
	    ->expected(0, 1)
	    ->default_str("cpu,offcpu");
	add_option(command, "--stacks-on", "CLASS,...", arguments.events,
		   "also at these events, by the name of their class");
	add_option(command, "--rate", "HZ", arguments.rate_hz, "stacks per second and CPU at the timer (default: 999)")
	    ->check(CLI::Range(1, 10'000));
}

} // namespace monitor
