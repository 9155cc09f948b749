// SPDX-License-Identifier: MIT
// `monitor predict`: how long a recorded program would take after a change. answers/predict/ replays its model.
// Exit code: 0, or 3 if these recordings do not suffice.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "answers/predict/change_text.h"
#include "answers/predict/prediction.h"
#include "answers/predict/prediction_text.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/text.h"
#include "commands.h"
#include "common_options.h"
#include "plots.h"
#include "print_table.h"
#include "problems.h"
#include "progress_line.h"
#include "reading/model/inference.h"
#include "reading/model/model_text.h"

namespace monitor {
namespace {

struct PredictArguments {
	std::vector<std::string> inputs, comms;
	predict::ChangeOptions wanted;
	predict::Settings settings;
	PlotArguments plot;
	bool json = false;
};

model::Model model_of(const PredictArguments &arguments)
{
	if (!std::filesystem::is_directory(arguments.inputs.front())) {
		if (arguments.inputs.size() > 1)
			throw Error("{} is not a directory: give one model, or only trace directories.",
				    readable(arguments.inputs.front()));
		return model::load_model(arguments.inputs.front());
	}
	ProgressLine line;
	std::vector<model::Recording> recordings;
	for (const std::string &directory : arguments.inputs) {
		line.show(fmt::format("monitor: reading {} ({} of {})", printable(directory), recordings.size() + 1,
				      arguments.inputs.size()));
		recordings.push_back(model::read_recording(directory, arguments.comms));
	}
	return model::infer_model(std::move(recordings));
}

void print_prediction(const predict::Prediction &prediction, const PredictArguments &arguments)
{
	std::string notes;
	for (const std::string &note : prediction.notes)
		notes += note + '\n';
	if (!arguments.plot.file.empty())
		write_svg({predict::chart_of(prediction)}, arguments.plot.file, notes);
	if (arguments.json)
		fmt::print("{}", predict::json_of(prediction));
	else if (arguments.plot.in_text)
		fmt::print("{}{}", plot_text({predict::chart_of(prediction)}), notes);
	else {
		print_table(predict::table_of(prediction), report::Format::text);
		fmt::print("{}", notes);
	}
}

// Returns the exit code.
int run_predict(const PredictArguments &arguments)
{
	try {
		const model::Model model = model_of(arguments);
		print_prediction(
		    predict::predict(model, predict::changes_of(arguments.wanted, model), arguments.settings),
		    arguments);
		return 0;
	} catch (const model::Refused &reason) {
		print_error(reason.what());
		return refused;
	}
}

} // namespace

void add_predict(CLI::App &app, int &exit_code)
{
	CLI::App *command = app.add_subcommand("predict", "how long would the program take if it were changed?");
	auto arguments = std::make_shared<PredictArguments>();
	predict::ChangeOptions &wanted = arguments->wanted;
	add_option(*command, "input", "MODEL|DIR...", arguments->inputs,
		   "a model (monitor model), or recordings of one program, from which one is made")
	    ->required()
	    ->check(CLI::ExistingPath);
	add_option(*command, "--faster", "ACTIVITY=K", wanted.faster,
		   "the activity is K times as fast; may be repeated");
	add_option(*command, "--threads", "ROLE=N", wanted.threads, "N threads have the role; may be repeated");
	add_option(*command, "--cpus", "N", wanted.cpus, "there are N CPUs")->check(CLI::Range(1U, 65536U));
	add_option(*command, "--sweep", "ROLE=N..M", wanted.sweep, "a prediction for each number of threads");
	add_option(*command, "--comm", "NAME,...", arguments->comms,
		   "of recordings: threads with these names belong to the program, too")
	    ->delimiter(',');
	CLI::Option *const resample = command->add_flag("--resample", arguments->settings.resamples,
							"draw iterations from the recorded ones, 100 times");
	command
	    ->add_flag("--numeric", arguments->settings.is_numeric,
		       "of series-parallel graphs and steps between barriers: compute, do not simulate")
	    ->excludes(resample);
	CLI::Option *const plot = add_plot_options(*command, arguments->plot);
	command->add_flag("--json", arguments->json, "print JSON: {base_ns, base_low_ns, base_high_ns, changes, notes}")
	    ->excludes(plot);
	command->footer(
	    "All changes of a command line are made at once. The interval is for one run: 9 of 10 are to be in it. It\n"
	    "needs three recordings, or distributions in the model.\n"
	    "limited by: what is busy for the largest part of the time.\n"
	    "Exit code: 0, or 3 with the reason if these recordings cannot tell.\n"
	    "Examples:\n"
	    "  monitor predict RUN1 RUN2 RUN3 --faster squeeze=2\n"
	    "  monitor predict pipeline.model --threads workers=4 --cpus 4\n"
	    "  monitor predict pipeline.model --sweep workers=1..8 --plot");
	command->callback([arguments, &exit_code] { exit_code = run_predict(*arguments); });
}

} // namespace monitor
