// SPDX-License-Identifier: MIT
#include "snapshot_requests.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "recording/card/recorders.h"

namespace monitor::record {
namespace {

constexpr int max_waiting = 16;
constexpr std::size_t max_callers = 64, max_packet = 65536, max_why_bytes = 400;
constexpr std::string_view prefix = "monitor-flight-";
constexpr std::uint64_t max_ns = 1'000'000'000'000'000; // 11 days

Fd seqpacket(int flags)
{
	return Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
}

// As text in its packet; none if it is not one, or is too long.
std::string request_text(const nlohmann::json &untrusted_packet, const char *name)
{
	return printable(text_field(untrusted_packet, name, max_why_bytes).value_or(""));
}

std::string packet_of(const SnapshotRequest &request)
{
	nlohmann::json json = {{"after_ns", request.after_ns}, {"joins", request.joins}};
	if (request.before_ns)
		json["before_ns"] = *request.before_ns;
	if (!request.why.empty())
		json["why"] = request.why;
	if (!request.trigger.empty())
		json["trigger"] = request.trigger;
	return json_dump(json);
}

// One packet; "": none, the other end is gone.
std::string received(const Fd &from)
{
	std::string packet(max_packet, '\0');
	const ssize_t n = ::recv(from.get(), packet.data(), packet.size(), 0);
	packet.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
	return packet;
}

} // namespace

SnapshotRequests::SnapshotRequests(uid_t user, std::string directory, bool invariant_tsc)
    : user_(user), directory_(std::move(directory)), poll_(::epoll_create1(EPOLL_CLOEXEC)),
      listener_(seqpacket(SOCK_NONBLOCK)), invariant_tsc_(invariant_tsc)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	::sigprocmask(SIG_BLOCK, &set, &before_);
	signal_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
	const card::SocketAddress own(card::own_socket_name(prefix));
	const auto watch = [&](int fd) {
		epoll_event event{};
		event.events = EPOLLIN;
		return ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
	};
	if (!poll_ || !signal_ || !listener_ || ::bind(listener_.get(), own.get(), own.length) < 0 ||
	    ::listen(listener_.get(), max_waiting) < 0 || !watch(signal_.get()) || !watch(listener_.get())) {
		const int error = errno;
		::sigprocmask(SIG_SETMASK, &before_, nullptr);
		throw Error(error, "cannot listen for requests of snapshots");
	}
}

// What comes too late must not end the process.
SnapshotRequests::~SnapshotRequests()
{
	::signal(SIGUSR1, SIG_IGN);
	::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void SnapshotRequests::accept_callers()
{
	for (;;) {
		Fd caller(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
		if (!caller)
			return;
		ucred who{};
		socklen_t size = sizeof who;
		const bool is_known = ::getsockopt(caller.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0;
		if (callers_.size() >= max_callers)
			callers_.erase(callers_.begin()); // the one that has been silent for longest
		epoll_event event{};
		event.events = EPOLLIN;
		if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, caller.get(), &event) == 0)
			callers_.push_back({std::move(caller), is_known && (who.uid == 0 || who.uid == user_)});
	}
}

// False: there is none yet.
bool SnapshotRequests::read_request(Caller &caller, const nlohmann::ordered_json &state, std::vector<Asked> &to) const
{
	std::string packet(max_packet, '\0');
	const ssize_t n = ::recv(caller.fd.get(), packet.data(), packet.size(), 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	packet.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
	if (packet.empty())
		return true; // it is gone
	const auto refuse = [&](const char *why) {
		answer(caller.fd, json_dump(nlohmann::json{{"error", why}}));
		return true;
	};
	if (!caller.is_allowed)
		return refuse("this flight recorder answers root and its own user only: use sudo");
	const nlohmann::json json = parse_json(packet);
	const auto is_duration = [&](const char *name) {
		return !json.contains(name) || (json[name].is_number_unsigned() && json[name] <= max_ns);
	};
	if (!json.is_object() || !is_duration("before_ns") || !is_duration("after_ns"))
		return refuse("the request is not understood; use the same version of monitor");
	if (json.contains("ask")) {
		nlohmann::ordered_json told = {{"directory", directory_}};
		told.update(state);
		answer(caller.fd, json_dump(told));
		return true;
	}
	Asked asked;
	if (json.contains("before_ns"))
		asked.request.before_ns = json["before_ns"].get<std::uint64_t>();
	if (json.contains("after_ns"))
		asked.request.after_ns = json["after_ns"].get<std::uint64_t>();
	asked.request.why = request_text(json, "why");
	if (asked.request.why.empty())
		asked.request.why = "monitor snapshot";
	asked.request.trigger = request_text(json, "trigger");
	asked.request.joins = json.contains("joins") && json["joins"] == true;
	asked.at = read_sync(invariant_tsc_);
	epoll_event event{};
	event.events = EPOLLRDHUP; // from now on only whether it goes away
	::epoll_ctl(poll_.get(), EPOLL_CTL_MOD, caller.fd.get(), &event);
	asked.caller = std::move(caller.fd);
	to.push_back(std::move(asked));
	return true;
}

bool SnapshotRequests::is_gone(const Fd &caller) const
{
	char byte;
	if (!caller || ::recv(caller.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
		return false;
	::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, caller.get(), nullptr);
	return true;
}

std::vector<SnapshotRequests::Asked> SnapshotRequests::take(const nlohmann::ordered_json &state)
{
	std::vector<Asked> asked;
	bool has_signal = false;
	for (signalfd_siginfo info; ::read(signal_.get(), &info, sizeof info) == sizeof info;)
		has_signal = true;
	if (has_signal)
		asked.push_back({{{}, 0, "SIGUSR1", SnapshotRequest::By::signal}, {}, read_sync(invariant_tsc_)});
	accept_callers();
	std::erase_if(callers_, [&](Caller &caller) { return read_request(caller, state, asked); });
	return asked;
}

void SnapshotRequests::answer(const Fd &caller, const std::string &json)
{
	if (caller)
		::send(caller.get(), json.data(), json.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto patience = std::chrono::seconds(1); // with sockets that have enough callers already

enum class Connection : std::uint8_t { made, nobodys, full };

// To the socket of this name, if it is that of the process it names and root or this user listens: anybody can take a
// name.
Connection connect_to(const card::SocketName &socket, Fd &fd)
{
	fd = seqpacket(SOCK_NONBLOCK);
	const card::SocketAddress address(socket.name);
	if (!fd || ::connect(fd.get(), address.get(), address.length) < 0)
		return errno == EAGAIN ? Connection::full : Connection::nobodys;
	ucred who{};
	socklen_t size = sizeof who;
	const bool is_trusted = ::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
				who.pid == socket.pid && (who.uid == 0 || who.uid == ::geteuid());
	return is_trusted ? Connection::made : Connection::nobodys;
}

// A connection, which does not block, to each flight recorder by its process, or to that of the process `only`.
std::map<int, Fd> connections(int only, Clock::time_point end)
{
	std::map<int, Fd> found;
	for (;;) {
		bool is_any_full = false;
		for (const card::SocketName &socket : card::socket_names(prefix)) {
			if ((only && socket.pid != only) || found.contains(socket.pid))
				continue;
			Fd fd;
			const Connection connection = connect_to(socket, fd);
			if (connection == Connection::made)
				found.emplace(socket.pid, std::move(fd));
			is_any_full |= connection == Connection::full;
		}
		if (!is_any_full || Clock::now() >= end || (only && !found.empty()))
			return found;
		std::this_thread::sleep_for(std::chrono::milliseconds(20));
	}
}

Fd connection_to(int pid, std::chrono::nanoseconds at_most)
{
	std::map<int, Fd> found = connections(pid, Clock::now() + at_most);
	return found.empty() ? Fd() : std::move(found.begin()->second);
}

// Until there is something to read, or the recorder has ended. False: not in time (-1: there is no limit).
bool is_answered(const Fd &by, int at_most_ms)
{
	pollfd waits{by.get(), POLLIN, 0};
	int ready;
	while ((ready = ::poll(&waits, 1, at_most_ms)) < 0 && errno == EINTR)
		;
	return ready > 0;
}

} // namespace

std::vector<int> flight_recorders()
{
	std::vector<int> pids;
	for (const auto &[pid, fd] : connections(0, Clock::now() + patience))
		pids.push_back(pid);
	return pids;
}

nlohmann::ordered_json flight_state(int pid)
{
	const Fd fd = connection_to(pid, patience);
	constexpr std::string_view question = R"({"ask": "state"})";
	if (!fd || ::send(fd.get(), question.data(), question.size(), MSG_NOSIGNAL) < 0 || !is_answered(fd, 5000))
		return {};
	auto reply = parse_json<nlohmann::ordered_json>(received(fd));
	return text_field(reply, "directory") ? reply : nlohmann::ordered_json();
}

std::string flight_directory(int pid)
{
	const nlohmann::ordered_json state = flight_state(pid);
	return state.is_null() ? "" : state["directory"].get<std::string>();
}

std::string ask_for_snapshot(int pid, const SnapshotRequest &request)
{
	const Fd fd = connection_to(pid, patience);
	if (!fd)
		throw Error(
		    fmt::format("process {} is not a flight recorder: start one with `monitor record --flight`", pid));
	const std::string packet = packet_of(request);
	::send(fd.get(), packet.data(), packet.size(), MSG_NOSIGNAL); // it may have answered and closed already
	is_answered(fd, -1);                                          // as long as the snapshot takes
	std::string reply = received(fd);
	if (reply.empty())
		throw Error(fmt::format("the flight recorder, process {}, ended before it took the snapshot", pid));
	return reply;
}

SnapshotQuestion::SnapshotQuestion(int pid, const SnapshotRequest &request)
    : fd_(connection_to(pid, std::chrono::nanoseconds(0)))
{
	const std::string packet = packet_of(request);
	if (!fd_ || ::send(fd_.get(), packet.data(), packet.size(), MSG_NOSIGNAL) < 0)
		throw Error(fmt::format("the flight recorder, process {}, cannot be asked now", pid));
}

std::optional<std::string> SnapshotQuestion::take() const
{
	if (!is_answered(fd_, 0))
		return {};
	return received(fd_);
}

} // namespace monitor::record
