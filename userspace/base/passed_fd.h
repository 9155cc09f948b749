// SPDX-License-Identifier: MIT
// Messages with a file descriptor between processes, by a socket that preserves message boundaries (unix(7),
// SCM_RIGHTS).
#pragma once

#include <cstring>

#include <sys/socket.h>
#include <sys/uio.h>

#include "fd.h"

namespace monitor {

// `fd` negative: none. Errors are ignored.
inline void send_bytes_with_fd(int socket, std::span<const std::byte> bytes, int fd)
{
	alignas(cmsghdr) char space[CMSG_SPACE(sizeof fd)] = {};
	iovec part{const_cast<std::byte *>(bytes.data()), bytes.size()};
	msghdr message{};
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	if (fd >= 0) {
		message.msg_control = space;
		message.msg_controllen = sizeof space;
		cmsghdr *head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof fd);
		std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
	}
	::sendmsg(socket, &message, MSG_NOSIGNAL);
}

template <class T> void send_with_fd(int socket, const T &sent, int fd)
{
	send_bytes_with_fd(socket, std::as_bytes(std::span(&sent, 1)), fd);
}

// False: the other end is closed. `fd` is empty if the message has none.
template <class T> bool take_with_fd(int socket, T &taken, Fd &fd)
{
	char space[CMSG_SPACE(sizeof(int))];
	iovec part{&taken, sizeof taken};
	msghdr message{};
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = space;
	message.msg_controllen = sizeof space;
	fd.reset();
	if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != sizeof taken)
		return false;
	const cmsghdr *head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_type == SCM_RIGHTS) {
		int number;
		std::memcpy(&number, CMSG_DATA(head), sizeof number);
		fd = Fd(number);
	}
	return true;
}

} // namespace monitor
