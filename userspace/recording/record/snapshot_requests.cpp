// SPDX-License-Identifier: MIT
#include "snapshot_requests.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/json.h"
#include "recording/card/recorders.h"

namespace monitor::record {
namespace {

constexpr int max_waiting = 16;
constexpr std::size_t max_callers = 64, max_packet = 65536, max_why_bytes = 400;
constexpr std::string_view prefix = "monitor-flight-";
constexpr std::uint64_t max_ns = 1'000'000'000'000'000; // 11 days

struct Address {
	sockaddr_un name{};
	socklen_t length = 0;

	explicit Address(int pid)
	{
		name.sun_family = AF_UNIX;
		const std::string text = fmt::format("{}{}", prefix, pid);
		text.copy(name.sun_path + 1, sizeof name.sun_path - 2);
		length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
	}
	const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&name); }
};

Fd seqpacket(int flags)
{
	return Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
}

// As text in its packet; none if it is not one, or is too long.
std::string request_text(const nlohmann::json &untrusted_packet, const char *name)
{
	if (!untrusted_packet.contains(name) || !untrusted_packet[name].is_string())
		return "";
	const auto text = untrusted_packet[name].get<std::string>();
	return text.size() <= max_why_bytes ? printable(text) : "";
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

std::string talk(const Fd &with, const std::string &packet)
{
	std::string reply(max_packet, '\0');
	::send(with.get(), packet.data(), packet.size(), MSG_NOSIGNAL); // it may have answered and closed already
	ssize_t n;
	do
		n = ::recv(with.get(), reply.data(), reply.size(), 0);
	while (n < 0 && errno == EINTR);
	reply.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
	return reply;
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
	const Address own(::getpid());
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
bool SnapshotRequests::read_request(Caller &caller, std::vector<Asked> &to) const
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
		answer(caller.fd, json_dump(nlohmann::json{{"directory", directory_}}));
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

std::vector<SnapshotRequests::Asked> SnapshotRequests::take()
{
	std::vector<Asked> asked;
	bool has_signal = false;
	for (signalfd_siginfo info; ::read(signal_.get(), &info, sizeof info) == sizeof info;)
		has_signal = true;
	if (has_signal)
		asked.push_back({{{}, 0, "SIGUSR1", SnapshotRequest::By::signal}, {}, read_sync(invariant_tsc_)});
	accept_callers();
	std::erase_if(callers_, [&](Caller &caller) { return read_request(caller, asked); });
	return asked;
}

void SnapshotRequests::answer(const Fd &caller, const std::string &json)
{
	if (caller)
		::send(caller.get(), json.data(), json.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::vector<int> flight_recorders()
{
	return card::pids_in_socket_names(prefix);
}

namespace {

// With SOCK_NONBLOCK it does not wait for a recorder that does not accept.
Fd connect_to(int pid, uid_t *owner = nullptr, int flags = 0)
{
	Fd fd = seqpacket(flags);
	const Address address(pid);
	const timeval patience{5, 0}; // with one that does not accept
	::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	if (!fd || ::connect(fd.get(), address.get(), address.length) < 0)
		return {};
	// Whoever listens under this name must be that process: anybody can choose a name.
	ucred who{};
	socklen_t size = sizeof who;
	if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) < 0 || who.pid != pid)
		return {};
	if (owner)
		*owner = who.uid;
	return fd;
}

} // namespace

std::string flight_directory(int pid)
{
	uid_t owner = 0;
	const Fd fd = connect_to(pid, &owner);
	if (!fd)
		return "";
	const timeval patience{5, 0};
	::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	const nlohmann::json reply = parse_json(talk(fd, R"({"ask": "directory"})"));
	if (!reply.is_object() || !reply.contains("directory") || !reply["directory"].is_string())
		return "";
	const auto directory = reply["directory"].get<std::string>();
	struct stat status;
	return ::stat(directory.c_str(), &status) == 0 && status.st_uid == owner ? directory : "";
}

std::string ask_for_snapshot(int pid, const SnapshotRequest &request)
{
	const Fd fd = connect_to(pid);
	if (!fd)
		throw Error(
		    fmt::format("process {} is not a flight recorder: start one with `monitor record --flight`", pid));
	const std::string reply = talk(fd, packet_of(request));
	if (reply.empty())
		throw Error(fmt::format("the flight recorder, process {}, ended before it took the snapshot", pid));
	return reply;
}

SnapshotQuestion::SnapshotQuestion(int pid, const SnapshotRequest &request)
    : fd_(connect_to(pid, nullptr, SOCK_NONBLOCK))
{
	const std::string packet = packet_of(request);
	if (!fd_ || ::send(fd_.get(), packet.data(), packet.size(), MSG_NOSIGNAL) < 0)
		throw Error(fmt::format("the flight recorder, process {}, cannot be asked now", pid));
}

std::optional<std::string> SnapshotQuestion::take() const
{
	std::string reply(max_packet, '\0');
	const ssize_t n = ::recv(fd_.get(), reply.data(), reply.size(), 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return {};
	reply.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
	return reply;
}

} // namespace monitor::record
