// SPDX-License-Identifier: MIT
#include "lives.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "monitor/ring.h"
#include "monitor/token.h"
#include "period_ages.h"
#include "recording/card/preflight_checks.h"
#include "recording/recorder/directory.h"

namespace monitor::record {
namespace {

namespace fs = std::filesystem;
using recording_file::Contents;

constexpr std::size_t max_lives = 1000;       // the oldest are forgotten
constexpr std::size_t max_clock_steps = 1000; // of the system clock; likewise
constexpr const char *other_directory = "; use another directory with -o, or replace it with --force";

// Empty if not a recording of statistics.
std::optional<Contents> read_recording(const std::string &text)
{
	std::optional<Contents> recorded = recording_file::parse(text);
	if (recorded && (!recorded->statistics || recorded->uuid.empty()))
		recorded.reset();
	return recorded;
}

std::vector<RealTimeStep> steps_in(const std::string &description)
{
	constexpr std::string_view before_steps = "\treal_time_steps = \"";
	const std::size_t at = description.find(before_steps);
	const char *step = at == std::string::npos ? "" : description.c_str() + at + before_steps.size();
	std::vector<RealTimeStep> steps;
	unsigned long long time = 0;
	long long ns = 0;
	for (int length = 0; std::sscanf(step, " %llu%lld%n", &time, &ns, &length) == 2; step += length)
		steps.push_back({time, ns});
	return steps;
}

// The clock of a description that metadata() wrote.
bool parse_clock(const std::string &description, ClockDescription &clock)
{
	char name[32] = {};
	unsigned long long frequency = 0, offset = 0;
	long long offset_s = 0;
	const std::size_t at = description.find("\nclock {");
	if (at == std::string::npos ||
	    std::sscanf(description.c_str() + at,
			"\nclock { name = %31[a-z_]; freq = %llu; offset_s = %lld; offset = %llu;", name, &frequency,
			&offset_s, &offset) != 4 ||
	    frequency == 0)
		return false;
	clock = {name, frequency, offset_s, offset, steps_in(description)};
	return true;
}

bool has_classes_of_programs(const std::string &description)
{
	constexpr std::string_view before_id = "\n\tid = ";
	for (std::size_t at = 0; (at = description.find(before_id, at)) != std::string::npos; at += before_id.size()) {
		const unsigned long id = std::strtoul(description.c_str() + at + before_id.size(), nullptr, 10);
		if (id >= EDC_ID_USER_FIRST && id <= EDC_ID_LAST)
			return true;
	}
	return false;
}

// The start of the first life after each reboot. `now`: the start of this life.
std::vector<std::uint64_t> boots_of(const EarlierLives &lives, std::uint64_t now)
{
	std::vector<std::uint64_t> boots;
	for (std::size_t life = 1; life < lives.lives.size(); ++life)
		if (lives.lives[life].boot_id != lives.lives[life - 1].boot_id)
			boots.push_back(lives.lives[life].start.time.value_or(0));
	if (!lives.same_boot)
		boots.push_back(now);
	return boots;
}

Sync own_now()
{
	return read_sync(card::has_invariant_tsc());
}

// After a reboot, continues trace time by the elapsed real time, but not before existing periods (the system clock may
// have been set back).
void continue_after_boot(const ClockDescription &clock, std::uint64_t end, EarlierLives &lives)
{
	const Sync now = own_now();
	const auto frequency = static_cast<long double>(clock.frequency_hz);
	const long double zero_s =
	    static_cast<long double>(clock.offset_s) + static_cast<long double>(clock.offset) / frequency;
	const long double since_zero = (static_cast<long double>(now.realtime_ns) / 1e9L - zero_s) * frequency;
	const std::uint64_t elapsed =
	    since_zero > 0 && since_zero < 0x1p63L ? static_cast<std::uint64_t>(std::llround(since_zero)) : 0;
	const std::uint64_t first = (clock.steps.empty() ? end : std::max(end, clock.steps.back().time)) + 1;
	const std::uint64_t time = std::max(elapsed, first);
	lives.time_shift = time - now.time;
	const long double step_ns = (since_zero - static_cast<long double>(time)) / frequency * 1e9L;
	if (step_ns <= -static_cast<long double>(RealTimeStep::smallest_ns) && step_ns > -0x1p63L)
		lives.real_time_steps.push_back({time, std::llround(step_ns)});
}

// Finds a step of the system clock since the newest life in the same boot: real time minus monotonic time changes only
// by steps.
void find_step_between(const recording_file::Moment &began, EarlierLives &lives)
{
	if (!began.monotonic_ns)
		return;
	auto ahead_ns = static_cast<std::int64_t>(began.realtime_ns.value_or(0) - *began.monotonic_ns);
	for (const RealTimeStep &step : lives.real_time_steps)
		ahead_ns += step.time > began.time.value_or(0) ? step.ns : 0;
	const Sync now = own_now();
	const std::int64_t step_ns = static_cast<std::int64_t>(now.realtime_ns - now.monotonic_ns) - ahead_ns;
	if (std::abs(step_ns) >= RealTimeStep::smallest_ns)
		lives.real_time_steps.push_back({now.time + lives.time_shift, step_ns});
}

recording_file::Life life_of(const Contents &recorded)
{
	return {recorded.date,   recorded.state,  recorded.end_reason, recorded.boot_id,
		recorded.kernel, recorded.filter, recorded.start,      recorded.end};
}

void read_cgroups(EarlierLives &lives)
{
	const auto json = parse_json<nlohmann::ordered_json>(lives.names_text);
	if (!json.is_object())
		return;
	if (const auto named = json.find("cgroups"); named != json.end() && named->is_object())
		for (const auto &[id, path] : named->items())
			if (path.is_string())
				lives.cgroups[std::strtoull(id.c_str(), nullptr, 10)] = path.get<std::string>();
	if (const auto ambiguous = json.find("ambiguous"); ambiguous != json.end() && ambiguous->is_array())
		for (const auto &id : *ambiguous)
			if (id.is_number_unsigned())
				lives.ambiguous_cgroups.insert(id.get<std::uint64_t>());
}

void read_lives(const std::string &directory, const StatisticsOptions &options, EarlierLives &lives)
{
	const auto refuse = [&](const char *why) { throw Error(directory + " exists, and " + why + other_directory); };
	lives.recording_text = recording_file::text_in(directory);
	lives.names_text = read_text(directory + "/.monitor/names");
	lives.description_text = read_text(directory + "/metadata", max_description_file_bytes);
	const std::optional<Contents> recorded = read_recording(lives.recording_text);
	if (!recorded) // replaced after has_statistics()
		refuse("is damaged");
	const Contents &before = *recorded;
	ClockDescription clock;
	if (before.statistics->period_ns != options.period_ns)
		refuse("its statistics are of periods of another length");
	if (before.statistics->counts_only != options.counts_only)
		refuse("only one of the two recordings is of numbers only (--count-only)");
	if (!parse_uuid(before.uuid, lives.uuid) || !parse_clock(lives.description_text, clock))
		refuse("is damaged");
	if (has_classes_of_programs(lives.description_text) || !before.functions.chosen.empty())
		refuse("it has events of programs, whose numbers are those of one recording");
	if (clock.name != (card::has_invariant_tsc() ? "tsc" : "monotonic"))
		refuse("its clock is another one than this machine's");
	const PeriodEnds ends = ends_of_periods(directory);
	lives.real_time_steps = clock.steps;
	lives.same_boot = before.is_of_this_boot();
	if (lives.same_boot) {
		lives.time_shift = before.time_shift.value_or(0);
		lives.threads_since = before.threads_since;
		find_step_between(before.start, lives);
	} else {
		continue_after_boot(clock, latest_end(ends), lives);
		lives.threads_since = own_now().time + lives.time_shift;
	}
	lives.lives = before.lives;
	lives.lives.push_back(life_of(before));
	if (lives.lives.size() > max_lives)
		lives.lives.erase(lives.lives.begin());
	const std::uint64_t now = own_now().time + lives.time_shift;
	lives.periods = ages_of(ends, boots_of(lives, now), now, clock.frequency_hz);
	read_cgroups(lives);
}

} // namespace

ClockDescription EarlierLives::shifted(ClockDescription own) const
{
	const auto frequency = static_cast<long double>(own.frequency_hz);
	const long double zero_s =
	    static_cast<long double>(own.offset_s) +
	    (static_cast<long double>(own.offset) - static_cast<long double>(static_cast<std::int64_t>(time_shift))) /
		frequency;
	own.offset_s = static_cast<std::int64_t>(std::floor(zero_s));
	own.offset = static_cast<std::uint64_t>((zero_s - static_cast<long double>(own.offset_s)) * frequency);
	for (RealTimeStep &step : own.steps)
		step.time += time_shift;
	own.steps.insert(own.steps.begin(), real_time_steps.begin(), real_time_steps.end());
	if (own.steps.size() > max_clock_steps)
		own.steps.erase(own.steps.begin(), own.steps.end() - max_clock_steps);
	return own;
}

Contents EarlierLives::with_lives(Contents own) const
{
	for (recording_file::Moment *moment : {&own.start, &own.end})
		if (moment->time)
			*moment->time += time_shift;
	own.time_shift = time_shift;
	own.threads_since = threads_since;
	own.lives = lives;
	return own;
}

void EarlierLives::restore(const std::string &directory) const
{
	for (const auto &[name, end] : ends_of_periods(directory))
		if (!periods.contains(name))
			::unlink((directory + "/" + name).c_str());
	replace_file(directory + "/metadata", description_text, 0600);
	replace_file(directory + '/' + recording_file::file_name, recording_text, 0600);
	if (!names_text.empty())
		replace_file(directory + "/.monitor/names", names_text, 0600);
}

bool has_statistics(const std::string &directory)
{
	std::error_code ignored;
	return fs::is_directory(fs::symlink_status(directory, ignored)) &&
	       read_recording(recording_file::text_in(directory)).has_value();
}

Fd continue_in(const std::string &directory, const StatisticsOptions &options, EarlierLives &lives)
{
	Fd lock = lock_directory(directory);
	read_lives(directory, options, lives);
	return lock;
}

} // namespace monitor::record
