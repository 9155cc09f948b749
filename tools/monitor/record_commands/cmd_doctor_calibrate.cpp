// SPDX-License-Identifier: MIT
// `monitor doctor --calibrate`: measures the cost of the probes in real code on this machine, and keeps it for later
// recordings.
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/json.h"
#include "doctor.h"
#include "print_table.h"
#include "problems.h"
#include "progress_line.h"
#include "recording/calibration/machine_key.h"
#include "recording/pilot/code_factors.h"

namespace monitor {
namespace {

constexpr double seconds = 60, quick_seconds = 3;

report::Table table_of(const std::vector<card::LoadCost> &loads)
{
	using report::Unit;
	report::Table table;
	table.columns = {{"load", "load"},
			 {"events", "events", Unit::count},
			 {"cpu_ns", "CPU", Unit::nanoseconds},
			 {"predicted_ns", "predicted", Unit::nanoseconds},
			 {"measured_ns", "measured", Unit::nanoseconds},
			 {"low_ns", "from", Unit::nanoseconds},
			 {"high_ns", "to", Unit::nanoseconds},
			 {"factor", "factor", Unit::ratio},
			 {"rounds", "rounds", Unit::count}};
	for (const card::LoadCost &load : loads)
		table.rows.push_back({load.name, load.events, load.cpu_ns, load.predicted(), load.measured_ns,
				      load.low_ns, load.high_ns, load.measured_ns / load.predicted(), load.rounds});
	return table;
}

std::string factors_text(const recording_file::CodeFactors &factors)
{
	std::string text;
	for (const auto &[family, name] :
	     {std::pair("syscall", "system calls"), {"fault", "page faults"}, {"other", "others"}})
		if (const auto found = factors.find(family); found != factors.end())
			text += fmt::format("{}{} {:.2f} to {:.2f}", text.empty() ? "" : ", ", name, found->second.low,
					    found->second.high);
	return text;
}

card::KeptFactors measure(bool quick)
{
	if (::geteuid() != 0)
		throw Error("only root can attach probes: sudo monitor doctor --calibrate");
	const double time = quick ? quick_seconds : seconds;
	print_note("monitor: runs programs of its own without and with probes, for {:.0f} s: leave the machine alone "
		   "meanwhile\n",
		   time);
	ProgressLine line;
	return pilot::measure_factors(
	    {time, [&](double share) { line.show(fmt::format("monitor: {:.0f} % done", share * 100)); }});
}

int run_calibrate(bool quick, bool json)
{
	const card::FactorsFile file = card::factors_of_this_machine();
	const card::KeptFactors found = measure(quick);
	file.write(found);
	const report::Table table = table_of(found.loads);
	if (json) {
		nlohmann::ordered_json all = {{"file", file.path()}, {"factors", nlohmann::ordered_json::object()}};
		for (const auto &[family, factor] : found.factors)
			all["factors"][family] = {{"low", factor.low}, {"high", factor.high}};
		all["loads"] = report::rows_json(table);
		fmt::print("{}\n", json_dump(all, 1));
		return 0;
	}
	print_table(table, report::Format::text);
	fmt::print("\nOf what they cost in loops, events in such programs cost: {} times as much.\nKept in {} for this "
		   "boot, CPU model, kernel, card and version: recordings whose calibrations agree print a range from "
		   "now on.\n",
		   factors_text(found.factors), printable(file.path()));
	return 0;
}

} // namespace

void add_doctor(CLI::App &app, int &exit_code)
{
	add_core_doctor(app, exit_code);
	CLI::App *command = app.get_subcommand("doctor");
	struct Arguments {
		bool calibrate = false, quick = false;
	};
	auto arguments = std::make_shared<Arguments>();
	CLI::Option *calibrate =
	    command->add_flag("--calibrate", arguments->calibrate,
			      "measure for a minute what the probes cost in real code, and keep it for this boot");
	command->add_flag("--quick", arguments->quick, "with --calibrate: for some seconds, which says little")
	    ->needs(calibrate);
	command->footer("Exit code: 0 if recording is possible, 1 if something it needs is missing.\n"
			"Examples:\n  sudo monitor doctor\n  sudo monitor doctor --calibrate");
	command->callback([arguments, command, &exit_code] {
		const bool json = command->count("--json") != 0;
		exit_code = arguments->calibrate ? run_calibrate(arguments->quick, json) : run_doctor(json);
	});
}

} // namespace monitor
