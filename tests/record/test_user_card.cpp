// SPDX-License-Identifier: MIT
// The user card's thread answers programs whatever becomes of one of them, or of memory.
#include <cstring>
#include <memory>
#include <string>

#include <catch2/catch.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "faults.h"
#include "recording/user_card/user_card.h"

namespace test_user_card {

using monitor::Fd;
using monitor::card::UserCard;

namespace {

constexpr unsigned cpus = 2;

monitor::card::UserCardOptions options()
{
	monitor::card::UserCardOptions options;
	options.cpus = cpus;
	options.user = ::getuid();
	options.memory = {1 << 28, 1 << 16};
	return options;
}

// Asks for rings and for the id of one class; true if it got them, false if it was sent away.
bool gets_rings(const std::string &socket_name, const std::string &class_name)
{
	const Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	socket_name.copy(address.sun_path + 1, sizeof address.sun_path - 2);
	const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + socket_name.size());
	REQUIRE(::connect(fd.get(), reinterpret_cast<sockaddr *>(&address), length) == 0);
	const std::string texts = class_name + std::string("\0arg: value\0", 12);
	char packet[256];
	const edc_hello hello{EDC_USER_MAGIC, EDC_HELLO_AREA, 1, static_cast<std::uint32_t>(texts.size())};
	std::memcpy(packet, &hello, sizeof hello);
	std::memcpy(packet + sizeof hello, texts.data(), texts.size());
	const auto size = static_cast<ssize_t>(sizeof hello + texts.size());
	REQUIRE(::send(fd.get(), packet, static_cast<std::size_t>(size), MSG_NOSIGNAL) == size);
	pollfd answer{fd.get(), POLLIN, 0};
	REQUIRE(::poll(&answer, 1, 10'000) == 1);
	edc_welcome welcome{};
	return ::recv(fd.get(), &welcome, sizeof welcome, 0) >= static_cast<ssize_t>(sizeof welcome) &&
	       welcome.rings == cpus;
}

} // namespace

TEST_CASE("user card: where memory ends while a program is answered, that one is sent away and the next is answered")
{
	long sent_away = 0, number = 0;
	std::uint64_t refused = 0;
	for (bool failed = true; failed;) {
		const auto card = std::make_unique<UserCard>(options()); // one process gets few areas of one
		card->start(1'000'000'000, 1024, [](const auto &) {});
		const std::string name = "class" + std::to_string(number);
		faults::fail_allocation_of_others(number++);
		const bool got_them = gets_rings(card->socket_name(), name);
		failed = faults::allocation_failed();
		faults::fail_allocation(-1);
		sent_away += !got_them;
		REQUIRE(gets_rings(card->socket_name(), "another"));
		refused += card->counts().refused;
		card->stop();
	}
	CHECK(sent_away > 3);
	CHECK(refused >= static_cast<std::uint64_t>(sent_away) / 2);
}

} // namespace test_user_card
