// SPDX-License-Identifier: MIT
#include "user_socket.h"

#include <cerrno>
#include <cstring>

#include <sys/stat.h>

#include "base/error.h"
#include "base/passed_fd.h"
#include "recording/recorder/recorders.h"

namespace monitor::card {
namespace {

constexpr int max_waiting = 1024; // callers that are not accepted yet

sockaddr_un well_known_address()
{
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	std::strncpy(address.sun_path, EDC_SOCKET_PATH, sizeof address.sun_path - 1);
	return address;
}

} // namespace

pid_t recorder_of_all_programs()
{
	const sockaddr_un address = well_known_address();
	const Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	ucred who{};
	socklen_t size = sizeof who;
	if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) < 0 ||
	    ::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) < 0)
		return 0;
	return who.pid;
}

Fd listen_on(const std::string &name)
{
	Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	const record::SocketAddress address(name);
	if (!fd || ::bind(fd.get(), address.get(), address.length) < 0 || ::listen(fd.get(), max_waiting) < 0)
		throw Error(errno, "cannot listen for instrumented programs");
	return fd;
}

// The path outlives the recorder, which has no right to remove it by then: the next one does.
Fd listen_for_everyone()
{
	const sockaddr_un address = well_known_address();
	if (const pid_t other = recorder_of_all_programs())
		throw Error("process {} already records the events of all instrumented programs; only one process can",
			    other);
	::mkdir("/run/monitor", 0755);
	::unlink(address.sun_path);
	Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) < 0 ||
	    ::chmod(address.sun_path, 0666) < 0 || ::listen(fd.get(), max_waiting) < 0)
		throw Error(errno, "cannot listen at " EDC_SOCKET_PATH);
	return fd;
}

void send_answer(int fd, const edc_welcome &welcome, const std::vector<std::uint16_t> &ids, int memory)
{
	std::string message(reinterpret_cast<const char *>(&welcome), sizeof welcome);
	message.append(reinterpret_cast<const char *>(ids.data()), ids.size() * sizeof(std::uint16_t));
	send_bytes_with_fd(fd, std::as_bytes(std::span(message)), memory);
}

} // namespace monitor::card
