// SPDX-License-Identifier: MIT
#include "snapshot_requests.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "recording/recorder/recorders.h"

namespace monitor::record {
namespace {

constexpr int max_waiting = 16;
constexpr std::size_t max_callers = 64, max_why_bytes = 400;
constexpr std::uint64_t max_ns = 1'000'000'000'000'000; // 11 days

// A text member of the packet; "" if not a text or too long.
std::string request_text(const nlohmann::json &untrusted_packet, const char *name)
{
	return printable(text_field(untrusted_packet, name, max_why_bytes).value_or(""));
}

} // namespace

SnapshotRequests::SnapshotRequests(uid_t user, std::string directory, bool invariant_tsc)
    : user_(user), directory_(std::move(directory)), poll_(::epoll_create1(EPOLL_CLOEXEC)),
      listener_(snapshot_socket()), invariant_tsc_(invariant_tsc)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	::sigprocmask(SIG_BLOCK, &set, &before_);
	signal_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
	const SocketAddress own(own_socket_name(flight_socket_prefix));
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

// A late SIGUSR1 must not kill the process.
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
			callers_.erase(callers_.begin()); // drop the caller that has been silent for longest
		epoll_event event{};
		event.events = EPOLLIN;
		if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, caller.get(), &event) == 0)
			callers_.push_back({std::move(caller), is_known && (who.uid == 0 || who.uid == user_)});
	}
}

// False: no request yet.
bool SnapshotRequests::read_request(Caller &caller, const nlohmann::ordered_json &state,
				    std::vector<Received> &to) const
{
	std::string packet(max_snapshot_packet, '\0');
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
		nlohmann::ordered_json reply = {{"directory", directory_}};
		reply.update(state);
		answer(caller.fd, json_dump(reply));
		return true;
	}
	Received received;
	received.request.before_ns = number_field(json, "before_ns");
	received.request.after_ns = number_field(json, "after_ns").value_or(0);
	received.request.why = request_text(json, "why");
	if (received.request.why.empty())
		received.request.why = "monitor snapshot";
	received.request.trigger = request_text(json, "trigger");
	received.request.joins = json.contains("joins") && json["joins"] == true;
	received.at = read_sync(invariant_tsc_);
	epoll_event event{};
	event.events = EPOLLRDHUP; // now only poll for hang-up
	::epoll_ctl(poll_.get(), EPOLL_CTL_MOD, caller.fd.get(), &event);
	received.caller = std::move(caller.fd);
	to.push_back(std::move(received));
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

std::vector<SnapshotRequests::Received> SnapshotRequests::take(const nlohmann::ordered_json &state)
{
	std::vector<Received> received;
	bool has_signal = false;
	for (signalfd_siginfo info; ::read(signal_.get(), &info, sizeof info) == sizeof info;)
		has_signal = true;
	if (has_signal)
		received.push_back({{{}, 0, "SIGUSR1", SnapshotRequest::By::signal}, {}, read_sync(invariant_tsc_)});
	accept_callers();
	std::erase_if(callers_, [&](Caller &caller) { return read_request(caller, state, received); });
	return received;
}

void SnapshotRequests::answer(const Fd &caller, const std::string &json)
{
	if (caller)
		::send(caller.get(), json.data(), json.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

} // namespace monitor::record
