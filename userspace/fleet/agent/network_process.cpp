// SPDX-License-Identifier: MIT
#include "network_process.h"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "fleet/forward/system_clock_read.h"
#include "fleet/wire/fetch_request.h"
#include "fleet/wire/names.h"
#include "journal.h"
#include "link.h"

namespace monitor::agent {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_waiting_answers = 1000;
constexpr auto presence_interval = 1s, clock_read_interval = 60s, flush_timeout = 2s;
constexpr auto answer_interval = 100ms;
constexpr const char *triggers_of_all = "m.fired.*";
constexpr const char *why_no_triggers =
    "the hub does not let it hear triggers of other hosts: on the hub, `monitor fleet init --add` or --remove writes a "
    "new users.conf, SIGHUP loads it; then start this agent again";

// Reports a problem of several connections once. Called from any thread.
void report_network(const std::string &sentence)
{
	static std::mutex mutex;
	static std::string last;
	static std::chrono::steady_clock::time_point said;
	const std::lock_guard lock(mutex);
	const auto now = std::chrono::steady_clock::now();
	if (sentence == last && now - said < presence_interval)
		return;
	last = sentence;
	said = now;
	log_message(sentence);
}

// The forwarding policies of the runs, by name.
RunningRuns running_of(const std::vector<fleet::Presence::Run> &runs)
{
	RunningRuns running;
	for (const fleet::Presence::Run &run : runs)
		running[run.name] = fleet::parse_forward(run.forward);
	return running;
}

} // namespace

NetworkProcess::NetworkProcess(NetworkOptions options, Fd link)
    : options_(std::move(options)), link_(std::move(link)), presence_(options_.presence),
      wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      coordinated_(
	  options_.host, options_.runs,
	  [this](std::string_view kind, const std::string &text) {
		  return connection_ && connection_->publish(fleet::subject_of(kind, options_.host), text);
	  },
	  report_network)
{
	if (!wait_for_runs()) // otherwise running recordings would be treated as ended
		return;
	data_ = std::make_unique<DataPath>(
	    options_.connection, options_.host,
	    DataPath::SpoolSettings{options_.runs, presence_.spool_max_bytes, options_.forward},
	    running_of(presence_.runs), report_network);
	fleet::Connection::Events events;
	events.connected = [this] {
		report_network("connected to the hub");
		wake();
	};
	events.lost = [this](const std::string &problem) {
		receives_triggers_ = true; // the next hub may permit it
		report_network(problem);
	};
	events.error = [this](const std::string &problem) { report_problem(problem); };
	fleet::ConnectionOptions control = options_.connection;
	control.is_urgent = true; // other hosts wait for messages of triggers
	connection_ = std::make_unique<fleet::Connection>(control, std::move(events));
	for (const std::string &subject : {fleet::subject_of("ctl", options_.host), fleet::subject_of("ctl", "all")})
		connection_->subscribe(subject, [this](const auto &message) { pass_to_privileged(message); });
	connection_->subscribe(triggers_of_all,
			       [this](const auto &message) { coordinated_.receive(message.subject, message.text()); });
}

// A hub whose users.conf is older forbids only this.
void NetworkProcess::report_problem(const std::string &problem)
{
	const bool is_forbidden = problem.find(triggers_of_all) != std::string::npos;
	if (is_forbidden)
		receives_triggers_ = false;
	report_network(is_forbidden ? fmt::format("no part in snapshots of all hosts: {}", why_no_triggers) : problem);
}

// False: the privileged process has closed the link.
bool NetworkProcess::wait_for_runs()
{
	while (!knows_runs_) {
		pollfd fds[] = {{link_.get(), POLLIN, 0}};
		::poll(fds, 1, -1);
		if (!read_link())
			return false;
	}
	return true;
}

void NetworkProcess::wake()
{
	::eventfd_write(wakeup_.get(), 1);
}

// In a thread of libnats. An empty message requests presence.
void NetworkProcess::pass_to_privileged(const fleet::Connection::Message &untrusted_message)
{
	const std::size_t size = std::min(untrusted_message.data.size(), max_link_bytes);
	if (size == 0) {
		if (!presence_requested_.exchange(true))
			wake();
	} else if (::send(link_.get(), untrusted_message.data.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		++dropped_;
}

// False: the privileged process has closed the link.
bool NetworkProcess::read_link()
{
	std::string datagram(fleet::max_report_bytes + 1, '\0');
	for (;;) {
		const ssize_t n = ::recv(link_.get(), datagram.data(), datagram.size(), MSG_DONTWAIT);
		if (n == 0)
			return false;
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		const std::string text = datagram.substr(1, static_cast<std::size_t>(n) - 1);
		if (datagram[0] == link_answer && answers_.size() < max_waiting_answers) {
			answers_.push_back(text);
		} else if (datagram[0] == link_coordinated) {
			coordinated_.set_runs(parse_coordinated_runs(text));
		} else if (const auto request = fleet::parse_fetch_request(text);
			   datagram[0] == link_fetch && request) {
			start_fetch(*request);
		} else if (const auto state = fleet::parse_presence(text); datagram[0] == link_runs && state) {
			set_runs(*state);
		}
	}
}

void NetworkProcess::set_runs(const fleet::Presence &state)
{
	knows_runs_ = true;
	presence_.runs = state.runs;
	presence_.refused = state.refused;
	if (data_)
		data_->set_running(running_of(state.runs));
}

void NetworkProcess::start_fetch(const fleet::FetchRequest &request)
{
	if (request.is_list)
		list_requested_ = presence_requested_ = true;
	if (!data_ || request.is_list)
		return;
	if (traces_.size() >= max_waiting_answers)
		traces_.clear();
	traces_[request.nonce] = data_->fetch(request);
}

// Adds the traces, as the privileged process does not read the directory.
void NetworkProcess::add_traces(fleet::CommandAnswer &answer)
{
	const auto found = traces_.find(answer.nonce);
	if (found == traces_.end() || answer.kind != fleet::CommandAnswer::Kind::accepted)
		return;
	answer.traces = found->second;
}

void NetworkProcess::publish_answers()
{
	const std::string subject = fleet::subject_of("answer", options_.host);
	while (!answers_.empty()) {
		auto answer = fleet::parse_command_answer(answers_.front());
		if (answer) {
			answer->session = presence_.session;
			add_traces(*answer);
			if (answer->takes_part && !receives_triggers_) {
				answer->takes_part = false;
				answer->reason = why_no_triggers;
			}
			if (!connection_->publish(subject, fleet::command_answer_text(*answer)))
				return; // after the next connection
			traces_.erase(answer->nonce);
		}
		answers_.pop_front();
	}
}

void NetworkProcess::publish_presence()
{
	data_->fill_presence(presence_);
	if (const auto now = std::chrono::steady_clock::now(); now >= clock_due_) {
		presence_.system_clock = fleet::read_system_clock();
		clock_due_ = now + clock_read_interval;
	}
	fleet::Presence shown = presence_;
	for (fleet::Presence::Run &run : shown.runs)
		run.takes_part &= receives_triggers_;
	shown.kept = list_requested_ ? std::optional(data_->kept()) : std::nullopt;
	list_requested_ = false;
	connection_->publish(fleet::subject_of("hello", options_.host), fleet::presence_text(shown));
	if (const std::uint64_t dropped = dropped_; dropped != reported_dropped_) {
		report_network(
		    fmt::format("{} messages came faster than the privileged process takes them, and are dropped",
				dropped - reported_dropped_));
		reported_dropped_ = dropped;
	}
}

void NetworkProcess::wait_until(std::chrono::steady_clock::time_point time)
{
	const auto left = time - std::chrono::steady_clock::now();
	const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
	std::vector<pollfd> fds = {{link_.get(), POLLIN, 0}, {wakeup_.get(), POLLIN, 0}};
	coordinated_.add_fds(fds);
	::poll(fds.data(), fds.size(), static_cast<int>(std::max<decltype(ms)>(ms, 0)));
	eventfd_t wakeups;
	::eventfd_read(wakeup_.get(), &wakeups);
}

// However many requests arrive, they are answered at most once per answer_interval.
std::chrono::steady_clock::time_point NetworkProcess::next_presence() const
{
	return presence_requested_ ? std::min(next_periodic_, next_on_request_) : next_periodic_;
}

int NetworkProcess::run()
{
	next_periodic_ = std::chrono::steady_clock::now();
	while (connection_) {
		wait_until(next_presence());
		coordinated_.step();
		if (!read_link())
			break;
		publish_answers();
		if (const auto now = std::chrono::steady_clock::now(); now >= next_presence()) {
			presence_requested_ = false;
			publish_presence();
			next_on_request_ = now + answer_interval;
			if (now >= next_periodic_)
				next_periodic_ = std::max(next_periodic_ + presence_interval, now);
		}
	}
	if (connection_)
		end();
	return 0;
}

// Still publishes the last answers.
void NetworkProcess::end()
{
	publish_answers();
	publish_presence();
	connection_->flush(flush_timeout);
	connection_.reset();
}

} // namespace monitor::agent
