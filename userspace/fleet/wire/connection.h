// SPDX-License-Identifier: MIT
// A connection to the hub, a NATS server, which reconnects whenever it breaks, in a cluster to the next hub. Only
// connection.cpp uses libnats.
// A thread connects. Each attempt is a new connection of the library, whose own reconnection is off because it hides
// why TLS fails; so every reason reaches Events::lost. Nothing is queued while disconnected: a sender that needs an
// acknowledgement sends again.
// Threads: Events::connected and ::lost are called by the connecting thread, ::error by one of the library, a handler
// by the thread of its subscription, one message at a time. All may call publish(). The library starts threads with the
// first Connection: fork before. The destructor waits for a running handler, and nothing is called once it has
// returned; so a handler must not destroy its Connection. Invariant: at most one connection is open, and all
// subscriptions exist on it before `connected` is called.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace monitor::fleet {

struct ConnectionOptions {
	std::string hub; // "tls://HUB:PORT", or several of a cluster; see hub.h
	// PEM files: all three for TLS, none without. The client's certificate is its identity.
	std::string ca_file, certificate_file, key_file;
	// The same as text, used instead of the files: for a process that can no longer read them.
	std::string ca_pem, certificate_pem, key_pem;
	// The name in the hub's certificate; an IP address must be one of its IP addresses. "": the host of the current
	// address.
	std::string expected_host;
	std::string name; // shown in the server's list of connections
	// Sends each message at once, instead of waiting up to a millisecond for more.
	bool is_urgent = false;
	std::chrono::milliseconds timeout{3000}; // of one attempt
	std::chrono::milliseconds write_timeout{3000};
	// A silent disconnect is detected after two to three intervals.
	std::chrono::milliseconds ping_interval{2000};
};

class Connection {
public:
	struct Message {
		std::string_view subject, reply; // reply "": none expected
		std::span<const std::byte> data;
		// Not an answer: the server reports that the message whose reply subject was `subject` has no
		// subscriber.
		bool no_responders = false;

		std::string_view text() const { return {reinterpret_cast<const char *>(data.data()), data.size()}; }
	};
	using Handler = std::function<void(const Message &)>;
	struct Events {
		std::function<void()> connected;
		// There is no connection, with the reason; each reason once until the next connection.
		std::function<void(const std::string &)> lost;
		// The server or the library reports a problem of an open connection: a subject that is not permitted,
		// or messages dropped because a handler is too slow. The same one at most once in 10 s.
		std::function<void(const std::string &)> error;
	};
	// Limits of messages waiting for a handler; beyond, the library drops them and Events::error is called.
	struct PendingLimits {
		int messages = 65536;
		int bytes = 64 << 20;
	};

	// Returns at once; retries until destroyed. Throws Error if the options are wrong or a file cannot be read.
	Connection(const ConnectionOptions &options, Events events);
	~Connection();

	// Kept across reconnections. The subject may have wildcards.
	void subscribe(const std::string &subject, Handler handler, PendingLimits limits);
	void subscribe(const std::string &subject, Handler handler)
	{
		subscribe(subject, std::move(handler), PendingLimits());
	}

	// Waits for running handlers; none is called afterwards.
	void stop_receiving();

	// False: no connection, or not accepted. May block for `timeout` while earlier messages cannot be sent.
	bool publish(const std::string &subject, std::span<const std::byte> data, const std::string &reply = "");
	bool publish(const std::string &subject, std::string_view text, const std::string &reply = "");
	// True: the server has received everything published before. False: not within `timeout`.
	bool flush(std::chrono::milliseconds timeout);

	bool is_connected() const;
	bool wait_until_connected(std::chrono::milliseconds timeout) const;
	// Why there is no connection; "" while there is one, or before the first attempt failed.
	std::string problem() const;
	// The server's size limit of a message; 0 without a connection.
	std::size_t max_payload() const;

private:
	struct Parts;
	std::unique_ptr<Parts> parts_;
};

} // namespace monitor::fleet
