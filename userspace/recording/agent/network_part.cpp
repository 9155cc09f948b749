// SPDX-License-Identifier: MIT
#include "network_part.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/fleet/names.h"
#include "link.h"

namespace monitor::agent {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_waiting_answers = 1000;
constexpr auto between_presences = 1s, patience_at_end = 2s;
constexpr unsigned presences_between_sizes = 5;
constexpr std::uint64_t status_block_bytes = 512;

// To the journal.
void say_of_network(const std::string &sentence)
{
	fmt::print(stderr, "monitor agent: {}\n", printable(sentence));
}

// What the traces take on the disk. A file that goes meanwhile has no size.
std::uint64_t bytes_of_tree(const std::string &directory)
{
	namespace fs = std::filesystem;
	std::uint64_t bytes = 0;
	std::error_code error;
	fs::recursive_directory_iterator file(directory, fs::directory_options::skip_permission_denied, error);
	for (; !error && file != fs::recursive_directory_iterator(); file.increment(error)) {
		struct stat status;
		if (::lstat(file->path().c_str(), &status) == 0)
			bytes += static_cast<std::uint64_t>(status.st_blocks) * status_block_bytes;
	}
	return bytes;
}

} // namespace

NetworkPart::NetworkPart(NetworkOptions options, Fd link)
    : options_(std::move(options)), link_(std::move(link)), presence_(options_.presence)
{
	presence_.session = fleet::random_hex(64);
	fleet::Connection::Events events;
	events.connected = [] { say_of_network("connected to the hub"); };
	events.lost = events.error = [](const std::string &why) { say_of_network(why); };
	connection_ = std::make_unique<fleet::Connection>(options_.connection, std::move(events));
	for (const std::string &subject : {fleet::subject_of("ctl", options_.host), fleet::subject_of("ctl", "all")})
		connection_->subscribe(subject, [this](const auto &message) { hand_over(message); });
}

// In a thread of libnats.
void NetworkPart::hand_over(const fleet::Connection::Message &untrusted_message)
{
	const std::size_t size = std::min(untrusted_message.data.size(), max_link_bytes);
	if (size > 0 && ::send(link_.get(), untrusted_message.data.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		++dropped_;
}

// False: the starter has closed the link.
bool NetworkPart::take_reports()
{
	std::string datagram(fleet::max_report_bytes + 1, '\0');
	for (;;) {
		const ssize_t n = ::recv(link_.get(), datagram.data(), datagram.size(), MSG_DONTWAIT);
		if (n == 0)
			return false;
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		const std::string text = datagram.substr(1, static_cast<std::size_t>(n) - 1);
		if (datagram[0] == link_answer && answers_.size() < max_waiting_answers) {
			answers_.push_back(text);
		} else if (const auto runs = fleet::parse_presence(text); datagram[0] == link_runs && runs) {
			presence_.runs = runs->runs;
			presence_.refused = runs->refused;
		}
	}
}

void NetworkPart::publish_answers()
{
	const std::string subject = fleet::subject_of("answer", options_.host);
	while (!answers_.empty()) {
		auto answer = fleet::parse_command_answer(answers_.front());
		if (answer) {
			answer->session = presence_.session;
			if (!connection_->publish(subject, fleet::command_answer_text(*answer)))
				return; // once it is connected again
		}
		answers_.pop_front();
	}
}

void NetworkPart::publish_presence()
{
	connection_->publish(fleet::subject_of("hello", options_.host), fleet::presence_text(presence_));
	if (const std::uint64_t dropped = dropped_; dropped != said_dropped_) {
		say_of_network(fmt::format("{} messages came faster than the starter takes them, and are dropped",
					   dropped - said_dropped_));
		said_dropped_ = dropped;
	}
}

int NetworkPart::run()
{
	auto next = std::chrono::steady_clock::now();
	for (unsigned count = 0;;) {
		const auto left = next - std::chrono::steady_clock::now();
		const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
		pollfd fds[] = {{link_.get(), POLLIN, 0}};
		::poll(fds, 1, static_cast<int>(std::max<decltype(ms)>(ms, 0)));
		if (!take_reports())
			break;
		publish_answers();
		if (std::chrono::steady_clock::now() < next)
			continue;
		if (count++ % presences_between_sizes == 0)
			presence_.spool_bytes = bytes_of_tree(options_.runs);
		publish_presence();
		next = std::max(next + between_presences, std::chrono::steady_clock::now());
	}
	end();
	return 0;
}

// What the starter said last is still published.
void NetworkPart::end()
{
	publish_answers();
	publish_presence();
	connection_->flush(patience_at_end);
	connection_.reset();
}

} // namespace monitor::agent
