// SPDX-License-Identifier: MIT
// How long it takes until all hosts of a fleet have frozen their events: simulated agents freeze at once when they are
// asked. Used by fleet_agents.cpp.
//
//     trigger    a host says m.fired.HOST; every other one parses it, freezes, and says m.froze.HOST
//                (fleet/agent/coordinated_snapshots.cpp); what a host may do because of it was signed before
//     command    the operator signs a command for all hosts, m.ctl.all; each verifies it as the privileged process
//     does, freezes
//                and answers (fleet/agent/privileged_process.cpp)
//
// A host's verification is a part of it, but here one CPU verifies for all hosts, which have one each. So what arrives
// is put aside until nothing more does, and then taken: `heard` is when the last one had the message, `frozen` when one
// thread has taken all of them, `verified` how long one verification took. A real host's nonce is on its disk before it
// obeys a command (fleet/agent/nonces.cpp), and its recorder is asked over a socket; neither is simulated.
// Invariant: a round ends when every host has frozen once, or throws.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "fleet/keys/fleet_keys.h"
#include "fleet/wire/control.h"
#include "fleet/wire/names.h"
#include "fleet/wire/reports.h"
#include "fleet/wire/snapshot_news.h"
#include "fleet_client.h"
#include "fleet_simulation.h"

class SnapshotFleet {
public:
	SnapshotFleet(std::uint16_t port, const std::string &keys, const std::string &operator_keys, unsigned count)
	    : key_(monitor::fleet::SigningKey::read(operator_keys + '/' + monitor::fleet::operator_key_file)),
	      public_key_(key_.public_key()), poller_(::epoll_create1(EPOLL_CLOEXEC))
	{
		for (unsigned i = 0; i < count; ++i) {
			hosts_.emplace_back(i);
			Host &host = hosts_.back();
			host.hub.emplace(
			    poller_, i, port, keys + '/' + host.name, host.name,
			    std::initializer_list<std::string>{"m.ctl.all", "m.ctl." + host.name, "m.fired.*"},
			    [&host](std::string_view subject, std::span<const std::byte> data, bool) {
				    host.heard_ns = now_ns();
				    host.subject = subject;
				    host.text.assign(reinterpret_cast<const char *>(data.data()), data.size());
			    });
			if (i % 16 == 0)
				poll(0);
		}
		operator_.emplace(poller_, count, port, operator_keys, "operator",
				  std::initializer_list<std::string>{"m.froze.*", "m.answer.*"},
				  [this](std::string_view, std::span<const std::byte>, bool) { ++told_; });
		for (const double end = now_s() + 1; now_s() < end;)
			poll(10);
	}

	// Milliseconds from the message until the last host has heard it, has frozen, and the operator knows of all;
	// and the median of the verifications in microseconds.
	struct Round {
		double heard_ms, frozen_ms, told_ms, verified_us;
	};

	Round fire(unsigned number)
	{
		Host &cause = hosts_[number % hosts_.size()];
		monitor::fleet::SnapshotNews news;
		news.run = "scale";
		news.number = number + 1;
		news.trigger = "slow";
		news.realtime_ns = news.time = news.frozen_ns = news.frozen_time = now_ns();
		const std::uint64_t start = now_ns();
		cause.hub->publish(monitor::fleet::subject_of("fired", cause.name),
				   monitor::fleet::snapshot_news_text(news));
		cause.hub->flush();
		return wait(start, hosts_.size() - 1, [&](Host &host) { return take_news(host); });
	}

	Round command(unsigned)
	{
		monitor::fleet::ControlMessage message;
		message.kind = "snapshot";
		message.run = "scale";
		message.nonce = monitor::random_hex(128);
		for (const Host &host : hosts_)
			message.hosts.push_back(host.name);
		message.issued_ns = real_ns();
		message.expires_ns = message.issued_ns + 60'000'000'000;
		const std::uint64_t start = now_ns();
		operator_->publish("m.ctl.all", monitor::fleet::signed_control(message, key_));
		operator_->flush();
		return wait(start, hosts_.size(), [&](Host &host) { return obey(host); });
	}

	void rest(double seconds)
	{
		for (const double end = now_s() + seconds; now_s() < end;)
			poll(10);
		for (Host &host : hosts_)
			host.heard_ns = 0;
	}

private:
	struct Host {
		explicit Host(unsigned number) : name(host_of(number)) {}

		const std::string name;
		std::optional<HubClient> hub;
		std::uint64_t heard_ns = 0;
		std::string subject, text;
	};

	static std::uint64_t real_ns()
	{
		timespec time;
		::clock_gettime(CLOCK_REALTIME, &time);
		return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
		       static_cast<std::uint64_t>(time.tv_nsec);
	}

	bool poll(int patience_ms)
	{
		std::array<epoll_event, 256> events;
		const int n = ::epoll_wait(poller_, events.data(), events.size(), patience_ms);
		for (int i = 0; i < n; ++i)
			if (events[i].data.u32 < hosts_.size())
				hosts_[events[i].data.u32].hub->receive();
			else
				operator_->receive();
		return n > 0;
	}

	// False: it does nothing because of it.
	bool take_news(Host &host) const
	{
		const auto subject = monitor::fleet::parse_subject(host.subject);
		auto news = monitor::fleet::parse_snapshot_news(host.text);
		if (!subject || subject->kind != "fired" || subject->host == host.name || !news)
			return false;
		news->cause_host = subject->host;
		news->cause_number = news->number;
		host.hub->publish(monitor::fleet::subject_of("froze", host.name),
				  monitor::fleet::snapshot_news_text(*news));
		return true;
	}

	bool obey(Host &host) const
	{
		const auto checked = monitor::fleet::check_control(host.text, public_key_, host.name, real_ns());
		if (!checked.refusal.empty() || checked.is_for_others)
			return false;
		monitor::fleet::CommandAnswer answer;
		answer.kind = monitor::fleet::CommandAnswer::Kind::ended;
		answer.nonce = checked.message.nonce;
		answer.run = checked.message.run;
		answer.exit_code = 0;
		host.hub->publish(monitor::fleet::subject_of("answer", host.name),
				  monitor::fleet::command_answer_text(answer));
		return true;
	}

	template <typename Take> Round wait(std::uint64_t start, std::size_t wanted, Take &&take)
	{
		const double end = now_s() + 30;
		const auto has_heard = [](const Host &host) { return host.heard_ns != 0; };
		std::size_t heard = 0;
		while (heard < hosts_.size()) { // who said it hears it, too
			poll(10);
			heard = static_cast<std::size_t>(std::ranges::count_if(hosts_, has_heard));
			if (now_s() > end)
				throw std::runtime_error("a message does not come to all hosts");
		}
		Round round{};
		std::vector<std::uint64_t> took;
		std::uint64_t last = 0, before = now_ns();
		std::size_t frozen = 0;
		told_ = 0;
		for (Host &host : hosts_) {
			if (!has_heard(host) || !take(host))
				continue;
			++frozen;
			const std::uint64_t now = now_ns();
			took.push_back(now - before);
			before = now;
			last = std::max(last, host.heard_ns);
		}
		if (frozen != wanted)
			throw std::runtime_error("a host does not take part");
		round.heard_ms = static_cast<double>(last - start) / 1e6;
		round.frozen_ms = static_cast<double>(before - start) / 1e6;
		for (Host &host : hosts_)
			host.hub->flush();
		while (told_ < wanted && now_s() < end)
			poll(10);
		round.told_ms = told_ < wanted ? -1 : static_cast<double>(now_ns() - start) / 1e6;
		std::ranges::sort(took);
		round.verified_us = static_cast<double>(took[took.size() / 2]) / 1e3;
		return round;
	}

	const monitor::fleet::SigningKey key_;
	const monitor::fleet::PublicKey public_key_;
	const int poller_;
	std::deque<Host> hosts_;
	std::optional<HubClient> operator_;
	std::size_t told_ = 0;
};

inline int run_snapshots(std::uint16_t port, const std::string &keys, const std::string &operator_keys, unsigned count,
			 unsigned rounds)
{
	raise_file_limit();
	SnapshotFleet fleet(port, keys, operator_keys, count);
	const auto measure = [&](const char *name, SnapshotFleet::Round (SnapshotFleet::*ask)(unsigned)) {
		std::printf("\"%s\": [", name);
		for (unsigned i = 0; i < rounds; ++i) {
			const SnapshotFleet::Round round = (fleet.*ask)(i);
			std::printf("%s[%.3f, %.3f, %.3f, %.1f]", i ? ", " : "", round.heard_ms, round.frozen_ms,
				    round.told_ms, round.verified_us);
			fleet.rest(0.1);
		}
		std::printf("]");
	};
	std::printf("{\"agents\": %u, ", count);
	measure("trigger", &SnapshotFleet::fire);
	std::printf(", ");
	measure("command", &SnapshotFleet::command);
	std::printf("}\n");
	return 0;
}
