// SPDX-License-Identifier: MIT
// A small multi-threaded server that posts events. Documentation/tutorial-user-card.md walks through it.
//
//   server REQUESTS    a client thread sends this many requests to 3 workers, one socket pair each
//
// Each request is parsed, looked up under a lock, and answered. The lock is the point: watch what waits for it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include <monitor/edc.h>

// Events at one point in time: the argument is the worker, the payload what a reader needs to know.
EDC_EVENT(request_done, "arg: u16 worker; u64 number; token result {found = 0, missing = 1}; u64 bytes (B)");
// Activities, which take time.
EDC_ACTIVITY(request, "arg: u16 worker");
EDC_ACTIVITY(parse, "arg: u16 worker");
EDC_ACTIVITY(lookup, "arg: u16 worker");

namespace {

std::mutex table_lock;

// Simulates a lookup in a slow table: a third of a millisecond under the lock.
bool find(unsigned long key)
{
	const std::lock_guard guard(table_lock);
	std::this_thread::sleep_for(std::chrono::microseconds(300));
	return key % 10 != 0;
}

unsigned long parsed(const char *text)
{
	unsigned long key = 0;
	for (int i = 0; i < 2000; ++i) // a slow parser
		key = key * 31 + std::strtoul(text, nullptr, 10);
	return key;
}

void work(int socket, std::uint16_t worker)
{
	char text[32];
	for (ssize_t size; (size = ::read(socket, text, sizeof text - 1)) > 0;) {
		const edc::scope whole{request, worker};
		text[size] = 0;
		unsigned long key = 0;
		{
			const edc::scope part{parse, worker};
			key = parsed(text);
		}
		bool found = false;
		{
			const edc::scope part{lookup, worker};
			found = find(key);
		}
		const std::string answer(found ? 200 : 20, 'x');
		if (::write(socket, answer.data(), answer.size()) < 0)
			return;
		edc_data(request_done, worker, std::strtoul(text, nullptr, 10), found ? 0 : 1, answer.size());
	}
}

} // namespace

int main(int count, char **arguments)
{
	const long requests = count > 1 ? std::strtol(arguments[1], nullptr, 10) : 300;
	constexpr int workers = 3;
	std::vector<std::thread> all;
	std::vector<int> ends;
	for (int i = 0; i < workers; ++i) {
		int pair[2];
		if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
			return 1;
		ends.push_back(pair[0]);
		all.emplace_back([socket = pair[1], i] {
			work(socket, static_cast<std::uint16_t>(i));
			::close(socket);
		});
	}
	char answer[256];
	for (long n = 0; n < requests; n += workers) {
		for (int i = 0; i < workers; ++i) {
			const std::string text = std::to_string(n + i);
			if (::write(ends[static_cast<std::size_t>(i)], text.data(), text.size()) < 0)
				return 1;
		}
		for (int end : ends)
			if (::read(end, answer, sizeof answer) < 0)
				return 1;
	}
	for (int end : ends)
		::close(end);
	for (std::thread &thread : all)
		thread.join();
	std::printf("%ld requests served\n", requests);
}
