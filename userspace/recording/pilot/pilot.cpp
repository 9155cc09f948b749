// SPDX-License-Identifier: MIT
#include "pilot.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/buffering/buffers.h"
#include "base/error.h"
#include "recording/calibration/machine_key.h"
#include "recording/session/card_options.h"
#include "recording/session/command.h"
#include "trial_card.h"

namespace monitor::pilot {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using record::Command;

constexpr std::uint64_t max_pairs = 100;
constexpr double times_duration = 3; // whole runs may take this multiple of the time to complete three pairs
constexpr int min_phase_ms = 25, max_phase_ms = 55;
constexpr auto settling = 2ms; // after probes were attached or detached, code is cold
constexpr auto counting = 1s;
constexpr auto kill_delay = 2s; // from SIGTERM to SIGKILL

double seconds_since(Clock::time_point since)
{
	return std::chrono::duration<double>(Clock::now() - since).count();
}

double cpu_ns_of_children()
{
	rusage usage{};
	::getrusage(RUSAGE_CHILDREN, &usage);
	const auto ns = [](const timeval &time) {
		return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
	};
	return ns(usage.ru_utime) + ns(usage.ru_stime);
}

// During its lifetime, standard input and output of child processes are /dev/null.
class Silence {
public:
	Silence()
	{
		const Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
		for (int fd = 0; fd < 3; ++fd) {
			saved_[static_cast<std::size_t>(fd)] = Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
			::dup2(nothing.get(), fd);
		}
	}
	~Silence()
	{
		for (int fd = 0; fd < 3; ++fd)
			if (const Fd &saved = saved_[static_cast<std::size_t>(fd)])
				::dup2(saved.get(), fd);
	}
	Silence(const Silence &) = delete;
	Silence &operator=(const Silence &) = delete;

private:
	std::array<Fd, 3> saved_;
};

void expect_kernel_events_only(const record::Options &options)
{
	if (options.matching || options.counting || options.flight || options.statistics || options.states ||
	    options.user_only || options.calibrates_in_phases || !options.functions.empty() || !options.pids.empty() ||
	    options.sample_every_ns || (options.stacks.any() && !options.stacks.of_command))
		throw Error(
		    "plan -- CMD tries the kernel's events only, by -e, and -p cmd: leave the other options out");
	if (options.command.empty())
		throw Error("plan needs a command to try: monitor plan -d 5 -- CMD");
	if (::geteuid() != 0)
		throw Error("only root can attach probes: sudo monitor plan -d 5 -- CMD");
}

class Pilot {
public:
	explicit Pilot(const PilotOptions &options)
	    : options_(options), user_(record::invoking_user()), card_options_(card_options_of(options.record)),
	      card_(card_options_)
	{
	}

	PilotResult run()
	{
		Command command = start();
		if (const int error = command.go())
			throw Error(error, fmt::format("cannot run {}", options_.record.command.front()));
		const auto begin = Clock::now();
		std::vector<PhasePair> phases = measure_phases(command, begin);
		if (command.poll())
			return whole_runs(seconds_since(begin));
		PilotResult result = result_of_phases(phases);
		if (!result.low)
			count_events(command.pid(), result);
		end(command);
		return result;
	}

private:
	static card::CardOptions card_options_of(const record::Options &record)
	{
		card::CardOptions options =
		    record::card_options(record, static_cast<unsigned>(::get_nprocs_conf()), {});
		options.stacks = {};
		options.module = false;
		options.suspending = true; // for task iterators of progress
		options.blocks_per_cpu = buffering::divide_buffers({}, options.cpus, options.rings()).blocks_per_cpu;
		return options;
	}

	Command start() const
	{
		const Silence silence;
		return Command(options_.record.command, user_, {});
	}

	static void end(Command &command)
	{
		command.signal(SIGTERM);
		for (const auto begin = Clock::now(); !command.poll() && Clock::now() < begin + kill_delay;)
			std::this_thread::sleep_for(10ms);
		command.signal(SIGKILL);
		command.wait();
	}

	void attach(const Command &command) { card_.attach(card_options_.filtering ? command.pid() : 0); }

	// None: the command has ended, or the kernel does not report its progress.
	std::optional<record::PhasePart> measure(Command &command)
	{
		std::this_thread::sleep_for(settling);
		const record::TreeProgress begin = card_.progress(command.pid());
		std::this_thread::sleep_for(std::chrono::milliseconds(length_ms_(random_)));
		const auto part = difference(begin, card_.progress(command.pid()));
		return command.poll() ? std::nullopt : part;
	}

	static std::optional<record::PhasePart> difference(const record::TreeProgress &begin,
							   const record::TreeProgress &end)
	{
		if (!begin.is_known || !end.is_known)
			return {};
		record::PhasePart part;
		const auto since = [](std::uint64_t from, std::uint64_t to) {
			return static_cast<double>(
			    to - std::min(from, to)); // children that nobody waited for are no longer in the sum
		};
		part.cpu_ns = since(begin.cpu_ns, end.cpu_ns);
		for (std::size_t i = 0; i < part.progress.size(); ++i)
			part.progress[i] = since(begin.count[i], end.count[i]);
		return part;
	}

	std::vector<PhasePair> measure_phases(Command &command, Clock::time_point begin)
	{
		std::vector<PhasePair> pairs;
		while (seconds_since(begin) < options_.seconds) {
			const auto without = measure(command);
			if (!without)
				break;
			attach(command);
			const auto with = measure(command);
			card_.detach();
			if (!with)
				break;
			pairs.push_back({*without, *with, card_.lost()});
		}
		return pairs;
	}

	void run_once(bool with_probes, Pair &pair)
	{
		const double before = cpu_ns_of_children();
		Command command = start();
		if (with_probes)
			attach(command);
		if (const int error = command.go())
			throw Error(error, fmt::format("cannot run {}", options_.record.command.front()));
		command.wait();
		(with_probes ? pair.with : pair.without) = cpu_ns_of_children() - before;
		if (!with_probes)
			return;
		card_.detach();
		pair.lost = card_.lost();
	}

	// Alternates which of a pair runs first.
	PilotResult whole_runs(double seconds_of_run)
	{
		const auto fitting =
		    static_cast<std::uint64_t>(options_.seconds * times_duration / 2 / std::max(seconds_of_run, 1e-3));
		const std::uint64_t number = std::clamp(fitting, min_pairs, max_pairs);
		if (options_.on_note)
			options_.on_note(fmt::format("CMD ended after {:.2f} s: {} pairs of runs, without and with "
						     "probes, take about {:.0f} s",
						     seconds_of_run, number,
						     static_cast<double>(number) * 2 * seconds_of_run + 1));
		std::vector<Pair> pairs(number);
		for (std::uint64_t i = 0; i < number; ++i)
			for (const bool with_probes : {i % 2 == 1, i % 2 == 0})
				run_once(with_probes, pairs[i]);
		return result_of_runs(pairs);
	}

	// Counts the process tree's events briefly with a filtering card; its CPU time then includes the probes.
	void count_events(pid_t command, PilotResult &result)
	{
		const recording_file::CalibratedCosts loops = card_.calibrate().costs;
		card::CardOptions options = card_options_;
		options.filtering = true;
		TrialCard card(options);
		card.attach(command);
		const record::TreeProgress begin = card.progress(command);
		std::this_thread::sleep_for(counting);
		const auto part = difference(begin, card.progress(command));
		card.detach();
		std::string why_not;
		const auto factors = card_options_.filtering ? recording_file::CodeFactors()
							     : card::factors_of_this_machine().read(why_not);
		const CountedEvents counted{card.events(), part ? std::optional(part->cpu_ns) : std::nullopt,
					    card.lost()};
		use_cost_in_loops(result, counted, loops, factors);
	}

	const PilotOptions &options_;
	const record::User user_;
	const card::CardOptions card_options_;
	TrialCard card_;
	std::mt19937 random_{std::random_device()()};
	std::uniform_int_distribution<int> length_ms_{min_phase_ms, max_phase_ms};
};

} // namespace

PilotResult pilot(const PilotOptions &options)
{
	expect_kernel_events_only(options.record);
	return Pilot(options).run();
}

} // namespace monitor::pilot
