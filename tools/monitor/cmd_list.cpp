// SPDX-License-Identifier: MIT
// `monitor list`: prints events on standard output, problems of the trace on standard error. Events before --from are
// read for thread names and current threads, but not printed; --quick skips them. Selecting threads by anything but
// TIDs takes an extra pass. Exit code: 1 if the trace has problems and all was printed, else 0, also if the reader of
// the output closed it.
#include "commands.h"

#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include "answers/listing/listing.h"
#include "common_options.h"
#include "open.h"
#include "problems.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/merge.h"
#include "reading/filter/filter.h"
#include "selection.h"

namespace monitor {
namespace {

struct ListOptions {
	std::vector<std::string> directories;
	std::string tdl;
	Selection selection;
	bool quick = false;
	trace::ListingOptions listing;
};

int list(const ListOptions &options)
{
	using namespace trace;

	Trace trace = open_trace(options.directories, options.tdl);
	const Selection &selection = options.selection;
	const TimeRange range = selection.range(trace, {trace.first_time(), trace.end_time()});
	const EventSelection selected = selection.events(trace);
	const std::optional<filter::Filter> filter = selection.event_filter(trace);
	const auto is_selected = [&](const Event &event, std::int64_t running, const Threads &threads) {
		return selected.includes(event, running) && (!filter || filter->matches(event, {running, &threads}));
	};
	// a write to a closed pipe must return EPIPE, not kill the process
	std::signal(SIGPIPE, SIG_IGN);
	ListingOptions listing_options = options.listing;
	listing_options.events = event_names(listing_options.events, trace.description());
	listing_options.clock = listing_options.clock || (!listing_options.json && selection.is_by_clock());
	Listing listing(trace, listing_options, STDOUT_FILENO);
	for (const auto &cls : trace.description().classes())
		if (filter && !filter->can_match(*cls))
			listing.leave_out(*cls);
	bool is_output_open = true;
	const auto pass = [&](const Event &event) { listing.pass(event); };
	const auto print = [&](const Event &event) -> bool {
		return is_output_open = listing.print(event, is_selected);
	};
	const auto gap = [&](const StreamInfo &stream, std::uint64_t, std::uint64_t, std::uint64_t) {
		listing.gap(stream);
	};
	if (options.quick && range.from > 0) {
		merge_from(trace, range, trace.problems(), pass, print, gap);
	} else {
		const auto visit = [&](const Event &event) -> bool {
			return event.time >= range.from ? print(event) : (pass(event), true);
		};
		merge(trace, {0, range.to}, visit, gap);
	}
	listing.flush();
	const bool is_all = selection.is_all() && options.listing.events.empty();
	if (!listing.printed_any() && !trace.is_empty())
		std::fputs(is_all ? "monitor: this trace has no events\n"
				  : "monitor: no event of this trace matches the options\n",
			   stderr);
	if (const std::string unknown_times = analyze::recording_of(trace).unknown_text();
	    !listing.printed_any() && !unknown_times.empty())
		print_note("monitor: {}\n", unknown_times);
	if (filter)
		print_undecided(*filter);
	return print_problems(trace.problems()) && is_output_open ? 1 : 0;
}

} // namespace

void add_list(CLI::App &app, int &exit_code)
{
	auto options = std::make_shared<ListOptions>();
	CLI::App *command = app.add_subcommand("list", "print every event of a trace, one line each");
	add_traces(*command, options->directories, options->tdl);
	add_selection(*command, options->selection, "print only events of");
	command->add_flag("--quick", options->quick,
			  "do not read events before --from; thread names that occur only there are unknown");
	add_option(*command, "--event", "NAME,...", options->listing.events,
		   "print only events with these names; * and ? match any characters")
	    ->delimiter(',');
	add_event_filter(*command, options->selection, "print only");
	command->add_flag("--clock", options->listing.clock,
			  "print times of day, as is done where --from or --to is one; with --json as wall_ns, too");
	command->add_flag("--json", options->listing.json, "print one JSON object per line");
	command->footer("Exit code: 0 if everything was printed, 1 if parts of the trace are damaged.\n"
			"Examples:\n"
			"  monitor list DIR --from 0.5 --to 0.6 --cpu 0\n"
			"  monitor list DIR --pid 1234 --event sched_switch,sched_waking\n"
			"  monitor list DIR --filter 'name == \"sys_exit\" and ret < 0'\n"
			"  monitor list DIR --filter 'time > 1.5s and (thread == \"make\" or pid in {12, 100..200})'\n"
			"  monitor list DIR --json | head");
	command->callback([options, &exit_code] { exit_code = list(*options); });
}

} // namespace monitor
