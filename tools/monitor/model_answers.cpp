// SPDX-License-Identifier: MIT
#include "model_answers.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "answers/report/table.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/note.h"
#include "base/ranges.h"
#include "base/sample_mean.h"
#include "base/scanner.h"
#include "print_table.h"
#include "reading/model/claims.h"
#include "reading/model/comparison.h"
#include "reading/model/model_text.h"
#include "reading/simulation/replay.h"

namespace monitor {
namespace {

// A replay with a larger relative error does not represent the program.
constexpr double max_replay_error = 0.25;

// The mean of all sample sets; empty: no replay possible.
std::optional<double> replayed_ns(const model::Model &model)
{
	simulation::ReplaySettings settings;
	settings.policy = simulation::policy_of(model);
	try {
		return sample_mean(simulation::elapsed_of(simulation::replay_all(model, {}, settings)));
	} catch (const Error &error) {
		print_note("monitor: the model was not replayed: {}\n", error.what());
		return {};
	}
}

double recorded_ns(const model::Model &model)
{
	return sample_mean(list_of<double>(
	    model.sets, [](const model::SampleSet &set) { return static_cast<double>(set.elapsed_ns); }));
}

std::string difference_text(double value, double from)
{
	return fmt::format("{:+.0f} %", 100 * (value / from - 1));
}

report::Table claims_table(const model::Comparison &comparison)
{
	report::Table table;
	table.columns = {{"claim", "claim"},
			 {"held", "held", report::Unit::count},
			 {"total", "of", report::Unit::count},
			 {"holds", "", report::Unit::text}};
	for (const model::ClaimResult &claim : comparison.claims) {
		std::string text = relation_text(claim.relation, claim.counts);
		text.resize(text.rfind(':'));
		table.rows.push_back(
		    {text, claim.counts.held, claim.counts.total, std::string(claim.holds() ? "" : "VIOLATED")});
	}
	return table;
}

report::Table times_table(const model::Comparison &comparison)
{
	report::Table table;
	table.columns = {{"activity", "activity"},
			 {"model_ns", "in model", report::Unit::nanoseconds},
			 {"recording_ns", "in trace", report::Unit::nanoseconds},
			 {"distance", "distance", report::Unit::ratio},
			 {"own_distance", "own", report::Unit::ratio},
			 {"probability", "p", report::Unit::text},
			 {"differs", "", report::Unit::text}};
	for (const model::TimesResult &times : comparison.times) {
		const auto cell = [](bool is_known, double value) {
			return is_known ? report::Cell(value) : report::Cell();
		};
		const bool is_compared = times.distance.has_value();
		table.rows.push_back(
		    {times.activity, cell(times.in_model > 0, times.model_ns),
		     cell(times.in_recording > 0, times.recording_ns), cell(is_compared, times.distance.value_or(0)),
		     cell(is_compared, times.own_distance),
		     is_compared ? report::Cell(fmt::format("{:.2g}", *times.probability)) : report::Cell(),
		     std::string(times.differs ? "DIFFERS" : "")});
	}
	return table;
}

// Quotes a function's name for a shell and for --functions.
std::string pattern_of(std::string function)
{
	for (char &c : function)
		if (!is_letter(c) && !is_digit(c) && c != ':' && c != '~' && c != '.')
			c = '?';
	return function;
}

nlohmann::ordered_json comparison_json(const model::Comparison &comparison, const model::Recording &recording,
				       std::optional<double> replayed, std::size_t violations)
{
	nlohmann::ordered_json claims = nlohmann::ordered_json::array(), times = nlohmann::ordered_json::array();
	for (const model::ClaimResult &claim : comparison.claims)
		claims.push_back({{"claim", relation_text(claim.relation, claim.counts)},
				  {"held", claim.counts.held},
				  {"total", claim.counts.total},
				  {"holds", claim.holds()}});
	const auto known = [](bool is_known, double value) {
		return or_null(is_known ? std::optional(value) : std::nullopt);
	};
	for (const model::TimesResult &result : comparison.times)
		times.push_back({{"activity", result.activity},
				 {"model_values", result.in_model},
				 {"recording_values", result.in_recording},
				 {"model_ns", known(result.in_model > 0, result.model_ns)},
				 {"recording_ns", known(result.in_recording > 0, result.recording_ns)},
				 {"distance", or_null(result.distance)},
				 {"own_distance", known(result.distance.has_value(), result.own_distance)},
				 {"probability", or_null(result.probability)},
				 {"differs", result.differs}});
	return {{"violations", violations},
		{"elapsed_ns", recording.found.elapsed},
		{"replayed_ns", or_null(replayed)},
		{"significance", comparison.significance_of_each},
		{"claims", claims},
		{"times", times}};
}

nlohmann::ordered_json model_json(const model::Model &model)
{
	constexpr const char *modes[] = {"each", "split", "pool"};
	nlohmann::ordered_json roles = nlohmann::ordered_json::array();
	for (const model::Role &role : model.roles) {
		std::vector<std::string> activities;
		model::for_each_operation(role.body, [&](const model::Operation &operation) {
			if (operation.kind == model::Kind::cpu && !operation.name.empty() &&
			    std::ranges::find(activities, operation.name) == activities.end())
				activities.push_back(operation.name);
		});
		roles.push_back({{"name", role.name},
				 {"mode", modes[static_cast<std::size_t>(role.mode)]},
				 {"threads", role.threads},
				 {"in_order", role.in_order},
				 {"activities", activities}});
		if (role.capacity > 0)
			roles.back()["capacity"] = role.capacity;
	}
	nlohmann::ordered_json locks = nlohmann::ordered_json::array();
	std::set<std::string> names;
	for (const model::Role &role : model.roles)
		model::for_each_operation(role.body, [&](const model::Operation &operation) {
			if (operation.kind == model::Kind::lock && names.insert(operation.name).second)
				locks.push_back(operation.name);
		});
	return {{"about", model.about}, {"recordings", model.sets.size()}, {"cpus", model.cpus}, {"roles", roles},
		{"locks", locks},       {"because", model.because}};
}

void print_json(const nlohmann::ordered_json &answer)
{
	fmt::print("{}\n", json_dump(answer, 1));
}

} // namespace

void print_model(const model::Model &model, bool json)
{
	if (json)
		print_json(model_json(model));
	else
		fmt::print("{}", printable_lines(model_text(model)));
}

void add_replayed(model::Model &model)
{
	const double recorded = recorded_ns(model);
	if (const auto replayed = replayed_ns(model); replayed && recorded > 0)
		model.about +=
		    fmt::format("; replayed {:.4g} s ({})", *replayed / 1e9, difference_text(*replayed, recorded));
}

int print_comparison(const model::Model &model, const model::Recording &recording, bool json)
{
	const model::Comparison comparison = compare(model, recording);
	const std::optional<double> replayed = replayed_ns(model);
	const auto elapsed = static_cast<double>(recording.found.elapsed);
	const bool replay_differs = replayed && std::abs(*replayed / elapsed - 1) > max_replay_error;
	const std::size_t violations = comparison.violations() + replay_differs;
	if (json) {
		print_json(comparison_json(comparison, recording, replayed, violations));
		return violations > 0;
	}
	print_table(claims_table(comparison), report::Format::text);
	fmt::print("\n");
	print_table(times_table(comparison), report::Format::text);
	fmt::print(
	    "\ndistance: of the distributions, at significance {:.2g} (0.01 for all activities), and further than the "
	    "model's own recordings\n",
	    comparison.significance_of_each);
	if (replayed)
		fmt::print("recorded {}, the model replayed {} ({}){}\n", report::duration_text(elapsed),
			   report::duration_text(*replayed), difference_text(*replayed, elapsed),
			   replay_differs ? fmt::format(": VIOLATED, more than {:.0f} % apart", 100 * max_replay_error)
					  : "");
	fmt::print("{}\n",
		   violations == 0 ? "the trace does what the model claims" : fmt::format("{} violated", violations));
	return violations > 0;
}

int print_record_options(const model::Model &model, bool json)
{
	const std::vector<std::string> activities = model::activities_of(model);
	std::string options = "-e sched,irq,syscall";
	for (std::size_t i = 0; model.marks_functions && i < activities.size(); ++i)
		options += (i == 0 ? " --functions " : ",") + pattern_of(activities[i]);
	std::vector<std::string> classes;
	for (const std::string &activity : activities)
		if (!model.marks_functions)
			classes.insert(classes.end(), {activity + "_begin", activity + "_end"});
	if (json) {
		const nlohmann::ordered_json answer = {
		    {"options", options},
		    {"functions", model.marks_functions ? activities : std::vector<std::string>()},
		    {"classes", classes}};
		print_json(answer);
		return 0;
	}
	fmt::print("{}\n", options);
	if (!classes.empty())
		print_note("monitor: the program posts these classes of edc.h itself: {}\n",
			   printable(fmt::format("{}", fmt::join(classes, " "))));
	return 0;
}

} // namespace monitor
