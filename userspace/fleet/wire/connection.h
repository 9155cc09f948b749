// SPDX-License-Identifier: MIT
// A connection to the hub, a NATS server, that is made again whenever it breaks; of a cluster of hubs, to the next one.
// The only place that knows libnats.
//
// Made by the agent, the forwarder's owner, the collector and `monitor fleet`. What connects is a thread of its own:
// each attempt is a new connection of the library, whose own reconnection is switched off because it hides why TLS
// fails, so every reason reaches Events::lost. A message is published or it is not: nothing is kept for later, as what
// must not be lost is sent again by whoever knows that it was not acknowledged.
//
// Threads: Events::connected and ::lost are called by the connecting thread, ::error by one of the library, a handler
// by the thread of its subscription, one message at a time. publish() may be called by all of them. The library starts
// threads with the first Connection: fork before. After the destructor has returned nothing is called any more; it
// waits for a handler that runs, so a handler must not destroy its Connection.
// Invariant: at most one connection is open, and all subscriptions exist on it before `connected` is called.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace monitor::fleet {

struct ConnectionOptions {
	std::string hub; // "tls://HUB:PORT", or several of a cluster; see hub.h
	// PEM files; all three for TLS, none without. The client's certificate says who it is.
	std::string ca_file, certificate_file, key_file;
	// The same as texts, which come before files: for a process that may not read them any more.
	std::string ca_pem, certificate_pem, key_pem;
	// The name in the hub's certificate, of which an IP address must be one of its IP addresses; "": the host of
	// the address that is tried.
	std::string expected_host;
	std::string name; // shown in the server's list of connections
	// A message is sent at once, not with what else is published within a millisecond: for few that are urgent.
	bool is_urgent = false;
	std::chrono::milliseconds timeout{3000}; // of one attempt
	std::chrono::milliseconds write_timeout{3000};
	// A cut that nothing reports is noticed after two to three of these.
	std::chrono::milliseconds ping_interval{2000};
};

class Connection {
public:
	struct Message {
		std::string_view subject, reply; // reply "": none wanted
		std::span<const std::byte> data;
		// This is not an answer but the server's word that nobody subscribes to the subject of a message whose
		// reply subject was `subject`.
		bool no_responders = false;
	};
	using Handler = std::function<void(const Message &)>;
	struct Events {
		std::function<void()> connected;
		// No connection, and why; each reason once until there is one.
		std::function<void(const std::string &)> lost;
		// What the server or the library reports of a connection that stands: a subject that is not permitted,
		// messages that were dropped because a handler is too slow. The same not more often than each 10 s.
		std::function<void(const std::string &)> error;
	};
	// How much may wait for a handler; above, the library drops messages and Events::error is called.
	struct PendingLimits {
		int messages = 65536;
		int bytes = 64 << 20;
	};

	// Returns at once, and connects for ever. Throws Error if the options are wrong or a file cannot be read.
	Connection(const ConnectionOptions &options, Events events);
	~Connection();

	// Stays over reconnections. The subject may have wildcards.
	void subscribe(const std::string &subject, Handler handler, PendingLimits limits);
	void subscribe(const std::string &subject, Handler handler)
	{
		subscribe(subject, std::move(handler), PendingLimits());
	}

	// Waits for handlers that run; none is called any more.
	void stop_receiving();

	// False if there is no connection, or the message was not taken. May block for `timeout` if the network does
	// not take what was published before.
	bool publish(const std::string &subject, std::span<const std::byte> data, const std::string &reply = "");
	bool publish(const std::string &subject, std::string_view text, const std::string &reply = "");
	// The server has everything that was published before. False if not within `timeout`.
	bool flush(std::chrono::milliseconds timeout);

	bool is_connected() const;
	bool wait_until_connected(std::chrono::milliseconds timeout) const;
	// Why there is no connection; "" while there is one, or before the first attempt failed.
	std::string problem() const;
	// Of a message, as the server says; 0 without a connection.
	std::size_t max_payload() const;

private:
	struct Parts;
	std::unique_ptr<Parts> parts_;
};

} // namespace monitor::fleet
