// SPDX-License-Identifier: MIT
// `monitor doctor`: what this machine can do, what that means for a recording, how to get what is missing.
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/escape.h"
#include "base/json.h"
#include "card/facts.h"
#include "commands.h"

namespace monitor {
namespace {

const char *word(card::FactState state)
{
	return state == card::FactState::good ? "ok" : state == card::FactState::limited ? "limited" : "MISSING";
}

int run_doctor(bool json)
{
	const auto facts = card::machine_facts();
	bool missing = false;
	auto all = nlohmann::ordered_json::array();
	for (const card::Fact &fact : facts) {
		missing |= fact.state == card::FactState::missing;
		if (json)
			all.push_back({{"id", fact.id},
				       {"state", word(fact.state)},
				       {"value", fact.value},
				       {"meaning", fact.meaning},
				       {"remedy", fact.remedy}});
		else
			fmt::print("{:<8} {:<17} {}: {}\n{}", word(fact.state), fact.id, printable(fact.value),
				   fact.meaning,
				   fact.remedy.empty() ? "" : fmt::format("{:<26} -> {}\n", "", fact.remedy));
	}
	if (json)
		fmt::print("{}\n", json_dump(all, 1));
	else
		fmt::print("\n{}\n", missing ? "Recording is not possible until what is MISSING is there."
				     : ::geteuid()
					 ? "Recording is possible as root, as far as can be told without being it."
					 : "Recording is possible.");
	return missing ? 1 : 0;
}

} // namespace

void add_doctor(CLI::App &app, int &exit_code)
{
	CLI::App *command = app.add_subcommand("doctor", "what this machine can do, and how to get what is missing");
	auto json = std::make_shared<bool>(false);
	command->add_flag("--json", *json, "a JSON array of {id, state, value, meaning, remedy}");
	command->footer(
	    "Exit code: 0 recording is possible, 1 something it needs is missing.\nExample:\n  sudo monitor doctor");
	command->callback([json, &exit_code] { exit_code = run_doctor(*json); });
}

} // namespace monitor
