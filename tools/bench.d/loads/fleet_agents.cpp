// SPDX-License-Identifier: MIT
// Many agents of a fleet in one process and one thread, for bench `fleet_scale`: each has a connection of its own to
// the hub, by TLS with its host's certificate, and does what a real one does: presence and a clock exchange each
// second, and each half of a second its blocks in a batch. What is sent again, and when, is said by the window of the
// real one (fleet/forward/send_window.h). Called by fleet_scale.py.
//
//   fleet_agents run PORT KEYS AGENTS SECONDS KIB_PER_S
//       KEYS/HOST as `monitor fleet init` made it, "-": no TLS; KIB_PER_S: a multiple of 8
//   fleet_agents snapshots PORT KEYS OPERATOR AGENTS ROUNDS
//       how long it takes until all have frozen their events (fleet_snapshots.h)
//   fleet_agents verify RUN AGENTS BLOCKS
//       is each block in RUN/HOST/user_cpu0 the one that was sent?
//
// Hosts are a00000, a00001, ... The messages are made and read by the project's own libraries. Prints one line of JSON.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/epoll.h>

#include "fleet/forward/send_window.h"
#include "fleet/wire/batch.h"
#include "fleet/wire/clock_message.h"
#include "fleet/wire/names.h"
#include "fleet/wire/reports.h"
#include "fleet_client.h"
#include "fleet_simulation.h"
#include "fleet_snapshots.h"
#include "monitor/ring.h"

namespace {

using namespace monitor;
using namespace monitor::fleet;

constexpr double drain_s = 60, tick_s = 0.5;

Uuid trace_of(unsigned number)
{
	Uuid uuid{};
	std::memcpy(uuid.data(), &number, sizeof number);
	uuid[15] = 0x5a;
	return uuid;
}

void fill(std::span<std::byte> to, unsigned agent, std::uint64_t sequence)
{
	edc_block header{};
	header.magic = EDC_BLOCK_MAGIC;
	const Uuid uuid = trace_of(agent);
	std::memcpy(header.uuid, uuid.data(), uuid.size());
	header.packet_seq_num = sequence;
	header.content_size = header.packet_size = EDC_BLOCK_SIZE * 8;
	std::memset(to.data(), static_cast<int>((agent * 7 + sequence) & 0xff), to.size());
	std::memcpy(to.data(), &header, sizeof header);
}

struct Totals {
	std::uint64_t recorded = 0, stored = 0, again = 0, nobody = 0, later = 0, refused = 0, conflicts = 0,
		      presences = 0, exchanges = 0;
	std::vector<float> answer_ms;
};

Totals totals;

class Agent {
public:
	Agent(int poller, unsigned number, std::uint16_t port, const std::string &keys)
	    : number_(number), name_(host_of(number)), inbox_(make_inbox(name_)),
	      data_subject_(stored_subject_of("data", name_)),
	      hub_(poller, number, port, keys == "-" ? keys : keys + '/' + name_, name_,
		   {"m.ctl.all", "m.ctl." + name_, inbox_ + ".b.*", inbox_ + ".c.*"},
		   [this](std::string_view subject, std::span<const std::byte> data, bool is_nobody) {
			   take(subject, data, is_nobody);
		   })
	{
	}

	void tick(unsigned blocks, bool is_whole_second)
	{
		if (is_whole_second) {
			say_hello();
			ask_clock();
		}
		recorded_ += blocks;
		totals.recorded += blocks;
		send_due();
	}

	// As fleet/forward/forwarding.cpp does.
	void send_due()
	{
		const auto now = std::chrono::steady_clock::now();
		for (unsigned count; next_ < recorded_; next_ += count) {
			count = static_cast<unsigned>(std::min<std::uint64_t>(recorded_ - next_, 64));
			if (!window_.has_room(count * block_bytes))
				break;
			window_.add(next_, count * block_bytes);
			sent_[next_] = {count, now_s()};
		}
		while (hub_.unsent_bytes() < max_unsent_bytes) {
			const auto due = window_.due(now);
			if (!due)
				break;
			send(*due);
			window_.sent(*due, now);
		}
		hub_.flush();
	}

	void receive()
	{
		hub_.receive();
		send_due();
	}

	std::uint64_t unstored() const { return recorded_ - stored_; }
	std::uint64_t sent_again() const { return window_.sent_again(); }
	std::uint64_t errors() const { return hub_.errors(); }

private:
	// A socket of a real agent takes about so much, and then it waits.
	static constexpr std::size_t max_unsent_bytes = 1 << 20;

	struct Sent {
		unsigned count = 0;
		double first = 0;
	};

	void say_hello()
	{
		Presence presence;
		presence.session = "0123456789abcdef";
		presence.unsent_blocks = unstored();
		hub_.publish(subject_of("hello", name_), presence_text(presence));
		++totals.presences;
	}

	void send(std::uint64_t first)
	{
		const Sent &sent = sent_.at(first);
		static std::vector<std::byte> message;
		const Batch batch{session_, {"scale", trace_of(number_), ""}, "user_cpu0", first, {}};
		const auto blocks = encode_batch(batch, sent.count * block_bytes, message);
		for (unsigned i = 0; i < sent.count; ++i)
			fill(blocks.subspan(i * block_bytes, block_bytes), number_, first + i);
		hub_.publish(data_subject_, inbox_ + ".b." + std::to_string(first), message);
	}

	void ask_clock()
	{
		ClockQuestion question{{false, 1'000'000'000, trace_of(number_)}, now_ns(), last_.t4 != 0, last_};
		hub_.publish(subject_of("clock", name_), inbox_ + ".c.0", encode_clock_question(question));
	}

	void take(std::string_view subject, std::span<const std::byte> data, bool is_nobody)
	{
		if (subject.starts_with(inbox_ + ".c."))
			return is_nobody ? void() : take_clock(data);
		if (!subject.starts_with(inbox_ + ".b."))
			return;
		const std::string number(subject.substr(inbox_.size() + 3));
		const std::uint64_t first = std::strtoull(number.c_str(), nullptr, 10);
		const auto now = std::chrono::steady_clock::now();
		if (is_nobody) {
			totals.nobody += window_.refused(first, now);
			return;
		}
		Answer answer;
		std::string why;
		if (!decode_answer(data, answer, why))
			throw std::runtime_error(name_ + ": " + why);
		if (instance_ != 0 && answer.instance != instance_)
			window_.reconnected();
		instance_ = answer.instance;
		if (answer.status == Status::later)
			totals.later += window_.refused(first, now);
		else
			take_stored(first, answer);
	}

	void take_stored(std::uint64_t first, const Answer &answer)
	{
		if (!window_.remove(first, std::chrono::steady_clock::now()))
			return;
		const auto found = sent_.find(first);
		stored_ += found->second.count;
		totals.answer_ms.push_back(static_cast<float>((now_s() - found->second.first) * 1e3));
		if (answer.status == Status::stored) {
			totals.stored += found->second.count;
			totals.conflicts += answer.conflicts;
		} else if (++totals.refused < 10) {
			std::fprintf(stderr, "%s: %s\n", name_.c_str(), answer.why.c_str());
		}
		sent_.erase(found);
	}

	void take_clock(std::span<const std::byte> bytes)
	{
		ClockAnswer answer;
		std::string why;
		if (!decode_clock_answer(bytes, answer, why))
			return;
		last_ = {answer.t1, answer.t2, answer.t3, now_ns()};
		++totals.exchanges;
	}

	const unsigned number_;
	const std::string name_, inbox_, data_subject_;
	HubClient hub_;
	SendWindow window_;
	std::map<std::uint64_t, Sent> sent_; // what is in the window, by the first block
	std::uint64_t session_ = 1, recorded_ = 0, next_ = 0, stored_ = 0, instance_ = 0;
	ClockTimes last_;
};

void poll_agents(int poller, std::deque<Agent> &agents, int patience_ms)
{
	epoll_event events[256];
	const int n = ::epoll_wait(poller, events, 256, patience_ms);
	for (int i = 0; i < n; ++i)
		agents[events[i].data.u32].receive();
}

std::uint64_t sum_of(const std::deque<Agent> &agents, std::uint64_t (Agent::*figure)() const)
{
	std::uint64_t sum = 0;
	for (const Agent &agent : agents)
		sum += (agent.*figure)();
	return sum;
}

float percentile(std::vector<float> &values, double part)
{
	if (values.empty())
		return 0;
	std::ranges::sort(values);
	return values[std::min(values.size() - 1, static_cast<std::size_t>(part * static_cast<double>(values.size())))];
}

int run(std::uint16_t port, const std::string &keys, unsigned count, double seconds, unsigned kib)
{
	const rlim_t files = raise_file_limit();
	const int poller = ::epoll_create1(EPOLL_CLOEXEC);
	std::deque<Agent> agents;
	const double start = now_s();
	for (unsigned i = 0; i < count; ++i) {
		agents.emplace_back(poller, i, port, keys);
		if (i % 16 == 0)
			poll_agents(poller, agents, 0);
	}
	const double connected = now_s();
	std::printf("{\"connected\": %u}\n", count);
	std::fflush(stdout);
	const double cpu_before = cpu_s(), begin = now_s();
	std::uint64_t ticks = 0;
	double looked = begin;
	while (now_s() - begin < seconds || (sum_of(agents, &Agent::unstored) && now_s() - begin < seconds + drain_s)) {
		const double now = now_s();
		// Agents take turns, so that their seconds do not begin at once.
		const auto due = static_cast<std::uint64_t>(std::min(now - begin, seconds) / tick_s * count);
		for (; ticks < due; ++ticks)
			agents[ticks % count].tick(kib / 8, ticks / count % 2 == 0);
		if (now - looked > 0.1) {
			looked = now;
			for (Agent &agent : agents)
				agent.send_due();
		}
		poll_agents(poller, agents, 2);
	}
	const double took = now_s() - begin;
	const float median = percentile(totals.answer_ms, 0.5), late = percentile(totals.answer_ms, 0.99),
		    latest = percentile(totals.answer_ms, 1);
	totals.again = sum_of(agents, &Agent::sent_again);
	const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
	std::printf("{\"agents\": %u, \"connect_s\": %.2f, \"seconds\": %.2f, \"recorded\": %llu, \"stored\": %llu, "
		    "\"again\": %llu, \"nobody\": %llu, \"later\": %llu, \"refused\": %llu, \"conflicts\": %llu, "
		    "\"presences\": %llu, \"exchanges\": %llu, \"errors\": %llu, \"unstored\": %llu, "
		    "\"answer_ms\": [%.1f, %.1f, %.1f], \"cpu_s\": %.2f, \"files\": %llu}\n",
		    count, connected - start, took, number(totals.recorded), number(totals.stored),
		    number(totals.again), number(totals.nobody), number(totals.later), number(totals.refused),
		    number(totals.conflicts), number(totals.presences), number(totals.exchanges),
		    number(sum_of(agents, &Agent::errors)), number(sum_of(agents, &Agent::unstored)), median, late,
		    latest, cpu_s() - cpu_before, number(files));
	return 0;
}

int verify(const std::string &run, unsigned count, std::uint64_t blocks)
{
	std::uint64_t different = 0, found = 0;
	std::vector<char> there(block_bytes), wanted(block_bytes);
	for (unsigned agent = 0; agent < count; ++agent) {
		std::ifstream file(run + '/' + host_of(agent) + "/user_cpu0", std::ios::binary);
		for (std::uint64_t sequence = 0; file.read(there.data(), block_bytes); ++sequence) {
			fill(std::as_writable_bytes(std::span(wanted)), agent, sequence);
			different += there != wanted;
			++found;
		}
	}
	std::printf("{\"found\": %llu, \"different\": %llu}\n", static_cast<unsigned long long>(found),
		    static_cast<unsigned long long>(different));
	return found == blocks && different == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
try {
	const std::string what = argc > 1 ? argv[1] : "";
	const auto number = [&](int i) { return std::strtoul(argv[i], nullptr, 10); };
	if (what == "run" && argc == 7)
		return run(static_cast<std::uint16_t>(number(2)), argv[3], static_cast<unsigned>(number(4)),
			   std::strtod(argv[5], nullptr), static_cast<unsigned>(number(6)));
	if (what == "snapshots" && argc == 7)
		return run_snapshots(static_cast<std::uint16_t>(number(2)), argv[3], argv[4],
				     static_cast<unsigned>(number(5)), static_cast<unsigned>(number(6)));
	if (what == "verify" && argc == 5)
		return verify(argv[2], static_cast<unsigned>(number(3)), number(4));
	std::fprintf(
	    stderr,
	    "fleet_agents run PORT KEYS AGENTS SECONDS KIB_PER_S | snapshots PORT KEYS OPERATOR AGENTS ROUNDS | "
	    "verify RUN AGENTS BLOCKS\n");
	return 2;
} catch (const std::exception &error) {
	std::fprintf(stderr, "fleet_agents: %s\n", error.what());
	return 1;
}
