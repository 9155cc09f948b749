// SPDX-License-Identifier: MIT
#include "text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/escape.h"
#include "step_tables.h"

namespace monitor::requests {
namespace {

using report::count_text;

std::string plural(std::uint64_t count, const char *one, const char *several)
{
	return count_text(count) + ' ' + (count == 1 ? one : several);
}

std::string time_with_bound(const Elapsed &time)
{
	if (!time.is_known())
		return "a time that is unknown";
	return time_text(time.ns) + (time.is_exact ? " exact" : ' ' + bound_text(time));
}

// "on db1 between query and done", "between web1 send and db1 query"
std::string location_text(const Answer &answer, const Step &step)
{
	const Point &from = answer.points[step.from], &to = answer.points[step.to];
	if (from.machine != to.machine || answer.hosts.size() == 1)
		return fmt::format("between {} and {}", point_text(answer, step.from), point_text(answer, step.to));
	return fmt::format("on {} between {} and {}", answer.hosts[from.machine], from.event, to.event);
}

std::string largest_text(const Answer &answer, const Path &path)
{
	if (!path.largest)
		return "no step of it has a known time";
	const Step &step = path.steps[*path.largest];
	std::string text = "of it " + time_text(step.time.ns);
	if (path.total.is_known() && path.total.ns > 0)
		text += fmt::format(" ({:.1f} %)",
				    static_cast<double>(step.time.ns) / static_cast<double>(path.total.ns) * 100);
	text += fmt::format(" {}: {}", location_text(answer, step), bound_text(step.time));
	if (!step.is_order_known)
		text += ", order unknown";
	else if (!path.is_largest_sure)
		text += ", another step may be longer";
	return text;
}

std::string left_out_text(const Answer &answer)
{
	const Collected &out = answer.left_out;
	std::string text;
	if (out.other_events)
		text += plural(out.other_events, "event is", "events are") +
			" of further keys, which are left out: --filter, --from and --to select fewer\n";
	if (out.long_events)
		text += plural(out.long_events, "event has", "events have") +
			fmt::format(" a key of more than 128 bytes, and {} left out\n",
				    out.long_events == 1 ? "is" : "are");
	if (out.crowded_keys)
		text +=
		    fmt::format("{} more than 1,000 events, and {} left out ({}): if it is the value of events that "
				"belong to no request, leave it out with --filter\n",
				plural(out.crowded_keys, "key has", "keys have"), out.crowded_keys == 1 ? "is" : "are",
				plural(out.crowded_events, "event", "events"));
	if (answer.steps_left_out)
		text +=
		    plural(answer.steps_left_out, "step is", "steps are") + " in no row: there are too many kinds\n";
	if (out.losses.gaps)
		text += (out.losses.all_counted ? plural(out.losses.lost, "event was", "events were")
						: std::string("an unknown number of events was")) +
			" lost: requests may lack some, and then have fewer and longer steps\n";
	return text;
}

std::string backwards_text(const Answer &answer)
{
	constexpr std::size_t max_lines = 5;
	std::string text;
	for (std::size_t i = 0; i < std::min(max_lines, answer.backwards.size()); ++i) {
		const Backwards &step = answer.backwards[i];
		text += fmt::format(
		    "contradiction: in {} {} is before {} by more than the bounds of the clocks, in {} it follows: if "
		    "the one causes the other, the clocks or the key are wrong (monitor check --sync)\n",
		    plural(step.requests, "request", "requests"), printable(point_text(answer, step.to)),
		    printable(point_text(answer, step.from)), count_text(step.forward));
	}
	if (answer.backwards.size() > max_lines)
		text += fmt::format("and {} more steps of this kind\n", answer.backwards.size() - max_lines);
	return text;
}

} // namespace

std::string head_text(const Answer &answer)
{
	const std::vector<std::string> hosts = hosts_of(answer);
	return fmt::format("{} by {}, {} on {}\n\n", plural(answer.requests, "request", "requests"),
			   printable(answer.key), plural(answer.events, "event", "events"),
			   hosts.size() == 1 ? printable(hosts.front()) : plural(hosts.size(), "host", "hosts"));
}

std::string slowest_text(const Answer &answer)
{
	if (answer.slowest.empty())
		return "";
	std::string text = "\nthe slowest:\n";
	for (const SlowRequest &request : answer.slowest)
		text += fmt::format("{}: {}, {}\n", printable(request.key), time_with_bound(request.path.total),
				    printable(largest_text(answer, request.path)));
	return text;
}

std::string notes_text(const Answer &answer)
{
	std::string text = "exact: by one host's own clock";
	if (answer.hosts.size() > 1)
		text += "; ±: off by at most so much, the bounds of both hosts' clocks; order unknown: the clocks do "
			"not tell which event was first";
	text += '\n';
	if (answer.unknown_time)
		text += fmt::format(
		    "{} from one host to another whose clock is not known well enough to tell how long it took\n",
		    plural(answer.unknown_time, "request leads", "requests lead"));
	if (answer.single)
		text += plural(answer.single, "key has", "keys have") + " one event only, and so no step\n";
	if (answer.again)
		text += fmt::format("{} {} first event again: if a key is used again, its requests are taken for one\n",
				    plural(answer.again, "request has", "requests have"),
				    answer.again == 1 ? "its" : "their");
	return text + left_out_text(answer) + backwards_text(answer);
}

} // namespace monitor::requests
