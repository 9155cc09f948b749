// SPDX-License-Identifier: MIT
// `monitor doctor`: what this machine can do, what that means for a recording, and how to get what is missing.
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/escape.h"
#include "base/json.h"
#include "doctor.h"
#include "reading/symbols/debug_info.h"
#include "recording/card/preflight_checks.h"

namespace monitor {
namespace {

const char *word(card::CheckState state)
{
	return state == card::CheckState::good ? "ok" : state == card::CheckState::limited ? "limited" : "MISSING";
}

// Whether reports can symbolize stacks: depends on this build, not on the machine.
card::PreflightCheck names_of_functions()
{
	if (symbols::DebugInfo::is_available())
		return {"names", "functions and lines", card::CheckState::good,
			"reports of stacks have what was inlined where there is debug information", ""};
	return {"names", "functions", card::CheckState::limited,
		"reports of stacks have neither lines nor what was inlined: this program was built without libdw",
		"build it with libdw (Debian: libdw-dev)"};
}

} // namespace

int run_doctor(bool json)
{
	auto checks = card::preflight_checks();
	checks.push_back(names_of_functions());
	bool missing = false;
	auto all = nlohmann::ordered_json::array();
	for (const card::PreflightCheck &check : checks) {
		missing |= check.state == card::CheckState::missing;
		if (json)
			all.push_back({{"id", check.id},
				       {"state", word(check.state)},
				       {"value", check.value},
				       {"meaning", check.meaning},
				       {"remedy", check.remedy}});
		else
			fmt::print("{:<8} {:<17} {}: {}\n{}", word(check.state), check.id, printable(check.value),
				   check.meaning,
				   check.remedy.empty() ? "" : fmt::format("{:<26} -> {}\n", "", check.remedy));
	}
	if (json)
		fmt::print("{}\n", json_dump(all, 1));
	else
		fmt::print("\n{}\n", missing ? "Recording is not possible until everything marked MISSING is available."
				     : ::geteuid() ? "Recording is possible as root, as far as another user can tell."
						   : "Recording is possible.");
	return missing ? 1 : 0;
}

void add_core_doctor(CLI::App &app, int &exit_code)
{
	CLI::App *command =
	    app.add_subcommand("doctor", "show what this machine can do, and how to get what is missing");
	auto json = std::make_shared<bool>(false);
	command->add_flag("--json", *json, "print a JSON array of {id, state, value, meaning, remedy}");
	command->footer("Exit code: 0 if recording is possible, 1 if something it needs is missing.\n"
			"Example:\n  sudo monitor doctor");
	command->callback([json, &exit_code] { exit_code = run_doctor(*json); });
}

} // namespace monitor
