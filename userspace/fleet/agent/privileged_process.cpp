// SPDX-License-Identifier: MIT
#include "privileged_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "base/error.h"
#include "fleet/wire/fetch_request.h"
#include "fleet/wire/forward.h"
#include "journal.h"
#include "link.h"

namespace monitor::agent {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_runs_at_once = 4;
constexpr unsigned max_reported_refusals = 100;                                     // per second
constexpr auto min_restart_delay = 1s, max_restart_delay = 32s, stable_after = 60s; // of the network process
constexpr auto recordings_timeout = 60s, child_timeout = 5s;

Fd watch_signals()
{
	sigset_t set;
	sigemptyset(&set);
	for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD})
		sigaddset(&set, number);
	::sigprocmask(SIG_BLOCK, &set, nullptr);
	::signal(SIGPIPE, SIG_IGN);
	Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
	if (!fd)
		throw Error(errno, "cannot watch for signals");
	return fd;
}

int exit_code_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace

const char *PrivilegedProcess::Run::state() const
{
	return is_ending ? "ending" : is_recording ? "recording" : recorder ? "starting" : "waiting";
}

PrivilegedProcess::PrivilegedProcess(PrivilegedOptions options, fleet::PublicKey key, StartNetwork start_network)
    : options_(std::move(options)), key_(std::move(key)), start_network_(std::move(start_network)),
      nonces_(options_.nonces, clock_ns(CLOCK_REALTIME)), signals_(watch_signals()), buffer_(max_link_bytes, '\0')
{
}

PrivilegedProcess::~PrivilegedProcess() = default;

void PrivilegedProcess::start_child()
{
	auto [ours, theirs] = make_link();
	link_ = std::move(ours);
	child_ = start_network_(std::move(theirs));
	child_started_ = Clock::now();
	send_runs();
}

// As at the start, except that errors are only reported, as recordings run.
void PrivilegedProcess::start_child_again()
{
	try {
		start_child();
	} catch (const Error &error) {
		link_.reset();
		delay_child();
		log_message(fmt::format("{}; it is tried again after {} s", error.what(), child_delay_.count()));
	}
}

void PrivilegedProcess::delay_child()
{
	child_delay_ = child_delay_ == 0s ? min_restart_delay
					  : std::min<std::chrono::seconds>(2 * child_delay_, max_restart_delay);
	child_due_ = Clock::now() + child_delay_;
}

int PrivilegedProcess::run()
{
	start_child();
	while (!is_stopping_) {
		wait();
		read_signals();
		receive_envelopes();
		start_due_runs();
		for (Run &run : runs_)
			update(run);
		if (child_ < 0 && Clock::now() >= child_due_ && !is_stopping_)
			start_child_again();
	}
	end_all();
	return 0;
}

// Sleeps until something happens or is due.
void PrivilegedProcess::wait()
{
	std::vector<pollfd> fds = {{signals_.get(), POLLIN, 0}};
	if (link_)
		fds.push_back({link_.get(), POLLIN, 0});
	Clock::time_point due = child_ < 0 ? child_due_ : Clock::time_point::max();
	for (const Run &run : runs_) {
		if (!run.recorder)
			due = std::min(due, run.due);
		run.snapshots.add_fds(fds);
		if (run.recorder) // poll() ignores -1
			fds.insert(fds.end(),
				   {{run.recorder->ready_fd(), POLLIN, 0}, {run.recorder->output_fd(), POLLIN, 0}});
		if (run.command_process)
			fds.push_back({run.command_process->output_fd(), POLLIN, 0});
	}
	const auto left = std::max<Clock::duration>(due - Clock::now(), 0ns);
	const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
	const timespec timeout{ns / 1'000'000'000, ns % 1'000'000'000};
	::ppoll(fds.data(), fds.size(), due == Clock::time_point::max() ? nullptr : &timeout, nullptr);
}

void PrivilegedProcess::receive_envelopes()
{
	for (unsigned i = 0; link_ && i < 64; ++i) {
		const ssize_t n = ::recv(link_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
		if (n > 0)
			handle_envelope(std::string_view(buffer_.data(), static_cast<std::size_t>(n)));
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			link_.reset(); // the child then ends, and SIGCHLD follows
		else
			return;
	}
}

void PrivilegedProcess::handle_envelope(std::string_view untrusted_envelope)
{
	const std::uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	const fleet::CheckedControl checked = fleet::check_control(untrusted_envelope, key_, options_.host, now_ns);
	if (checked.is_for_others)
		return; // sent to all hosts; an answer would look like a part of the command's outcome
	const fleet::ControlMessage &message = checked.message;
	std::string why = checked.refusal;
	try {
		if (why.empty())
			why = nonces_.use(message.nonce, message.expires_ns, now_ns);
		if (why.empty())
			why = execute(message, now_ns);
	} catch (const Error &error) {
		why = error.what();
	}
	if (!why.empty())
		refuse(why, checked.is_authentic ? message.nonce : "", checked.is_authentic ? message.run : "");
}

// Returns the reason of a refusal, as the end of a message; "": executed.
std::string PrivilegedProcess::execute(const fleet::ControlMessage &message, std::uint64_t now_ns)
{
	if (message.kind == "record")
		return plan_run(message, now_ns);
	if (message.kind == "stop")
		return stop_run(message);
	if (message.kind == "snapshot")
		return request_snapshot(message);
	if (message.kind == "fetch" || message.kind == "list")
		return fetch(message);
	return fmt::format("this version of monitor has no command '{}' for hosts", message.kind);
}

std::string PrivilegedProcess::plan_run(const fleet::ControlMessage &message, std::uint64_t now_ns)
{
	struct stat status;
	if (std::ranges::any_of(runs_, [&](const Run &run) { return run.name == message.run; }) ||
	    ::lstat((options_.runs + "/" + message.run).c_str(), &status) == 0)
		return "there is a run of this name on this host";
	if (runs_.size() >= max_runs_at_once)
		return fmt::format("{} recordings run or wait here already", max_runs_at_once);
	if (!message.command.empty() && !options_.commands)
		return "this host's agent runs no commands: it was started without --allow-commands";
	fleet::RecordWords words = fleet::allowed_words(message.options, options_.allowed);
	if (!words.refusal.empty())
		return words.refusal;
	Run run;
	run.name = message.run;
	run.nonce = message.nonce;
	run.forward = message.forward.empty() ? options_.forward : message.forward;
	run.words = std::move(words.words);
	run.command = message.command;
	run.planned_ns = message.start_ns;
	run.due = Clock::now() + std::chrono::nanoseconds(fleet::start_delay_ns(message, now_ns));
	fleet::CommandAnswer accepted;
	if (std::string refusal = decide_participation(message, run, accepted); !refusal.empty())
		return refusal;
	accepted.forward = run.forward;
	runs_.push_back(std::move(run));
	log_message(fmt::format("run {} is accepted{}", message.run,
				accepted.takes_part ? ", with snapshots when triggers of other hosts fire" : ""));
	accept(message, std::move(accepted));
	send_runs();
	return "";
}

// Sets whether the host takes part in coordinated snapshots, and why not. Returns the reason of a refusal; "": none.
std::string PrivilegedProcess::decide_participation(const fleet::ControlMessage &message, Run &run,
						    fleet::CommandAnswer &accepted) const
{
	run.is_flight = message.options.contains("flight");
	if (!message.snapshot_all)
		return "";
	if (!run.is_flight)
		return "snapshots of all hosts are those of flight recorders: add --flight and --snapshots";
	run.max_snapshots = static_cast<std::uint64_t>(message.options["snapshots"].get<double>());
	run.takes_part = accepted.takes_part = options_.allowed.options.contains(fleet::snapshot_all_permission);
	if (!run.takes_part)
		accepted.reason =
		    fmt::format("this host's agent was not started with --allow {}", fleet::snapshot_all_permission);
	return "";
}

std::string PrivilegedProcess::stop_run(const fleet::ControlMessage &message)
{
	const auto run = std::ranges::find(runs_, message.run, &Run::name);
	if (run == runs_.end())
		return "no run of this name is recorded on this host";
	accept(message);
	if (run->recorder) {
		end(*run);
		send_runs();
	} else {
		run_ended(run, 0, "it was stopped before its start");
	}
	return "";
}

std::string PrivilegedProcess::request_snapshot(const fleet::ControlMessage &message)
{
	const auto run = std::ranges::find(runs_, message.run, &Run::name);
	if (run == runs_.end())
		return "no run of this name is recorded on this host";
	if (!run->is_flight)
		return "the run is not a flight recorder: snapshots are of those that were started with --flight";
	if (!run->is_recording || run->is_ending)
		return fmt::format("the flight recorder is {}: ask while it is recording", run->state());
	std::string refusal = run->snapshots.ask(run->recorder->pid(), message);
	if (refusal.empty())
		accept(message);
	return refusal;
}

// Verifies the command; the network process, which can read the traces, executes it.
std::string PrivilegedProcess::fetch(const fleet::ControlMessage &message)
{
	fleet::FetchRequest request{message.run,
				    message.nonce,
				    fleet::parse_hex64(message.store).value_or(0),
				    message.from_ns,
				    message.to_ns ? message.to_ns : ~std::uint64_t(0),
				    message.kind == "list"};
	const auto run = std::ranges::find(runs_, message.run, &Run::name);
	struct stat status;
	if (!request.is_list && ::lstat((options_.runs + "/" + message.run).c_str(), &status) != 0)
		return "there is no trace of this run on this host";
	if (!request.is_list && run != runs_.end() && run->forward != fleet::forward_text(fleet::Forward::on_demand))
		return "it is still recorded, and sent as it is recorded: collect it, or stop it first";
	send(link_fetch + fleet::fetch_request_text(request));
	accept(message);
	return "";
}

void PrivilegedProcess::start_due_runs()
{
	for (auto run = runs_.begin(); run != runs_.end();) {
		const auto each = run++;
		if (each->recorder || Clock::now() < each->due)
			continue;
		try {
			start(*each);
			send_runs();
		} catch (const Error &error) {
			run_ended(each, 125, error.what());
		}
	}
}

void PrivilegedProcess::start(Run &run)
{
	std::vector<std::string> argv = {options_.program, "record", "--notify-fd=3",
					 fmt::format("--output={}/{}", options_.runs, run.name)};
	argv.insert(argv.end(), run.words.begin(), run.words.end());
	run.recorder.emplace(argv, ChildIdentity{options_.owner, {}});
	log_message(fmt::format("run {} is started, process {}: {}", run.name, run.recorder->pid(),
				fmt::join(argv.begin() + 4, argv.end(), " ")));
}

void PrivilegedProcess::update(Run &run)
{
	for (auto *process : {&run.recorder, &run.command_process})
		if (*process && (*process)->output_fd() >= 0)
			for (const std::string &line : (*process)->take_lines())
				log_message(fmt::format("run {}: {}", run.name, line));
	for (fleet::CommandAnswer &taken : run.snapshots.take())
		answer(std::move(taken));
	if (run.recorder && run.recorder->ready_fd() >= 0 && run.recorder->poll_ready())
		recording_started(run);
}

void PrivilegedProcess::recording_started(Run &run)
{
	run.is_recording = true;
	fleet::CommandAnswer started;
	started.realtime_ns = clock_ns(CLOCK_REALTIME);
	if (run.planned_ns)
		started.late_ns = static_cast<std::int64_t>(started.realtime_ns - run.planned_ns);
	answer(fleet::CommandAnswer::Kind::started, run.nonce, run.name, std::move(started));
	send_runs();
	if (run.command.empty())
		return;
	try {
		run.command_process.emplace(run.command, ChildIdentity{{}, options_.commands});
	} catch (const Error &error) {
		log_message(fmt::format("run {}: {}", run.name, error.what()));
		run.command_exit = 126;
		end(run);
	}
}

void PrivilegedProcess::end(Run &run)
{
	run.is_ending = true;
	if (run.command_process)
		run.command_process->end_session();
	if (run.recorder)
		run.recorder->end();
}

void PrivilegedProcess::read_signals()
{
	signalfd_siginfo info;
	while (::read(signals_.get(), &info, sizeof info) == sizeof info)
		is_stopping_ |= info.ssi_signo != SIGCHLD;
	reap();
}

void PrivilegedProcess::reap()
{
	int status;
	for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
		child_ended(pid, status);
}

void PrivilegedProcess::child_ended(pid_t pid, int status)
{
	if (pid == child_)
		return network_ended(status);
	for (auto run = runs_.begin(); run != runs_.end(); ++run) {
		if (run->command_process && run->command_process->pid() == pid) {
			update(*run);
			run->command_process.reset();
			run->command_exit = exit_code_of(status);
			end(*run);
			return send_runs();
		}
		if (run->recorder && run->recorder->pid() == pid) {
			update(*run);
			if (run->command_process)
				run->command_process->end_session();
			const int code = run->command_exit.value_or(exit_code_of(status));
			return run_ended(run, code, run->recorder->last_message());
		}
	}
}

// The network process is restarted; recordings do not depend on it.
void PrivilegedProcess::network_ended(int status)
{
	child_ = -1;
	link_.reset();
	if (Clock::now() - child_started_ > stable_after)
		child_delay_ = 0s;
	delay_child();
	if (!is_stopping_)
		log_message(fmt::format("the network process ended with exit code {}: it is started again after {} s",
					exit_code_of(status), child_delay_.count()));
}

void PrivilegedProcess::run_ended(std::list<Run>::iterator run, int exit_code, const std::string &reason)
{
	fleet::CommandAnswer ended;
	ended.exit_code = exit_code;
	ended.reason = reason;
	log_message(fmt::format("run {} has ended with exit code {}", run->name, exit_code));
	answer(fleet::CommandAnswer::Kind::ended, run->nonce, run->name, std::move(ended));
	runs_.erase(run);
	send_runs();
}

void PrivilegedProcess::refuse(const std::string &why, const std::string &nonce, const std::string &run)
{
	if (Clock::now() - refusals_since_ > 1s) {
		if (reported_refusals_ > max_reported_refusals)
			log_message(
			    fmt::format("{} more commands were refused", reported_refusals_ - max_reported_refusals));
		refusals_since_ = Clock::now();
		reported_refusals_ = 0;
	}
	if (++reported_refusals_ <= max_reported_refusals)
		log_message(fmt::format("a command is refused: {}", why));
	++refused_;
	fleet::CommandAnswer refused;
	refused.reason = why;
	answer(fleet::CommandAnswer::Kind::refused, nonce, run, std::move(refused));
}

void PrivilegedProcess::accept(const fleet::ControlMessage &message, fleet::CommandAnswer more)
{
	answer(fleet::CommandAnswer::Kind::accepted, message.nonce, message.run, std::move(more));
}

void PrivilegedProcess::answer(fleet::CommandAnswer::Kind kind, const std::string &nonce, const std::string &run,
			       fleet::CommandAnswer more)
{
	more.kind = kind;
	more.nonce = nonce;
	more.run = run;
	answer(std::move(more));
}

void PrivilegedProcess::answer(fleet::CommandAnswer answer)
{
	if (!answer.realtime_ns)
		answer.realtime_ns = clock_ns(CLOCK_REALTIME);
	send(link_answer + fleet::command_answer_text(answer));
}

void PrivilegedProcess::send_runs()
{
	fleet::Presence presence;
	presence.refused = refused_;
	std::vector<CoordinatedRun> coordinated;
	for (const Run &run : runs_) {
		presence.runs.push_back({run.name, run.state(), run.is_flight, run.takes_part});
		presence.runs.back().forward = run.forward;
		if (run.takes_part && run.is_recording && !run.is_ending)
			coordinated.push_back({run.name, run.recorder->pid(), run.max_snapshots});
	}
	send(link_runs + fleet::presence_text(presence));
	send(link_coordinated + coordinated_runs_text(coordinated));
}

// Drops the message if the socket is full: the network process must not block this one.
void PrivilegedProcess::send(const std::string &text)
{
	if (link_ && ::send(link_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EAGAIN)
		log_message("the network process does not read: an answer is lost");
}

// Ends recordings before the child, so that their ends are still reported.
void PrivilegedProcess::end_all()
{
	log_message("it ends: recordings are ended");
	for (auto run = runs_.begin(); run != runs_.end();) {
		const auto each = run++;
		if (each->recorder)
			end(*each);
		else
			run_ended(each, 0, "the agent ended before its start");
	}
	const auto wait_while = [&](auto &&condition, Clock::duration timeout) {
		for (const auto end = Clock::now() + timeout; condition() && Clock::now() < end;) {
			pollfd fds[] = {{signals_.get(), POLLIN, 0}};
			::poll(fds, 1, 100);
			read_signals();
			for (Run &run : runs_)
				update(run);
		}
	};
	wait_while([&] { return !runs_.empty(); }, recordings_timeout);
	for (const Run &run : runs_)
		log_message(fmt::format("run {} does not end: process {} is left", run.name, run.recorder->pid()));
	link_.reset();
	wait_while([&] { return child_ >= 0; }, child_timeout);
	if (child_ >= 0)
		::kill(child_, SIGKILL);
}

} // namespace monitor::agent
