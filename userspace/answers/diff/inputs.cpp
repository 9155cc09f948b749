// SPDX-License-Identifier: MIT
// What the recordings of a comparison have in common, and how they differ: see measure.h.
#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <tuple>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/escape.h"
#include "measure.h"
#include "reading/analyze/event_kinds.h"
#include "reading/analyze/scheduling.h"

namespace monitor::diff {
namespace {

using analyze::RecordingInfo;

bool same_modes(const analyze::Recorded &a, const analyze::Recorded &b)
{
	return a.calls == b.calls && a.faults == b.faults && a.interrupts == b.interrupts && a.softirqs == b.softirqs;
}

std::string joined(std::vector<std::string> names)
{
	std::ranges::sort(names);
	std::string text;
	for (const std::string &name : names)
		text += (text.empty() ? "" : ", ") + name;
	return text.empty() ? "none" : text;
}

std::string selected_text(const RecordingInfo &info)
{
	if (info.filter.command)
		return "-p cmd";
	return info.filter.pids.empty() ? "the whole machine" : "-p with process IDs";
}

struct Property {
	const char *name;
	std::function<std::string(const RecordingInfo &)> of;
};

const Property properties[] = {
    {"events",
     [](const RecordingInfo &info) {
	     return joined(info.families) + (info.left_out.empty() ? "" : " without " + joined(info.left_out));
     }},
    {"processes", selected_text},
    {"--filter",
     [](const RecordingInfo &info) { return info.filter.expression.empty() ? "none" : info.filter.expression; }},
    {"kernels", [](const RecordingInfo &info) { return info.kernel; }},
    {"hosts", [](const RecordingInfo &info) { return info.host; }},
    {"numbers of CPUs", [](const RecordingInfo &info) { return std::to_string(info.cpus); }},
    {"cards", [](const RecordingInfo &info) { return info.card; }},
};

constexpr const char *edge_names[] = {"call_edge", "fault_edge"};

double edge_of(const RecordingInfo &info, const char *name)
{
	const auto cost = info.cost_ns.find(name);
	return cost == info.cost_ns.end() ? 0 : cost->second;
}

// The median. 0 if one recording lacks it: then that code is in user time for all. nullopt: recordings of several
// machines or kernels may differ.
std::optional<double> edge_of_all(const char *name, const std::vector<Input> &inputs, bool same_modes)
{
	std::vector<double> all;
	bool is_one_machine = true;
	for (const Input &input : inputs) {
		const RecordingInfo &first = inputs.front().info;
		all.push_back(edge_of(input.info, name));
		is_one_machine &= input.info.kernel == first.kernel && input.info.host == first.host;
	}
	std::ranges::sort(all);
	if (all.front() <= 0 || !same_modes)
		return 0;
	return is_one_machine ? std::optional(all[all.size() / 2]) : std::nullopt;
}

// For one side.
void add_different_commands(std::span<const Input> side, std::vector<std::string> &sentences)
{
	for (const Input &input : side)
		if (input.info.command != side.front().info.command) {
			sentences.push_back(fmt::format("{} and {} are repetitions of different commands",
							printable(side.front().part.text()),
							printable(input.part.text())));
			return;
		}
}

} // namespace

Input input_of(const trace::Trace &trace, const Part &part)
{
	const std::string name = part.text();
	Input input{part, analyze::recording_of(trace), {}, {}, 0, 0, {}, trace.description().clock.to_ticks(2)};
	if (const trace::Description &description = trace.description(); description.has_uuid)
		input.identity.assign(description.uuid.begin(), description.uuid.end());
	struct stat status {};
	if (::stat(part.directory.c_str(), &status) == 0) {
		input.device = status.st_dev;
		input.inode = status.st_ino;
	}
	analyze::expect_scheduling(trace, input.info, name);
	input.recorded = analyze::recorded(trace, input.info, analyze::EventKinds(trace.description()));
	const trace::TimeRange whole = analyze::window_of(trace, input.info),
			       chosen = analyze::whole_periods(trace, input.info, range_of(part, trace, whole));
	input.range = {std::max(whole.from, chosen.from), std::min(whole.to, chosen.to)};
	return input;
}

void expect_repetitions(std::span<const Input> side)
{
	for (std::size_t i = 0; i < side.size(); ++i)
		for (std::size_t k = 0; k < i; ++k) {
			const Input &a = side[k], &b = side[i];
			const bool is_same = (!a.identity.empty() && a.identity == b.identity) ||
					     (a.inode != 0 && a.inode == b.inode && a.device == b.device);
			const std::uint64_t from = std::max(a.range.from, b.range.from);
			const std::uint64_t to = std::min(a.range.to, b.range.to);
			if (is_same && from + a.slack < to)
				throw Error("{} and {} are of the same time of one recording: each repetition is a "
					    "recording, or a window, of its own",
					    a.part.text(), b.part.text());
		}
}

Plan plan_of(const std::vector<Input> &inputs)
{
	Plan plan;
	const auto is_of_command = [](const Input &input) { return input.info.command_pid != 0; };
	const auto is_of_processes = [](const Input &input) { return input.info.filtering(); };
	if (std::ranges::all_of(inputs, is_of_command))
		plan.ours = Ours::command;
	else if (std::ranges::all_of(inputs, is_of_processes))
		plan.ours = Ours::selected;
	const Input &first = inputs.front();
	for (const Input &input : inputs) {
		plan.same_modes &= same_modes(input.recorded, first.recorded);
		plan.same_wakers &= input.recorded.interrupts == first.recorded.interrupts &&
				    input.recorded.softirqs == first.recorded.softirqs;
		plan.separate_throttled &= input.recorded.throttled;
		plan.same_processes &= input.info.filtering() == first.info.filtering();
		plan.same_samples &= input.info.stacks.of_command == first.info.stacks.of_command;
		if (!plan.same_processes && plan.ours == Ours::nobody) {
			const auto &[with, without] =
			    first.info.filtering() ? std::tie(first, input) : std::tie(input, first);
			throw Error("{} was recorded with -p, {} was not, and not both with a command: they have no "
				    "rows in common",
				    with.part.text(), without.part.text());
		}
	}
	for (const char *name : edge_names)
		if (const std::optional<double> ns = edge_of_all(name, inputs, plan.same_modes))
			plan.edges_ns[name] = *ns;
	return plan;
}

std::vector<std::string> differences(const std::vector<Input> &inputs, std::size_t before)
{
	std::vector<std::string> sentences;
	for (const Property &property : properties) {
		const std::string first = property.of(inputs.front().info);
		for (const Input &input : inputs)
			if (const std::string other = property.of(input.info); other != first) {
				sentences.push_back(fmt::format("different {}: {} has {}, {} has {}", property.name,
								printable(inputs.front().part.text()), printable(first),
								printable(input.part.text()), printable(other)));
				break;
			}
	}
	add_different_commands(std::span(inputs).first(before), sentences);
	add_different_commands(std::span(inputs).subspan(before), sentences);
	const auto is_calibrated = [](const Input &input) { return edge_of(input.info, edge_names[0]) > 0; };
	if (std::ranges::any_of(inputs, is_calibrated) && !std::ranges::all_of(inputs, is_calibrated))
		sentences.emplace_back("not all were calibrated: the path into system calls counts as user time");
	return sentences;
}

} // namespace monitor::diff
