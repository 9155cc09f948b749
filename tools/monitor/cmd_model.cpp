// SPDX-License-Identifier: MIT
// `monitor model`: learns a model from recordings of a program, compares it with a recording, and prints how to record
// its events. Exit code: 0; 1 if a recording violates the model; 3 if the recordings do not suffice.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/text.h"
#include "commands.h"
#include "common_options.h"
#include "model_answers.h"
#include "output_path.h"
#include "problems.h"
#include "progress_line.h"
#include "reading/model/inference.h"
#include "reading/model/model_text.h"

namespace monitor {
namespace {

struct ModelArguments {
	std::vector<std::string> inputs, comms;
	std::string output, check;
	bool record_options = false, json = false;
};

bool is_model_file(const std::string &path)
{
	if (std::filesystem::is_directory(path))
		return false;
	if (!model::is_model(read_file(path, 64)))
		throw Error("{} is neither the directory of a trace nor a model: the first line of a model is `# "
			    "monitor model 1`",
			    readable(path));
	return true;
}

model::Recording read(const std::string &directory, const ModelArguments &arguments, std::size_t number)
{
	ProgressLine line;
	line.show(fmt::format("monitor: reading {} ({} of {})", printable(directory), number,
			      arguments.check.empty() ? arguments.inputs.size() : 1));
	return model::read_recording(directory, arguments.comms);
}

int learn_model(const ModelArguments &arguments)
{
	if (!arguments.check.empty() || arguments.record_options)
		throw Error("{} is not a model: --check and --record-options need one, which `monitor model DIR... -o "
			    "FILE` makes",
			    readable(arguments.inputs.front()));
	if (!arguments.output.empty())
		expect_outside(arguments.output, arguments.inputs);
	std::vector<model::Recording> recordings;
	for (const std::string &directory : arguments.inputs)
		recordings.push_back(read(directory, arguments, recordings.size() + 1));
	model::Model learnt = model::infer_model(std::move(recordings));
	add_replayed(learnt);
	if (!arguments.output.empty())
		model::save_model(learnt, arguments.output);
	print_model(learnt, arguments.json);
	return 0;
}

int use_model(const ModelArguments &arguments)
{
	if (arguments.inputs.size() > 1)
		throw Error("{} is a model: name it alone, and a recording to compare it with after --check",
			    readable(arguments.inputs.front()));
	if (!arguments.output.empty())
		throw Error("-o is for a model that is learnt: name traces, not {}",
			    readable(arguments.inputs.front()));
	const model::Model known = model::load_model(arguments.inputs.front());
	if (arguments.record_options)
		return print_record_options(known, arguments.json);
	if (!arguments.check.empty())
		return print_comparison(known, read(arguments.check, arguments, 1), arguments.json);
	print_model(known, arguments.json);
	return 0;
}

int run_model(const ModelArguments &arguments)
{
	try {
		return is_model_file(arguments.inputs.front()) ? use_model(arguments) : learn_model(arguments);
	} catch (const model::Refused &reason) {
		print_error(reason.what());
		return refused;
	}
}

} // namespace

void add_model(CLI::App &app, int &exit_code)
{
	CLI::App *command =
	    app.add_subcommand("model", "learn from recordings how a program works: roles, queues, locks, calls");
	auto arguments = std::make_shared<ModelArguments>();
	add_option(*command, "input", "MODEL|DIR...", arguments->inputs,
		   "traces of runs of one program, with its activities or functions; or a model")
	    ->required()
	    ->check(CLI::ExistingPath);
	add_option(*command, "-o,--output", "FILE", arguments->output,
		   "write the model there, and its samples to FILE.samples (default: only print it)");
	add_option(*command, "--comm", "NAME,...", arguments->comms,
		   "threads with these names belong to the program, besides the recorded command and its descendants")
	    ->delimiter(',');
	CLI::Option *const check = add_option(*command, "--check", "DIR", arguments->check,
					      "does this trace do what MODEL claims? Each claim with its counts")
				       ->check(CLI::ExistingDirectory);
	command
	    ->add_flag("--record-options", arguments->record_options,
		       "print the options of `monitor record` for what MODEL is about")
	    ->excludes(check);
	command->add_flag("--json", arguments->json, "print JSON");
	command->footer(
	    "A model is a text: man monitor-model has its language. `monitor predict` says what a change would gain.\n"
	    "Record with at least -e sched,irq,syscall; what the program does is marked by activities of edc.h, or by\n"
	    "--functions.\n"
	    "Exit code: 0; 1 if a claim is violated or something failed; 3 if the traces do not say how the program "
	    "works.\n"
	    "Examples:\n"
	    "  sudo monitor record -e sched,irq,syscall -o RUN1 -- ./pipeline\n"
	    "  monitor model RUN1 RUN2 RUN3 -o pipeline.model\n"
	    "  monitor model pipeline.model --check RUN4\n"
	    "  sudo monitor record $(monitor model pipeline.model --record-options) -o RUN5 -- ./pipeline");
	command->callback([arguments, &exit_code] { exit_code = run_model(*arguments); });
}

} // namespace monitor
