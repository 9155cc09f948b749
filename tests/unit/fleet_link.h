// SPDX-License-Identifier: MIT
// A link between a trace directory and a collector that loses, doubles and reorders, and traces to send over it. For
// the tests of fleet/forward.
#pragma once

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <random>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "fleet/collector/collector.h"
#include "fleet/forward/forwarding.h"
#include "fleet_blocks.h"

namespace fleet_test {

using namespace monitor;
using namespace monitor::fleet;
namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

class FleetDirectory {
public:
	FleetDirectory()
	{
		std::string name =
		    ::access("/dev/shm", W_OK) == 0 ? "/dev/shm/fleet-test-XXXXXX" : "/tmp/fleet-test-XXXXXX";
		REQUIRE(::mkdtemp(name.data()));
		path_ = name;
	}
	~FleetDirectory() { fs::remove_all(path_); }
	const std::string &path() const { return path_; }

private:
	std::string path_;
};

// A collector at the end of a bad line.
class BadLink : public Forwarder {
public:
	BadLink(unsigned seed, double loss) : random_(seed), loss_(loss) {}

	void open(const std::string &path, const std::string &run = "")
	{
		collector_ = std::make_unique<Collector>(
		    path, run,
		    [this](const std::string &reply, const Answer &answer) {
			    const std::lock_guard lock(mutex_);
			    answers_.emplace_back(std::stoull(reply), answer);
			    came_.notify_all();
		    },
		    [](const std::string &) {});
	}
	void close() { collector_.reset(); }
	void break_off() { is_new_ = true; }
	Collector &collector() { return *collector_; }

	bool send(MessageKind kind, std::uint64_t number, std::span<const std::byte> message) override
	{
		++sent;
		if (drops_batches && kind == MessageKind::batch)
			return true;
		if (chance() < loss_) {
			is_new_ |= chance() < 0.9; // what was lost was lost with a connection
			++lost;
			return true;
		}
		if (!collector_) {
			nobody_.push_back(number);
			return true;
		}
		if (chance() < loss_)
			deliver(kind, number, message); // twice
		deliver(kind, number, message);
		if (also) {
			also->deliver(kind, number, message);
			take_of_other();
		}
		return true;
	}

	Received receive_until(Steady::time_point time) override
	{
		take_of_other();
		std::unique_lock lock(mutex_);
		came_.wait_until(lock, time, [&] { return !answers_.empty() || is_new_ || !nobody_.empty(); });
		Received received;
		std::shuffle(answers_.begin(), answers_.end(), random_);
		for (auto &answer : answers_)
			if (std::uniform_real_distribution(0.0, 1.0)(random_) >= loss_)
				received.answers.push_back(std::move(answer));
			else
				is_new_ = true; // lost with a connection
		answers_.clear();
		received.no_subscriber = std::exchange(nobody_, {});
		received.is_new_connection = std::exchange(is_new_, false);
		return received;
	}
	bool is_connected() const override { return true; }
	void wake() override {}

	unsigned sent = 0, lost = 0;
	bool drops_batches = false;
	BadLink *also = nullptr; // another collector on the same line

private:
	void take_of_other()
	{
		if (!also)
			return;
		const std::lock_guard lock(also->mutex_), lock_here(mutex_);
		std::ranges::move(std::exchange(also->answers_, {}), std::back_inserter(answers_));
	}
	double chance() { return std::uniform_real_distribution(0.0, 1.0)(random_); }
	void deliver(MessageKind kind, std::uint64_t number, std::span<const std::byte> message)
	{
		if (kind == MessageKind::batch)
			collector_->batch("h", message, std::to_string(number));
		else
			collector_->piece("h", message, std::to_string(number));
	}

	std::mt19937 random_;
	double loss_;
	std::mutex mutex_;
	std::condition_variable came_;
	std::deque<std::pair<std::uint64_t, Answer>> answers_;
	std::vector<std::uint64_t> nobody_;
	bool is_new_ = false;
	std::unique_ptr<Collector> collector_;
};

inline void write_text(const std::string &path, const std::string &text)
{
	replace_file(path, text, 0600);
}

inline void append_blocks(const std::string &path, const Uuid &uuid, std::uint64_t first, unsigned count,
			  unsigned content = 0)
{
	const Fd file = open_file(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	std::vector<std::byte> block(block_bytes);
	for (unsigned i = 0; i < count; ++i) {
		fleet_test::fill_block(block, uuid, 1, first + i, content);
		write_all(file.get(), block, path);
	}
}

inline std::string recording_text(const Uuid &uuid, const char *state)
{
	return std::string("{\"state\": \"") + state + "\", \"uuid\": \"" + uuid_digits(uuid) + "\"}";
}

inline void make_trace(const std::string &path, const Uuid &uuid, const char *state, unsigned blocks)
{
	fs::create_directories(path + "/.monitor");
	write_text(path + "/metadata", std::string(700'000, 'm'));
	write_text(path + "/.monitor/names", "{}");
	write_text(path + "/.monitor/recording.json", recording_text(uuid, state));
	append_blocks(path + "/kernel_cpu0", uuid, 0, blocks);
	append_blocks(path + "/kernel_cpu1", uuid, 0, blocks / 3 + 1);
}

// Every file of the one is in the other, and no more.
inline bool is_same_trace(const std::string &one, const std::string &other)
{
	unsigned files = 0, copies = 0;
	for (const fs::directory_entry &entry : fs::recursive_directory_iterator(one)) {
		if (!entry.is_regular_file())
			continue;
		++files;
		const fs::path copy = fs::path(other) / entry.path().lexically_relative(one);
		if (!fs::exists(copy) || read_file(entry.path(), 1 << 28) != read_file(copy, 1 << 28))
			return false;
	}
	for (const fs::directory_entry &entry : fs::recursive_directory_iterator(other))
		copies += entry.is_regular_file();
	return files == copies && files > 0;
}

inline bool forward_all(Forwarding &forwarding, std::chrono::seconds limit = std::chrono::seconds(20))
{
	const Steady::time_point end = Steady::now() + limit;
	while (!forwarding.is_complete() && Steady::now() < end)
		forwarding.step(Steady::now() + std::chrono::milliseconds(20));
	return forwarding.is_complete();
}

} // namespace fleet_test
