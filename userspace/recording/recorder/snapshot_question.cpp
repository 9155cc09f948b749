// SPDX-License-Identifier: MIT
#include "snapshot_question.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "base/ranges.h"
#include "recorders.h"

namespace monitor::record {
namespace {

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

// One packet; "": the other end has closed.
std::string receive(const Fd &from)
{
	std::string packet(max_snapshot_packet, '\0');
	const ssize_t n = ::recv(from.get(), packet.data(), packet.size(), 0);
	packet.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
	return packet;
}

using Clock = std::chrono::steady_clock;
constexpr auto connect_timeout = std::chrono::seconds(1); // to connect to a socket with a full backlog

enum class Connection : std::uint8_t { made, nobodys, full };

// Connects to this socket if the listener is the process in its name and runs as root or this user: anybody can bind a
// name.
Connection connect_to(const SocketName &socket, Fd &fd)
{
	fd = snapshot_socket();
	const SocketAddress address(socket.name);
	if (!fd || ::connect(fd.get(), address.get(), address.length) < 0)
		return errno == EAGAIN ? Connection::full : Connection::nobodys;
	ucred who{};
	socklen_t size = sizeof who;
	const bool is_trusted = ::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
				who.pid == socket.pid && (who.uid == 0 || who.uid == ::geteuid());
	return is_trusted ? Connection::made : Connection::nobodys;
}

// Nonblocking connections to all flight recorders, or to that of the process `only`, by PID.
std::map<int, Fd> connections(int only, Clock::time_point end)
{
	std::map<int, Fd> found;
	for (;;) {
		bool is_any_full = false;
		for (const SocketName &socket : socket_names(flight_socket_prefix)) {
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

// Waits until the recorder has answered or ended. False: timeout (-1: none).
bool wait_for_answer(const Fd &by, int at_most_ms)
{
	pollfd answer{by.get(), POLLIN, 0};
	int ready;
	while ((ready = ::poll(&answer, 1, at_most_ms)) < 0 && errno == EINTR)
		;
	return ready > 0;
}

} // namespace

Fd snapshot_socket()
{
	return Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

std::vector<int> flight_recorders()
{
	return list_of<int>(connections(0, Clock::now() + connect_timeout),
			    [](const auto &each) { return each.first; });
}

nlohmann::ordered_json flight_state(int pid)
{
	const Fd fd = connection_to(pid, connect_timeout);
	constexpr std::string_view question = R"({"ask": "state"})";
	if (!fd || ::send(fd.get(), question.data(), question.size(), MSG_NOSIGNAL) < 0 || !wait_for_answer(fd, 5000))
		return {};
	auto reply = parse_json<nlohmann::ordered_json>(receive(fd));
	return text_field(reply, "directory") ? reply : nlohmann::ordered_json();
}

std::string flight_directory(int pid)
{
	const nlohmann::ordered_json state = flight_state(pid);
	return state.is_null() ? "" : state["directory"].get<std::string>();
}

std::string ask_for_snapshot(int pid, const SnapshotRequest &request)
{
	const Fd fd = connection_to(pid, connect_timeout);
	if (!fd)
		throw Error("process {} is not a flight recorder: start one with `monitor record --flight`", pid);
	const std::string packet = packet_of(request);
	::send(fd.get(), packet.data(), packet.size(), MSG_NOSIGNAL); // it may have answered and closed already
	wait_for_answer(fd, -1);                                      // as long as the snapshot takes
	std::string reply = receive(fd);
	if (reply.empty())
		throw Error("the flight recorder, process {}, ended before it took the snapshot", pid);
	return reply;
}

SnapshotQuestion::SnapshotQuestion(int pid, const SnapshotRequest &request)
    : fd_(connection_to(pid, std::chrono::nanoseconds(0)))
{
	const std::string packet = packet_of(request);
	if (!fd_ || ::send(fd_.get(), packet.data(), packet.size(), MSG_NOSIGNAL) < 0)
		throw Error("the flight recorder, process {}, cannot be asked now", pid);
}

std::optional<std::string> SnapshotQuestion::take() const
{
	if (!wait_for_answer(fd_, 0))
		return {};
	return receive(fd_);
}

} // namespace monitor::record
