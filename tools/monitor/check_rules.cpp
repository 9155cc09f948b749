// SPDX-License-Identifier: MIT
#include "check_rules.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "answers/report/table.h"
#include "answers/rules/run.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/json.h"
#include "problems.h"
#include "reading/analyze/recording_info.h"

namespace monitor {
namespace {

using rules::Outcome;
using Verdict = Outcome::Verdict;

const char *word(Verdict verdict)
{
	switch (verdict) {
	case Verdict::holds:
		return "ok";
	case Verdict::fails:
		return "FAILS";
	case Verdict::not_checked:
		break;
	}
	return "not checked";
}

void print_violations(const Outcome &outcome)
{
	for (const rules::Shown &shown : outcome.shown) {
		fmt::print("    {}:\n", printable(shown.what));
		for (const std::string &line : shown.events)
			fmt::print("        {}\n", line); // already escaped
	}
	if (outcome.tally.violated > outcome.shown.size())
		fmt::print("    and {} more; --violations N shows more\n",
			   outcome.tally.violated - outcome.shown.size());
}

void print_text(const std::vector<Outcome> &outcomes, bool quiet)
{
	const bool colour = ::isatty(STDOUT_FILENO);
	for (const Outcome &outcome : outcomes) {
		const bool fails = outcome.verdict == Verdict::fails;
		if (quiet && !fails)
			continue;
		fmt::print("{}{:<11}{}  {}\n", colour && fails ? "\033[31m" : "", word(outcome.verdict),
			   colour && fails ? "\033[0m" : "", printable(outcome.text));
		if (fails)
			print_violations(outcome);
	}
}

nlohmann::ordered_json to_json(const Outcome &outcome)
{
	auto violations = nlohmann::ordered_json::array();
	for (const rules::Shown &shown : outcome.shown) {
		auto events = nlohmann::ordered_json::array();
		for (const std::string &line : shown.events) {
			auto event = parse_json<nlohmann::ordered_json>(line);
			events.push_back(event.is_discarded() ? nlohmann::ordered_json(line) : std::move(event));
		}
		violations.push_back({{"what", shown.what}, {"events", std::move(events)}});
	}
	const rules::Tally &tally = outcome.tally;
	return {{"id", outcome.name},         {"verdict", word(outcome.verdict)}, {"text", outcome.text},
		{"cases", tally.judged},      {"violated", tally.violated},       {"open", tally.open},
		{"cut", tally.cut},           {"unknown", tally.unknown},         {"undecided", tally.undecided},
		{"too_many", tally.too_many}, {"violations", violations}};
}

} // namespace

int check_rules(trace::Trace &trace, const std::vector<std::string> &files, std::size_t violations, bool quiet,
		bool json)
{
	if (analyze::recording_of(trace).has_partial())
		throw Error(
		    "the recording's --filter left out events (`monitor info` shows it), so rules can neither hold "
		    "nor fail; check a recording of all events");
	std::vector<rules::RuleText> texts;
	for (const std::string &file : files) {
		auto more = rules::load_rules(file);
		std::move(more.begin(), more.end(), std::back_inserter(texts));
	}
	const auto outcomes = rules::run(trace, texts, {violations, json});
	const auto failed = std::count_if(outcomes.begin(), outcomes.end(),
					  [](const Outcome &outcome) { return outcome.verdict == Verdict::fails; });
	if (json) {
		auto all = nlohmann::ordered_json::array();
		for (const Outcome &outcome : outcomes)
			all.push_back(to_json(outcome));
		fmt::print("{}\n", json_dump(all, 1));
	} else {
		print_text(outcomes, quiet);
		if (failed)
			fmt::print("{} of {} rules do not hold\n", failed, outcomes.size());
	}
	print_problems(trace.problems());
	return failed || !trace.problems().empty() ? 1 : 0;
}

} // namespace monitor
