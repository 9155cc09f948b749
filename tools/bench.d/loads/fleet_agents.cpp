// SPDX-License-Identifier: MIT
// Many agents of a fleet in one process and one thread, for bench `fleet_scale`: each has a connection of its own to
// the hub, by TLS with its host's certificate, and does what a real one does: presence and a clock exchange each
// second, and each half of a second its blocks in a batch, which is sent again when nobody receives it or no answer
// comes. Called by fleet_scale.py.
//
//   fleet_agents run PORT KEYS AGENTS SECONDS KIB_PER_S
//       KEYS/HOST as `monitor fleet init` made it, "-": no TLS; KIB_PER_S: a multiple of 8
//   fleet_agents verify RUN AGENTS BLOCKS
//       is each block in RUN/HOST/user_cpu0 the one that was sent?
//
// Hosts are a00000, a00001, ... libnats has threads for each connection, so this speaks the protocol of NATS itself;
// the messages are made and read by the project's own library. Prints one line of JSON.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/fleet/batch.h"
#include "base/fleet/clock_message.h"
#include "base/fleet/names.h"
#include "base/fleet/reports.h"
#include "monitor/ring.h"

namespace {

using namespace monitor::fleet;

constexpr double answer_timeout_s = 60, drain_s = 60, tick_s = 0.5;

double now_s()
{
	timespec time;
	::clock_gettime(CLOCK_MONOTONIC, &time);
	return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::uint64_t now_ns()
{
	timespec time;
	::clock_gettime(CLOCK_MONOTONIC, &time);
	return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

double cpu_s()
{
	rusage usage;
	::getrusage(RUSAGE_SELF, &usage);
	const auto seconds = [](const timeval &time) {
		return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
	};
	return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string host_of(unsigned number)
{
	char name[16];
	std::snprintf(name, sizeof name, "a%05u", number);
	return name;
}

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
	std::uint64_t sent = 0, stored = 0, again = 0, nobody = 0, later = 0, refused = 0, conflicts = 0, presences = 0,
		      exchanges = 0, errors = 0;
	std::vector<float> answer_ms;
};

Totals totals;
int poller;

class Agent {
public:
	Agent(unsigned number, std::uint16_t port, SSL_CTX *tls)
	    : number_(number), name_(host_of(number)), inbox_(make_inbox(name_))
	{
		fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		sockaddr_in address{};
		address.sin_family = AF_INET;
		address.sin_port = htons(port);
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		if (fd_ < 0 || ::connect(fd_, reinterpret_cast<sockaddr *>(&address), sizeof address) < 0)
			throw std::runtime_error(std::string("cannot connect: ") + std::strerror(errno));
		const int one = 1;
		::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		read_info();
		if (tls) {
			ssl_.reset(SSL_new(tls));
			SSL_set_fd(ssl_.get(), fd_);
			if (SSL_connect(ssl_.get()) != 1)
				throw std::runtime_error(name_ + ": no TLS connection");
			SSL_set_mode(ssl_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
		}
		::fcntl(fd_, F_SETFL, O_NONBLOCK);
		out_ = "CONNECT "
		       "{\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true,\"name\":\"" +
		       name_ + "\"}\r\nSUB m.ctl.all 1\r\nSUB m.ctl." + name_ + " 2\r\nSUB " + inbox_ +
		       ".b.* 3\r\nSUB " + inbox_ + ".c.* 4\r\n";
		epoll_event event{};
		event.events = EPOLLIN;
		event.data.u32 = number;
		::epoll_ctl(poller, EPOLL_CTL_ADD, fd_, &event);
		flush();
	}

	void tick(unsigned blocks, bool is_whole_second)
	{
		if (is_whole_second) {
			say_hello();
			ask_clock();
		}
		for (unsigned left = blocks; left;) {
			const unsigned count = std::min(left, 64u);
			waiting_[next_] = {count, 0};
			send(next_);
			next_ += count;
			left -= count;
			totals.sent += count;
		}
		flush();
	}

	void send_late(double now)
	{
		for (auto &[first, batch] : waiting_)
			if (now - batch.sent > answer_timeout_s || (batch.again && now > batch.again)) {
				++totals.again;
				send(first);
			}
		flush();
	}

	void receive()
	{
		char buffer[65536];
		for (;;) {
			const auto n =
			    ssl_ ? SSL_read(ssl_.get(), buffer, sizeof buffer) : ::recv(fd_, buffer, sizeof buffer, 0);
			if (n <= 0)
				break;
			in_.append(buffer, static_cast<std::size_t>(n));
		}
		take();
		flush();
	}

	void flush()
	{
		std::size_t done = 0;
		while (done < out_.size()) {
			const auto n =
			    ssl_ ? SSL_write(ssl_.get(), out_.data() + done, static_cast<int>(out_.size() - done))
				 : ::send(fd_, out_.data() + done, out_.size() - done, MSG_NOSIGNAL);
			if (n <= 0)
				break;
			done += static_cast<std::size_t>(n);
		}
		out_.erase(0, done);
		const bool wants = !out_.empty();
		if (wants != wants_write_) {
			wants_write_ = wants;
			epoll_event event{};
			event.events = wants ? EPOLLIN | EPOLLOUT : EPOLLIN;
			event.data.u32 = number_;
			::epoll_ctl(poller, EPOLL_CTL_MOD, fd_, &event);
		}
	}

	std::size_t waiting() const { return waiting_.size(); }

private:
	struct Sent {
		unsigned count = 0;
		double sent = 0, again = 0; // again: not before, 0: not yet
	};
	struct FreeSsl {
		void operator()(SSL *ssl) const { SSL_free(ssl); }
	};

	void read_info()
	{
		char c = 0;
		while (c != '\n')
			if (::recv(fd_, &c, 1, 0) != 1)
				throw std::runtime_error("the server says nothing");
	}

	void say_hello()
	{
		Presence presence;
		presence.session = "0123456789abcdef";
		presence.unsent_blocks = waiting_.size();
		const std::string text = presence_text(presence);
		publish(subject_of("hello", name_), "", std::as_bytes(std::span(text)));
		++totals.presences;
	}

	void publish(const std::string &subject, const std::string &reply, std::span<const std::byte> data)
	{
		out_ +=
		    "PUB " + subject + ' ' + (reply.empty() ? "" : reply + ' ') + std::to_string(data.size()) + "\r\n";
		out_.append(reinterpret_cast<const char *>(data.data()), data.size());
		out_ += "\r\n";
	}

	void send(std::uint64_t first)
	{
		Sent &sent = waiting_.at(first);
		sent.sent = now_s();
		sent.again = 0;
		static std::vector<std::byte> message;
		const Batch batch{session_, {"scale", trace_of(number_), ""}, "user_cpu0", first, {}};
		const auto blocks = encode_batch(batch, sent.count * block_bytes, message);
		for (unsigned i = 0; i < sent.count; ++i)
			fill(blocks.subspan(i * block_bytes, block_bytes), number_, first + i);
		publish(stored_subject_of("data", name_), inbox_ + ".b." + std::to_string(first), message);
	}

	void ask_clock()
	{
		ClockQuestion question{{false, 1'000'000'000, trace_of(number_)}, now_ns(), last_.t4 != 0, last_};
		const auto bytes = encode_clock_question(question);
		publish(subject_of("clock", name_), inbox_ + ".c.0", bytes);
	}

	void take()
	{
		std::size_t at = 0;
		for (;;) {
			const std::size_t end = in_.find("\r\n", at);
			if (end == std::string::npos)
				break;
			const std::string line = in_.substr(at, end - at);
			std::size_t size = 0;
			if (line.starts_with("MSG ") || line.starts_with("HMSG ")) {
				size = std::strtoul(line.c_str() + line.rfind(' ') + 1, nullptr, 10) + 2;
				if (in_.size() < end + 2 + size)
					break;
				take_message(line, std::string_view(in_).substr(end + 2, size - 2));
			} else if (line == "PING") {
				out_ += "PONG\r\n";
			} else if (line.starts_with("-ERR")) {
				if (++totals.errors < 10)
					std::fprintf(stderr, "%s: %s\n", name_.c_str(), line.c_str());
			}
			at = end + 2 + size;
		}
		in_.erase(0, at);
	}

	void take_message(const std::string &line, std::string_view data)
	{
		const std::size_t space = line.find(' ') + 1;
		const std::string subject = line.substr(space, line.find(' ', space) - space);
		const bool is_clock = subject.starts_with(inbox_ + ".c.");
		if (!is_clock && !subject.starts_with(inbox_ + ".b."))
			return;
		const bool is_nobody = line.starts_with("HMSG ");
		const auto bytes = std::as_bytes(std::span(data));
		if (is_clock)
			return is_nobody ? void() : take_clock(bytes);
		const auto found = waiting_.find(std::strtoull(subject.c_str() + inbox_.size() + 3, nullptr, 10));
		if (found == waiting_.end())
			return;
		Answer answer;
		std::string why;
		if (is_nobody) {
			++totals.nobody;
			found->second.again = now_s() + 1;
		} else if (decode_answer(bytes, answer, why) && answer.status == Status::stored) {
			totals.stored += found->second.count;
			totals.conflicts += answer.conflicts;
			totals.answer_ms.push_back(static_cast<float>((now_s() - found->second.sent) * 1e3));
			waiting_.erase(found);
		} else if (answer.status == Status::later) {
			++totals.later;
			found->second.again = now_s() + 1;
		} else {
			++totals.refused;
			std::fprintf(stderr, "%s: %s%s\n", name_.c_str(), why.c_str(), answer.why.c_str());
			waiting_.erase(found);
		}
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

	unsigned number_;
	std::string name_, inbox_, in_, out_;
	int fd_ = -1;
	std::unique_ptr<SSL, FreeSsl> ssl_;
	bool wants_write_ = false;
	std::uint64_t session_ = 1, next_ = 0;
	std::map<std::uint64_t, Sent> waiting_; // by first block
	ClockTimes last_;
};

SSL_CTX *tls_of(const std::string &keys)
{
	SSL_CTX *const tls = SSL_CTX_new(TLS_client_method());
	if (!tls || SSL_CTX_load_verify_locations(tls, (keys + "/ca.pem").c_str(), nullptr) != 1 ||
	    SSL_CTX_use_certificate_chain_file(tls, (keys + "/me.pem").c_str()) != 1 ||
	    SSL_CTX_use_PrivateKey_file(tls, (keys + "/me.key").c_str(), SSL_FILETYPE_PEM) != 1)
		throw std::runtime_error("no keys in " + keys);
	SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, nullptr);
	return tls;
}

void poll_agents(std::deque<Agent> &agents, int patience_ms)
{
	epoll_event events[256];
	const int n = ::epoll_wait(poller, events, 256, patience_ms);
	for (int i = 0; i < n; ++i)
		agents[events[i].data.u32].receive();
}

std::size_t waiting_of(const std::deque<Agent> &agents)
{
	std::size_t waiting = 0;
	for (const Agent &agent : agents)
		waiting += agent.waiting();
	return waiting;
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
	rlimit files;
	::getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	::setrlimit(RLIMIT_NOFILE, &files);
	poller = ::epoll_create1(EPOLL_CLOEXEC);
	std::deque<Agent> agents;
	const double start = now_s();
	for (unsigned i = 0; i < count; ++i) {
		SSL_CTX *const tls = keys == "-" ? nullptr : tls_of(keys + '/' + host_of(i));
		agents.emplace_back(i, port, tls);
		SSL_CTX_free(tls);
		if (i % 16 == 0)
			poll_agents(agents, 0);
	}
	const double connected = now_s();
	std::printf("{\"connected\": %u}\n", count);
	std::fflush(stdout);
	const double cpu_before = cpu_s(), begin = now_s();
	std::uint64_t ticks = 0;
	double looked = begin;
	while (now_s() - begin < seconds || (waiting_of(agents) && now_s() - begin < seconds + drain_s)) {
		const double now = now_s();
		// Agents take turns, so that their seconds do not begin at once.
		const auto due = static_cast<std::uint64_t>(std::min(now - begin, seconds) / tick_s * count);
		for (; ticks < due; ++ticks)
			agents[ticks % count].tick(kib / 8, ticks / count % 2 == 0);
		if (now - looked > 0.5) {
			looked = now;
			for (Agent &agent : agents)
				agent.send_late(now);
		}
		poll_agents(agents, 2);
	}
	const double took = now_s() - begin;
	const float median = percentile(totals.answer_ms, 0.5), late = percentile(totals.answer_ms, 0.99),
		    latest = percentile(totals.answer_ms, 1);
	const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
	std::printf(
	    "{\"agents\": %u, \"connect_s\": %.2f, \"seconds\": %.2f, \"sent\": %llu, \"stored\": %llu, \"again\": "
	    "%llu, \"nobody\": %llu, \"later\": %llu, \"refused\": %llu, \"conflicts\": %llu, \"presences\": %llu, "
	    "\"exchanges\": %llu, \"errors\": %llu, \"waiting\": %zu, \"answer_ms\": [%.1f, %.1f, %.1f], "
	    "\"cpu_s\": %.2f, \"files\": %llu}\n",
	    count, connected - start, took, number(totals.sent), number(totals.stored), number(totals.again),
	    number(totals.nobody), number(totals.later), number(totals.refused), number(totals.conflicts),
	    number(totals.presences), number(totals.exchanges), number(totals.errors), waiting_of(agents), median, late,
	    latest, cpu_s() - cpu_before, number(files.rlim_cur));
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
	if (what == "verify" && argc == 5)
		return verify(argv[2], static_cast<unsigned>(number(3)), number(4));
	std::fprintf(stderr, "fleet_agents run PORT KEYS AGENTS SECONDS KIB_PER_S | verify RUN AGENTS BLOCKS\n");
	return 2;
} catch (const std::exception &error) {
	std::fprintf(stderr, "fleet_agents: %s\n", error.what());
	return 1;
}
