// SPDX-License-Identifier: MIT
#include "clock_relays.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/encoding.h"
#include "base/error.h"
#include "base/fd.h"
#include "fleet/wire/names.h"

namespace monitor::fleet {
namespace {

using namespace std::chrono_literals;

constexpr auto max_silence = 3s; // a host without a question for this long has left
constexpr std::uint64_t first_relays = 10;
constexpr auto first_relay_interval = 100ms, relay_interval = 1000ms;

} // namespace

ClockRelays::ClockRelays(const std::string &run_directory)
    : directory_(run_directory + "/.monitor/clock_loops"), last_number_(std::stoull(random_hex(64), nullptr, 16) >> 1)
{
	if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST)
		throw Error(errno, "cannot create " + directory_);
}

bool ClockRelays::may_relay(Clock::time_point now)
{
	if (now - second_start_ >= 1s) {
		second_start_ = now;
		relays_in_second_ = 0;
	}
	return relays_in_second_ < max_relays_per_second;
}

std::map<std::string, ClockRelays::Host>::value_type *ClockRelays::peer_of(const std::string &host, bool is_next,
									   Clock::time_point now)
{
	constexpr int max_passed = 16; // limit of hosts that are skipped, as they have left
	auto at = hosts_.find(host);
	for (int i = 0; i < max_passed; ++i) {
		if (is_next)
			at = std::next(at) == hosts_.end() ? hosts_.begin() : std::next(at);
		else
			at = std::prev(at == hosts_.begin() ? hosts_.end() : at);
		if (at->first == host)
			return nullptr;
		const Host &peer = at->second;
		if (now - peer.asked_at >= max_silence)
			continue;
		const auto gap = peer.received < first_relays ? first_relay_interval : relay_interval;
		return now - peer.relayed_at >= gap ? &*at : nullptr;
	}
	return nullptr;
}

std::optional<ClockRelays::Relay> ClockRelays::question(const std::string &host, const ClockQuestion &question,
							const std::string &reply, Clock::time_point now)
{
	Host &asker = hosts_[host];
	asker.reply = reply;
	asker.asked_at = now;
	auto *const peer = peer_of(host, ++asker.questions % 2 == 0, now);
	if (!peer || !may_relay(now))
		return std::nullopt;
	++relays_in_second_;
	peer->second.relayed_at = now;
	peer->second.outstanding = {++last_number_, host, question.clock.boot, question.t1};
	return Relay{peer->first, peer->second.reply, encode_clock_relay(last_number_)};
}

bool ClockRelays::receipt(const std::string &host, const ClockReceipt &untrusted)
{
	const auto found = hosts_.find(host);
	if (found == hosts_.end() || untrusted.number == 0 || found->second.outstanding.number != untrusted.number)
		return false;
	Host &receiver = found->second;
	const Host::Outstanding outstanding = std::exchange(receiver.outstanding, {});
	++receiver.received;
	const std::string path = directory_ + '/' + host;
	const Fd file = open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
	std::string text;
	struct stat status {};
	if (::fstat(file.get(), &status) != 0 || status.st_size >= max_bytes)
		return true;
	if (status.st_size == 0)
		text = "monitor-clock-loop 1\n";
	text += fmt::format("{} {} {} {} {}\n", outstanding.from, uuid_text(outstanding.from_boot), outstanding.sent,
			    uuid_text(untrusted.clock.boot), untrusted.received);
	write_all(file.get(), std::as_bytes(std::span(text)), path);
	return true;
}

} // namespace monitor::fleet
