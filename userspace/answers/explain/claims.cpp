// SPDX-License-Identifier: MIT
#include "claims.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "answers/report/table.h"

namespace monitor::explain {

std::string percent(double share)
{
	return share >= 0.1 || share == 0 ? fmt::format("{:.0f} %", share * 100) : fmt::format("{:.1f} %", share * 100);
}

Amounts sorted(const std::map<std::string, double> &sums)
{
	Amounts sorted(sums.begin(), sums.end());
	std::ranges::stable_sort(sorted, std::greater<>(), &Amounts::value_type::second);
	return sorted;
}

Amounts amounts(const std::vector<PathPart> &parts, What what, const std::function<std::string(const PathPart &)> &name)
{
	std::map<std::string, double> sums;
	for (const PathPart &part : parts)
		if (part.what == what)
			sums[name(part)] += part.share;
	return sorted(sums);
}

double sum(const Amounts &amounts)
{
	return std::accumulate(amounts.begin(), amounts.end(), 0.0,
			       [](double total, const auto &each) { return total + each.second; });
}

std::string texts(const Amounts &amounts)
{
	constexpr std::size_t most = 3;
	constexpr double least = 0.005; // worth a word
	std::string text;
	std::size_t i = 0;
	for (; i < amounts.size() && (i == 0 || (i < most && amounts[i].second >= least)); ++i)
		text += fmt::format("{}{} {}", i ? ", " : "", amounts[i].first, percent(amounts[i].second));
	return i < amounts.size() && amounts[i].second >= least ? text + " and others" : text;
}

nlohmann::ordered_json json_of(const Amounts &amounts)
{
	auto json = nlohmann::ordered_json::array();
	for (const auto &[name, share] : amounts)
		json.push_back({{"name", name}, {"share", share}});
	return json;
}

Claims::Command Claims::report(Command words) const
{
	const Options &options = evidence_.options;
	const bool is_path = !words.empty() && words.front() == "critical-path";
	if (words != Command{"--by", "cpu"}) // which takes no threads
		std::ranges::copy(is_path ? options.path : options.rows, std::back_inserter(words));
	return command("report", std::move(words));
}

Claims::Command Claims::command(const std::string &verb, Command words) const
{
	if (verb != "check" && verb != "info") // which are about the whole trace
		std::ranges::copy(evidence_.options.time, std::back_inserter(words));
	words.insert(words.begin(), {"monitor", verb, evidence_.directory});
	return words;
}

bool Claims::is_recorded(const std::string &key) const
{
	return std::ranges::count(evidence_.not_recorded, key) == 0;
}

std::string Claims::lost_events() const
{
	return report::count_text(*evidence_.lost) + " events were lost" +
	       (evidence_.is_part ? " in the whole recording" : "");
}

void Claims::add(const char *key, double share, std::string text, Json evidence, Command command, Confidence confidence)
{
	found_.push_back({key, std::min(share, 1.0), evidence_.unknown, confidence, std::move(evidence),
			  std::move(text), std::move(command)});
}

} // namespace monitor::explain
