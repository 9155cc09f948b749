// SPDX-License-Identifier: MIT
// `monitor play`: a trace as an animation in the terminal, or frames of it as text. answers/play/ makes the frames.
#include <algorithm>
#include <chrono>
#include <clocale>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <langinfo.h>
#include <unistd.h>

#include <fmt/format.h>

#include "answers/play/play.h"
#include "base/error.h"
#include "base/escape.h"
#include "commands.h"
#include "common_options.h"
#include "open.h"
#include "problems.h"
#include "progress_line.h"
#include "reading/analyze/scheduling.h"
#include "reading/events/time_text.h"

namespace monitor {
namespace {

constexpr std::uint64_t events_between_progress = 1 << 18;
constexpr unsigned max_frames = 1'000'000;

struct PlayArguments {
	std::string directory, speed = "1/100", at, layout, size = "80x24";
	unsigned frames = 0;
	bool frame = false;
};

bool has_utf8()
{
	std::setlocale(LC_CTYPE, "");
	return std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
}

struct Size {
	unsigned columns = 0, rows = 0;
};

Size parse_size(const std::string &text)
{
	Size size;
	char rest = 0;
	if (std::sscanf(text.c_str(), "%4ux%4u%c", &size.columns, &size.rows, &rest) != 2 ||
	    size.columns < play::min_columns || size.rows < play::min_rows ||
	    size.columns > terminal::Cells::max_columns || size.rows > terminal::Cells::max_rows)
		throw Error("--size: '{}' is not columns x rows from {}x{} to {}x{}, such as 80x24", printable(text),
			    play::min_columns, play::min_rows, terminal::Cells::max_columns, terminal::Cells::max_rows);
	return size;
}

void print_frames(play::Player &player, const play::View &view, const PlayArguments &arguments, bool is_utf8)
{
	const Size size = parse_size(arguments.size);
	ProgressLine line;
	for (unsigned frame = 0; frame < std::max(arguments.frames, 1u); ++frame) {
		if (frame > 0 && player.is_at_end())
			break;
		if (frame > 0)
			player.step_forwards();
		while (!player.work(events_between_progress))
			line.show(fmt::format("monitor: reading, at {:.0f} % of the trace", player.progress() * 100));
		line.clear();
		const play::Shown shown = play::draw(player.scene(), view, size.rows, size.columns, is_utf8);
		fmt::print("{}{}", frame ? "\n" : "", shown.cells.as_text());
		if (std::ferror(stdout))
			break;
	}
}

std::string title_of(const PlayArguments &arguments, const analyze::RecordingInfo &info)
{
	const bool is_incomplete = info.present && !info.complete();
	return arguments.directory + (is_incomplete ? " (incomplete: its recording was killed)" : "");
}

// In ticks. Throws Error if outside of the recording.
std::uint64_t start_time(const PlayArguments &arguments, const trace::Trace &trace, play::Player &player)
{
	if (arguments.at.empty())
		return player.find_known();
	// The last tick of that nanosecond, so that an event listed with this time is included.
	const std::uint64_t time = trace::parse_time(arguments.at, "--at", trace, true),
			    first = trace::parse_time(arguments.at, "--at", trace, false);
	const trace::TimeText times(trace, trace::is_time_of_day(arguments.at));
	const std::uint64_t rounding = player.clock().to_ticks(1) + 1; // of a time printed in nanoseconds
	if (time + rounding < player.begin())
		throw Error("--at {}: the recording starts at {}{}", printable(arguments.at), times(player.begin()),
			    times.unit());
	if (first > std::max(trace.end_time(), player.end()))
		throw Error("--at {}: the recording ends at {}{}", printable(arguments.at), times(player.end()),
			    times.unit());
	return time;
}

// Returns the exit code.
int run_play(const PlayArguments &arguments)
{
	const bool prints = arguments.frame || arguments.frames > 0;
	if (!prints && !::isatty(STDOUT_FILENO))
		throw Error(
		    "the animation needs a terminal, and standard output is not one: --frame prints a frame as text");
	const play::Speed speed = play::Speed::parse(arguments.speed);
	std::optional<play::Layout> layout;
	if (!arguments.layout.empty())
		layout = play::load_layout(arguments.layout);
	trace::Trace trace = open_trace({arguments.directory});
	expect_events(trace, "an animation");
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	analyze::expect_scheduling(trace, info);
	play::Player player(trace, info);
	const std::uint64_t time = start_time(arguments, trace, player);
	play::View view;
	view.clock = &player.clock();
	view.times = trace::TimeText(trace, trace::is_time_of_day(arguments.at));
	view.begin = player.begin();
	view.end = player.end();
	view.title = title_of(arguments, info);
	view.speed = speed.text();
	view.layout = layout ? &*layout : nullptr;
	const bool is_utf8 = has_utf8();
	int signal = 0;
	if (prints) {
		player.go_to(time, player.clock().to_ticks(speed.step_ns()));
		print_frames(player, view, arguments, is_utf8);
	} else {
		play::Play play(player, view, speed, time, is_utf8);
		signal =
		    terminal::show(play, std::chrono::nanoseconds(play::frame_ns), "--frame prints a frame as text");
	}
	const int damaged = print_problems(trace.problems());
	return signal ? 128 + signal : damaged;
}

} // namespace

void add_play(CLI::App &app, int &exit_code)
{
	CLI::App *command = app.add_subcommand("play", "play a trace as an animation in the terminal");
	auto arguments = std::make_shared<PlayArguments>();
	add_option(*command, "trace", "DIR", arguments->directory, "a trace directory")->required();
	add_option(*command, "--speed", "SPEED", arguments->speed,
		   "seconds of the trace in each second: 1/100 (default), 1/100000, 10");
	add_option(*command, "--at", "TIME", arguments->at, "start at this time, as --from of monitor report");
	add_option(*command, "--layout", "FILE", arguments->layout,
		   "draw threads where this file says, with arrows between them; or a shipped one: pipeline");
	command->add_flag("--frame", arguments->frame, "print one frame as text, without a terminal");
	add_option(*command, "--frames", "N", arguments->frames, "print this many frames as text, a step apart")
	    ->check(CLI::Range(1u, max_frames));
	add_option(*command, "--size", "SIZE", arguments->size,
		   "of frames that are printed, as columns x rows (default: 80x24)");
	command->footer(
	    "Space starts it, + and - change the speed, left and right step, n and p go from event to event of a\n"
	    "thread, / finds one, ? shows all keys, q quits. A step is the part of the trace that passes in 1/25 s.\n"
	    "What is unknown, such as where events are missing, is drawn as ?.\n"
	    "Exit code: 0, 1 if parts of the trace are damaged, 128 and its number after a signal.\n"
	    "Examples:\n"
	    "  monitor play DIR\n"
	    "  monitor play DIR --at 1.5 --speed 1/10000\n"
	    "  monitor play DIR --layout pipeline\n"
	    "  monitor play DIR --at 1.5 --frame");
	command->callback([arguments, &exit_code] { exit_code = run_play(*arguments); });
}

} // namespace monitor
