// SPDX-License-Identifier: MIT
#include "change_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/ranges.h"
#include "base/suggestions.h"
#include "base/text.h"
#include "reading/model/claims.h"
#include "reading/model/model_text.h"

namespace monitor::predict {
namespace {

constexpr std::uint32_t max_sweep = 256;

std::vector<std::string> roles_of(const model::Model &model)
{
	return list_of<std::string>(model.roles, &model::Role::name);
}

struct Assignment {
	std::string name, value;
};

// Split at the last '=': a name may contain one.
Assignment parse_assignment(const std::string &text, const std::vector<std::string> &known, const char *what,
			    const char *option, const char *form)
{
	const std::size_t equals = text.rfind('=');
	if (equals == std::string::npos || equals == 0)
		throw Error("{} {}: {} is expected.", option, readable(text), form);
	Assignment made = {text.substr(0, equals), text.substr(equals + 1)};
	if (std::ranges::find(known, made.name) == known.end())
		throw Error("{}: the model has no {} {}.{} It has {}.", option, what, readable(made.name),
			    suggestions(made.name, known),
			    known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
	return made;
}

std::optional<std::uint32_t> number_of_threads(std::string_view text)
{
	std::uint32_t number = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	if (error != std::errc() || end != text.data() + text.size() || number == 0 || number > model::max_threads)
		return {};
	return number;
}

double parse_factor(const Assignment &given)
{
	double factor = 0;
	const char *const last = given.value.data() + given.value.size();
	const auto [end, error] = std::from_chars(given.value.data(), last, factor);
	if (error != std::errc() || end != last || !(factor >= 1e-6 && factor <= 1e6))
		throw Error("--faster {}={}: how many times as fast is a number, such as 2, or 0.5 for half as fast.",
			    readable(given.name), readable(given.value));
	return factor;
}

std::vector<simulation::Change> swept(const std::string &sweep, const simulation::Change &others,
				      const std::vector<std::string> &roles)
{
	constexpr const char *form = "ROLE=FROM..TO";
	const Assignment given = parse_assignment(sweep, roles, "role", "--sweep", form);
	const std::size_t dots = given.value.find("..");
	const auto from = number_of_threads(std::string_view(given.value).substr(0, dots));
	const auto to =
	    dots == std::string::npos ? from : number_of_threads(std::string_view(given.value).substr(dots + 2));
	if (!from || !to || *from > *to || *to - *from >= max_sweep)
		throw Error("--sweep {}: {} is expected, at most {} numbers of threads.", readable(sweep), form,
			    max_sweep);
	if (others.threads.contains(given.name))
		throw Error("--sweep and --threads are both of the role {}: give one of them.", readable(given.name));
	std::vector<simulation::Change> changes;
	for (std::uint32_t threads = *from; threads <= *to; ++threads) {
		changes.push_back(others);
		changes.back().threads[given.name] = threads;
	}
	return changes;
}

} // namespace

std::vector<simulation::Change> changes_of(const ChangeOptions &wanted, const model::Model &model)
{
	simulation::Change change;
	const std::vector<std::string> activities = model::activities_of(model), roles = roles_of(model);
	for (const std::string &text : wanted.faster) {
		const Assignment given = parse_assignment(text, activities, "activity", "--faster", "ACTIVITY=K");
		change.faster[given.name] = parse_factor(given);
	}
	for (const std::string &text : wanted.threads) {
		const Assignment given = parse_assignment(text, roles, "role", "--threads", "ROLE=N");
		const auto number = number_of_threads(given.value);
		if (!number)
			throw Error("--threads {}: a number of threads is from 1 to {}.", readable(text),
				    model::max_threads);
		change.threads[given.name] = *number;
	}
	change.cpus = wanted.cpus;
	if (!wanted.sweep.empty())
		return swept(wanted.sweep, change, roles);
	if (change.is_empty())
		return {};
	return {change};
}

std::string text_of(const simulation::Change &change)
{
	std::vector<std::string> parts;
	if (change.cpus)
		parts.push_back(change.cpus == 1 ? "1 CPU" : fmt::format("{} CPUs", change.cpus));
	for (const auto &[role, threads] : change.threads)
		parts.push_back(fmt::format("{} {} thread{}", role, threads, threads == 1 ? "" : "s"));
	for (const auto &[activity, times] : change.faster)
		parts.push_back(fmt::format("{} {}x", activity, times));
	return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

} // namespace monitor::predict
