// SPDX-License-Identifier: MIT
#include "live_recording.h"

#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/sentence.h"
#include "problems.h"

namespace monitor {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t min_window_ns = 100'000'000, max_window_ns = 86'400'000'000'000;
constexpr auto look_up_interval = 1s;

std::string unused_directory(const std::string &name)
{
	const char *const directory = std::getenv("TMPDIR");
	return fmt::format("{}/monitor-{}-{}-{}", directory && *directory ? directory : "/tmp", name, ::getpid(),
			   random_hex(32));
}

} // namespace

std::uint64_t LiveOptions::window_ns() const
{
	const std::uint64_t window_ns = parse_duration(delay, "-d");
	if (window_ns < min_window_ns || window_ns > max_window_ns)
		throw Error("-d {}: figures are made from each 100ms to each day", printable(delay));
	return window_ns;
}

record::Options LiveOptions::record_options(const std::string &name) const
{
	record::Options options;
	options.kept = record::Kept::nothing;
	options.output = unused_directory(name);
	const ChosenEvents chosen = parse_events(families);
	options.families = chosen.families;
	options.left_out = chosen.left_out;
	options.card = card;
	options.calibrates = !no_calibration;
	if (!selection.empty())
		for (const std::string &item : split(selection)) {
			const std::vector<int> pids = parse_processes(item);
			options.pids.insert(options.pids.end(), pids.begin(), pids.end());
		}
	if (!buffer.empty())
		options.buffer_bytes = parse_bytes(buffer, "--buffer");
	return options;
}

LiveRecording::LiveRecording(record::Options options, std::function<void()> on_end)
    : recording_(std::move(options), {.on_start = [this](const std::string &directory) { directory_ = directory; },
				      .on_progress = [this](const record::Progress &now) { lost_ = now.lost; },
				      .on_note = [](const std::string &note) { print_error(note); },
				      .on_snapshot = {}})
{
	recording_.start();
	waiter_ = std::thread([this, on_end = std::move(on_end)] {
		try {
			result_ = recording_.wait();
		} catch (const std::exception &error) {
			result_.failed = true;
			result_.end_reason = sentence_of(error);
		}
		is_over_ = true;
		if (on_end)
			on_end();
	});
}

void LiveRecording::stop()
{
	recording_.stop("it was quit");
	if (waiter_.joinable())
		waiter_.join();
}

CgroupNaming::CgroupNaming(const LiveRecording &recording, std::function<void(Paths)> name)
    : recording_(recording), name_(std::move(name))
{
	look_up();
}

void CgroupNaming::look_up()
{
	name_(recording_.cgroups());
	next_look_up_ = Clock::now() + look_up_interval;
}

void CgroupNaming::look_up_if_due()
{
	if (Clock::now() >= next_look_up_)
		look_up();
}

} // namespace monitor
