// SPDX-License-Identifier: MIT
#include "link.h"

#include <cerrno>

#include <sys/socket.h>

#include "base/error.h"

namespace monitor::agent {
namespace {

constexpr int queued_bytes = 4 << 20; // some of the largest envelopes

} // namespace

std::pair<Fd, Fd> make_link()
{
	int ends[2];
	if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		throw Error(errno, "cannot connect the agent's parts");
	std::pair<Fd, Fd> link{Fd(ends[0]), Fd(ends[1])};
	for (const int end : ends)
		if (::setsockopt(end, SOL_SOCKET, SO_SNDBUFFORCE, &queued_bytes, sizeof queued_bytes) < 0)
			::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &queued_bytes,
				     sizeof queued_bytes); // as far as permitted
	return link;
}

} // namespace monitor::agent
