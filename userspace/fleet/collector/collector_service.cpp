// SPDX-License-Identifier: MIT
#include "collector_service.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <tuple>

#include <sys/resource.h>

#include "base/error.h"

namespace monitor::fleet {
namespace {

// For all hosts together; beyond, the library drops and counts messages, and the hosts send them again.
constexpr Connection::PendingLimits data_limits{65536, 512 << 20}, file_limits{4096, 64 << 20},
    clock_limits{65536, 8 << 20}, presence_limits{65536, 16 << 20};
constexpr auto hub_timeout = std::chrono::seconds(10);
constexpr auto presence_timeout = std::chrono::milliseconds(1500);

// Where to answer this host; "": nowhere, as other hosts would receive the answer.
std::string reply_of(const std::string &host, const Connection::Message &message)
{
	return is_reply_of(host, message.reply) ? std::string(message.reply) : "";
}

// For a file per stream being written, and a directory per trace.
void raise_file_limit()
{
	rlimit files{};
	if (::getrlimit(RLIMIT_NOFILE, &files) != 0)
		return;
	files.rlim_cur = files.rlim_max;
	::setrlimit(RLIMIT_NOFILE, &files); // if it fails, opening files is retried
}

} // namespace

CollectorService::CollectorService(const ConnectionOptions &hub, const std::string &directory, const std::string &run,
				   std::function<void(const std::string &)> report, const Shard &shard, int hub_pid)
    : report_(std::move(report))
{
	raise_file_limit();
	Connection::Events events;
	events.lost = events.error = report_;
	events.connected = [this] { report_("connected to the hub"); };
	const auto reply_with = [this](const std::string &reply, const Answer &answer) {
		if (!reply.empty()) // a lost answer is requested again
			data_->publish(reply, encode_answer(answer));
	};
	collector_ = std::make_unique<Collector>(directory, run, reply_with, report_, shard, hub_pid);
	clocks_ = std::make_unique<ClockAnswers>(collector_->path());
	system_clocks_ = std::make_unique<SystemClockLog>(collector_->path());
	relays_ = std::make_unique<ClockRelays>(collector_->path());
	// Longer time-outs: answers to pings queue behind blocks, and a lost connection loses messages.
	ConnectionOptions patient = hub;
	patient.ping_interval = patient.write_timeout = hub_timeout;
	data_ = std::make_unique<Connection>(patient, events);
	clock_ = std::make_unique<Connection>(hub, Connection::Events{{}, {}, report_});
	subscribe(shard);
}

void CollectorService::subscribe(const Shard &shard)
{
	const auto by_host = [](auto &&take) {
		return [take](const Connection::Message &message) {
			const auto subject = parse_subject(message.subject);
			if (subject && !message.no_responders)
				take(subject->host, message);
		};
	};
	data_->subscribe(shard_subject("data", shard),
			 by_host([this](const std::string &host, const Connection::Message &message) {
				 collector_->batch(host, message.data, reply_of(host, message));
			 }),
			 data_limits);
	data_->subscribe(shard_subject("file", shard),
			 by_host([this](const std::string &host, const Connection::Message &message) {
				 collector_->piece(host, message.data, reply_of(host, message));
			 }),
			 file_limits);
	clock_->subscribe("m.hello.*", by_host([this](const std::string &host, const Connection::Message &message) {
				  const auto presence = parse_presence(message.text());
				  if (presence)
					  receive_presence(host, *presence);
			  }),
			  presence_limits);
	if (shard.number != 0)
		return;
	clock_->subscribe("m.clock.*", by_host([this](const std::string &host, const Connection::Message &message) {
				  const std::uint64_t t2 = clocks_->now_ns();
				  try {
					  receive_clock(host, message, t2);
				  } catch (const Error &error) {
					  report_(error.what());
				  }
			  }),
			  clock_limits);
}

void CollectorService::receive_clock(const std::string &host, const Connection::Message &message, std::uint64_t t2)
{
	if (const auto receipt = decode_clock_receipt(message.data)) {
		relays_->receipt(host, *receipt);
		return;
	}
	std::string why;
	const auto answer = clocks_->answer(host, message.data, t2, why);
	const std::string reply = reply_of(host, message);
	if (!answer || reply.empty())
		return;
	clock_->publish(reply, encode_clock_answer(*answer));
	if (!collector_->has_host(host)) // its clock is not needed
		return;
	ClockQuestion question;
	if (!decode_clock_question(message.data, question, why))
		return;
	if (const auto relay = relays_->question(host, question, reply, ClockRelays::Clock::now()))
		clock_->publish(relay->subject, relay->data);
}

void CollectorService::receive_presence(const std::string &host, const Presence &untrusted_presence)
{
	const auto &[cpu, bytes, messages] =
	    std::tie(untrusted_presence.cpu_ns, untrusted_presence.sent_bytes, untrusted_presence.sent_messages);
	if (cpu && bytes && messages) // else an older agent
		collector_->add_cost(host, untrusted_presence.session, {*cpu, *bytes, *messages});
	collector_->note_runs(host, untrusted_presence.runs);
	if (!untrusted_presence.system_clock || !collector_->has_reported(host, {}))
		return; // not of this run
	try {
		system_clocks_->log(host, *untrusted_presence.system_clock, clocks_->now_ns());
	} catch (const Error &error) {
		report_(error.what());
	}
}

void CollectorService::wait_for_costs(const std::set<std::string> &hosts)
{
	const auto start = std::chrono::steady_clock::now();
	clock_->publish(subject_of("ctl", "all"), ""); // requests presence now, instead of waiting for the next second
	while (std::chrono::steady_clock::now() - start < presence_timeout &&
	       !std::ranges::all_of(hosts, [&](const auto &host) { return collector_->has_reported(host, start); }))
		std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

void CollectorService::stop()
{
	clock_->stop_receiving();
	data_->stop_receiving();
}

void CollectorService::save()
{
	try {
		collector_->save();
	} catch (const Error &error) {
		report_(error.what());
	}
}

CollectorService::~CollectorService()
{
	stop();
	collector_.reset(); // answers what is pending
	data_->flush(std::chrono::seconds(1));
}

bool CollectorService::wait_until_connected(std::chrono::milliseconds timeout) const
{
	return data_->wait_until_connected(timeout);
}

} // namespace monitor::fleet
