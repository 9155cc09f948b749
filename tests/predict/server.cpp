// SPDX-License-Identifier: MIT
// CLIENTS and a server with one epoll thread, over TCP on loopback.
//
//   server CLIENTS REQUESTS FASTER_HANDLE THINK_US    (REQUESTS: of each client; FASTER: times)
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <monitor/edc.h>

#include "predict.h"

EDC_ACTIVITY(prepare, "arg: u16 client");
EDC_ACTIVITY(request, "arg: u16 client");
EDC_ACTIVITY(handle, "arg: u16 client");

namespace {

void expect(bool holds)
{
	if (!holds)
		std::abort();
}

void serve(int listening, int clients, double faster)
{
	name_thread("server");
	const int epoll = ::epoll_create1(0), yes = 1;
	for (int i = 0; i < clients; ++i) {
		const int socket = ::accept(listening, nullptr, nullptr);
		::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
		epoll_event event{EPOLLIN, {.fd = socket}};
		::epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event);
	}
	std::uint64_t handled = 0;
	for (int open = clients; open > 0;) {
		epoll_event events[16];
		const int ready = ::epoll_wait(epoll, events, 16, -1);
		for (int i = 0; i < ready; ++i) {
			std::uint32_t client = 0;
			if (::read(events[i].data.fd, &client, sizeof client) <= 0) {
				::close(events[i].data.fd);
				--open;
				continue;
			}
			{
				const edc::scope activity{handle, static_cast<std::uint16_t>(client)};
				work((80 + 160 * fraction(++handled)) / faster);
			}
			expect(::write(events[i].data.fd, &client, sizeof client) == sizeof client);
		}
	}
}

void ask(const sockaddr_in &address, std::uint32_t client, int requests, double think_us)
{
	name_thread("client");
	::prctl(PR_SET_TIMERSLACK, 1000);
	const int socket = ::socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	expect(::connect(socket, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0);
	::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	const auto number = static_cast<std::uint16_t>(client);
	for (int i = 0; i < requests; ++i) {
		{
			const edc::scope activity{prepare, number};
			work(40 + 40 * fraction(client * 100000 + static_cast<std::uint64_t>(i)));
		}
		{
			const edc::scope activity{request, number};
			expect(::write(socket, &client, sizeof client) == sizeof client);
			expect(::recv(socket, &client, sizeof client, MSG_WAITALL) == sizeof client);
		}
		if (think_us > 0) {
			const timespec time{
			    0, static_cast<long>(1000 * think_us *
						 (.5 + fraction(client + 77 * static_cast<std::uint64_t>(i))))};
			::nanosleep(&time, nullptr);
		}
	}
	::close(socket);
}

} // namespace

int main(int count, char **values)
{
	const int clients = static_cast<int>(argument(count, values, 1, 2));
	const int requests = static_cast<int>(argument(count, values, 2, 500));
	const double faster = argument(count, values, 3, 1), think_us = argument(count, values, 4, 300);
	const int listening = ::socket(AF_INET, SOCK_STREAM, 0);
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	socklen_t length = sizeof address;
	expect(::bind(listening, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0 &&
	       ::listen(listening, 64) == 0 &&
	       ::getsockname(listening, reinterpret_cast<sockaddr *>(&address), &length) == 0);
	const Elapsed elapsed;
	std::vector<std::thread> running;
	running.emplace_back([&] { serve(listening, clients, faster); });
	for (int i = 0; i < clients; ++i)
		running.emplace_back([&, i] { ask(address, static_cast<std::uint32_t>(i), requests, think_us); });
	for (std::thread &thread : running)
		thread.join();
}
