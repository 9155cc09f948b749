// SPDX-License-Identifier: MIT
// `monitor events`: sets of families, families and event classes with their fields, by the names that `record -e` and
// `list --event` take; with --functions what `record --functions` can probe in a program; with --pmu the events that a
// counter can count, with --groups what `record -m` measures. Exit code: 0, whatever is missing.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/json.h"
#include "commands.h"
#include "common_options.h"
#include "recording/card/bpf_card.h"
#include "recording/card/classes.h"
#include "recording/functions/function_search.h"
#include "recording/functions/patch_trial.h"
#include "recording/pmu/list.h"
#include "recording/pmu/measure.h"
#include "recording/recorder/user.h"

namespace monitor {
namespace {

std::string fields_of(const card::ClassRow &row)
{
	std::string text;
	for (const card::ClassField &field : row.fields)
		text += fmt::format("{}{} {}", text.empty() ? "" : ", ", field.kind, field.name);
	return text;
}

void print_text()
{
	for (const card::EventSet &set : card::event_sets())
		fmt::print("{}: {}\n", set.name, set.what);
	fmt::print("\n");
	for (const card::Family &family : card::families()) {
		fmt::print("{}{}: {}\n", family.name, family.by_default ? "" : " (not recorded by default)",
			   family.what);
		for (const card::ClassRow &row : card::kernel_classes())
			if (std::string(row.family) == family.name)
				fmt::print("  {:<4} {:<27} {} bytes  {}\n", row.id, row.name, 8 * (row.words + 1),
					   fields_of(row));
		fmt::print("\n");
	}
	fmt::print("Fields of 16 bits (u16, s16, x16, state, syscall with abi ...) are in the token itself.\n");
}

void print_json()
{
	auto all = nlohmann::ordered_json::array();
	for (const card::ClassRow &row : card::kernel_classes()) {
		auto fields = nlohmann::ordered_json::array();
		for (const card::ClassField &field : row.fields)
			fields.push_back({{"name", field.name}, {"kind", field.kind}});
		all.push_back({{"id", row.id},
			       {"name", row.name},
			       {"family", row.family},
			       {"bytes", 8 * (row.words + 1)},
			       {"fields", fields}});
	}
	fmt::print("{}\n", json_dump(all, 1));
}

using Json = nlohmann::ordered_json;

Json encoding(const perf_event_attr &attributes, bool is_known)
{
	if (!is_known)
		return {{"type", nullptr}, {"config", nullptr}, {"config1", nullptr}};
	return {{"type", attributes.type}, {"config", attributes.config}, {"config1", attributes.config1}};
}

Json to_json(const pmu::ListedEvent &event)
{
	Json row = {{"name", event.name}, {"kind", event.kind}, {"description", event.what}};
	row.update(encoding(event.attributes, event.is_encoded));
	row["missing"] = event.is_tried ? Json(event.missing) : Json();
	return row;
}

void print_pmu_notes(const pmu::Machine &machine)
{
	if (!pmu::has_pmu(machine))
		fmt::print("{}: hardware events cannot be counted here.\n", pmu::no_pmu(machine));
	if (machine.families.empty())
		fmt::print("libpfm4 has no vendor names for the events of this CPU.\n");
}

int print_pmu(const std::string &pattern, bool json)
{
	const pmu::Machine machine = pmu::this_machine();
	const auto events = pmu::list_events(pattern, machine);
	auto all = Json::array();
	std::string kind;
	for (const pmu::ListedEvent &event : events) {
		if (json) {
			all.push_back(to_json(event));
			continue;
		}
		if (event.kind != kind)
			fmt::print("{}{}:\n", kind.empty() ? "" : "\n", event.kind);
		kind = event.kind;
		fmt::print("  {:<38} {}{}\n", event.name, event.what,
			   event.missing.empty() ? "" : fmt::format(" [n/a: {}]", event.missing));
	}
	if (json) {
		fmt::print("{}\n", json_dump(all, 1));
		return 0;
	}
	fmt::print("{}",
		   events.empty() ? "No event has \"" + printable(pattern) + "\" in its name or description.\n" : "\n");
	print_pmu_notes(machine);
	return 0;
}

Json to_json(const pmu::ResolvedMeasurement &measured)
{
	const pmu::Measurement &definition = measured.measurement;
	auto events = Json::array();
	for (const pmu::Event &event : measured.events) {
		Json row = {{"name", event.name}};
		row.update(encoding(event.attributes, event.missing.empty()));
		events.push_back(row);
	}
	return {{"name", definition.name}, {"formula", definition.formula},
		{"unit", definition.unit}, {"missing", definition.missing},
		{"events", events},        {"unknown", measured.unknown}};
}

void print_group(const pmu::Group &group, const std::vector<pmu::ResolvedMeasurement> &all)
{
	fmt::print("{}: {}\n", printable(group.name), printable(group.description));
	for (const pmu::ResolvedMeasurement &measured : all) {
		const pmu::Measurement &definition = measured.measurement;
		const std::string unit = definition.unit.empty() ? "" : " [" + definition.unit + "]";
		fmt::print("  {:<14} {}{}{}\n", printable(definition.name), printable(definition.formula),
			   printable(unit),
			   definition.missing.empty() ? "" : "  n/a: " + printable(definition.missing));
	}
	fmt::print("\n");
}

Json to_json(const pmu::Group &group, const std::vector<pmu::ResolvedMeasurement> &all)
{
	auto measurements = Json::array();
	for (const pmu::ResolvedMeasurement &measured : all)
		measurements.push_back(to_json(measured));
	return {{"group", group.name},
		{"description", group.description},
		{"path", group.path},
		{"measurements", measurements}};
}

int print_groups(bool json)
{
	const pmu::Machine machine = pmu::this_machine();
	auto groups = Json::array();
	for (const std::string &name : pmu::group_names(machine)) {
		const pmu::Group group = pmu::load_group(name, machine);
		const auto all = pmu::measure_group(group, machine);
		if (json)
			groups.push_back(to_json(group, all));
		else
			print_group(group, all);
	}
	if (json)
		fmt::print("{}\n", json_dump(groups, 1));
	else
		print_pmu_notes(machine);
	return 0;
}

// Measures the cost of an event in ns; needs root to attach probes.
functions::EventCosts costs_of(const std::vector<card::Function> &functions, const record::User &user)
{
	functions::EventCosts costs;
	if (!std::ranges::all_of(functions, &card::Function::is_probed))
		costs.patched = functions::time_patched_event(user);
	if (::geteuid() != 0 || std::ranges::none_of(functions, &card::Function::is_probed))
		return costs;
	try {
		card::CardOptions options;
		options.cpus = static_cast<unsigned>(::get_nprocs_conf());
		options.blocks_per_cpu = 4ull * options.rings();
		options.functions = {{"trial", "/proc/self/exe", 0, {}, {}}};
		costs.probed = card::BpfCard(options).time_function_event();
	} catch (const Error &) { // `monitor doctor` says why
	}
	return costs;
}

// Every function of a file, or those that FILE:PATTERN matches.
int print_functions(const std::string &file, bool json)
{
	const std::string pattern = file.find(':') == std::string::npos ? file + ":*" : file;
	const record::User user = record::invoking_user();
	const functions::FoundFunctions found = functions::find_functions({pattern}, {}, {}, true, user);
	const functions::EventCosts costs = costs_of(found.functions, user);
	auto all = Json::array();
	if (!json)
		fmt::print("{:<50} {:<6} {:>6}  {}\n", "function", "method", "places", "added ns per call");
	for (const card::Function &function : found.functions) {
		const std::string method = function.is_probed() ? "uprobe" : "patch";
		const card::CalibratedCost &event = function.is_probed() ? costs.probed : costs.patched;
		const bool is_known = event.rounds > 0;
		const std::size_t places = 1 + function.exits.size();
		if (json)
			all.push_back(
			    {{"name", function.name},
			     {"method", method},
			     {"places", places},
			     {"ns_per_call", is_known ? Json::array({2 * event.low, 2 * event.high}) : Json()}});
		else
			fmt::print("{:<50} {:<6} {:>6}  {}\n", printable(function.name), method, places,
				   is_known ? fmt::format("{:.0f} to {:.0f}", 2 * event.low, 2 * event.high)
					    : "unknown");
	}
	for (const functions::LeftOut &function : found.left_out)
		if (json)
			all.push_back({{"name", function.name}, {"method", nullptr}, {"why_not", function.why}});
		else
			fmt::print("{:<50} none   {}\n", printable(function.name), printable(function.why));
	if (json)
		fmt::print("{}\n", json_dump(all, 1));
	return 0;
}

struct EventsOptions {
	bool json = false, groups = false;
	std::string pattern, file;
};

int print_classes(bool json)
{
	json ? print_json() : print_text();
	return 0;
}

} // namespace

void add_events(CLI::App &app, int &exit_code)
{
	CLI::App *command =
	    app.add_subcommand("events", "list events and their fields, counters, and groups of measurements");
	auto options = std::make_shared<EventsOptions>();
	auto *pmu =
	    add_option(*command, "--pmu", "[PATTERN]", options->pattern, "list the events that a counter can count")
		->expected(0, 1);
	auto *groups = command
			   ->add_flag("--groups", options->groups,
				      "list the groups of `record -m` and what they measure on this machine")
			   ->excludes(pmu);
	auto *functions =
	    add_option(*command, "--functions", "FILE[:PATTERN]", options->file,
		       "list the functions of a program or library that `record --functions` can record, and how")
		->excludes(pmu);
	groups->excludes(functions);
	command->add_flag("--json", options->json, "print a JSON array instead");
	command->footer("Examples:\n"
			"  monitor events\n"
			"  monitor events --pmu tlb\n"
			"  monitor events --groups\n"
			"  monitor events --functions './prog:parse_*'");
	command->callback([options, pmu, functions, &exit_code] {
		exit_code = *functions        ? print_functions(options->file, options->json)
			    : *pmu            ? print_pmu(options->pattern, options->json)
			    : options->groups ? print_groups(options->json)
					      : print_classes(options->json);
	});
}

} // namespace monitor
