// SPDX-License-Identifier: MIT
// A service on two hosts whose programs post events. Documentation/tutorial-fleet.md walks through it.
//
//   shop db PORT                  the database
//   shop web PORT DB PORT         the front end: asks the database at host DB
//   shop client WEB PORT NUMBER   sends this many requests, one after the other
//
// A request is its number: the front end asks the database, which answers. Every tenth is slow in the database, every
// fifteenth in the front end. All events have the number: what follows a request from host to host.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <monitor/edc.h>

EDC_EVENT(web_received, "u64 request");
EDC_EVENT(web_asks, "u64 request");
EDC_EVENT(web_answered, "u64 request");
EDC_EVENT(db_received, "u64 request");
EDC_EVENT(db_answered, "u64 request");

namespace {

using std::chrono::microseconds;
using Request = unsigned long long;

[[noreturn]] void fail(const char *what)
{
	std::perror(what);
	std::exit(1);
}

int connect_to(const char *host, const char *port)
{
	addrinfo hints{}, *found;
	hints.ai_socktype = SOCK_STREAM;
	if (::getaddrinfo(host, port, &hints, &found) != 0)
		fail(host);
	const int socket = ::socket(found->ai_family, SOCK_STREAM, 0);
	for (int times = 0; ::connect(socket, found->ai_addr, found->ai_addrlen) < 0; ++times) {
		if (times == 100)
			fail("connect");
		std::this_thread::sleep_for(microseconds(50'000)); // it may be about to start
	}
	::freeaddrinfo(found);
	const int yes = 1;
	::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	return socket;
}

Request ask(int socket, Request number)
{
	if (::write(socket, &number, sizeof number) != sizeof number ||
	    ::read(socket, &number, sizeof number) != sizeof number)
		fail("the other side");
	return number;
}

// Answers each number that comes, of one client after the other.
template <typename Answer> void serve(const char *port, Answer answer)
{
	addrinfo hints{}, *found;
	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = AI_PASSIVE;
	if (::getaddrinfo(nullptr, port, &hints, &found) != 0)
		fail(port);
	const int listener = ::socket(found->ai_family, SOCK_STREAM, 0), yes = 1;
	::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (::bind(listener, found->ai_addr, found->ai_addrlen) < 0 || ::listen(listener, 1) < 0)
		fail(port);
	::freeaddrinfo(found);
	for (int client; (client = ::accept(listener, nullptr, nullptr)) >= 0; ::close(client)) {
		::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
		Request number;
		while (::read(client, &number, sizeof number) == sizeof number)
			if (answer(number), ::write(client, &number, sizeof number) != sizeof number)
				break;
	}
}

void database(const char *port)
{
	serve(port, [](Request number) {
		edc_data(db_received, 0, number);
		std::this_thread::sleep_for(microseconds(number % 10 == 7 ? 30'000 : 300));
		edc_data(db_answered, 0, number);
	});
}

void front_end(const char *port, const char *db, const char *db_port)
{
	const int socket = connect_to(db, db_port);
	serve(port, [&](Request number) {
		edc_data(web_received, 0, number);
		if (number % 15 == 4)
			std::this_thread::sleep_for(microseconds(5'000));
		edc_data(web_asks, 0, number);
		ask(socket, number);
		edc_data(web_answered, 0, number);
	});
}

} // namespace

int main(int count, char **words)
{
	const std::string role = count > 1 ? words[1] : "";
	if (role == "db" && count == 3) {
		database(words[2]);
	} else if (role == "web" && count == 5) {
		front_end(words[2], words[3], words[4]);
	} else if (role == "client" && count == 5) {
		const int socket = connect_to(words[2], words[3]);
		const Request requests = std::strtoull(words[4], nullptr, 10);
		for (Request number = 1; number <= requests; ++number)
			ask(socket, number);
		std::printf("%llu requests served\n", requests);
	} else {
		std::fprintf(stderr, "shop db PORT | shop web PORT DB PORT | shop client WEB PORT NUMBER\n");
		return 2;
	}
}
