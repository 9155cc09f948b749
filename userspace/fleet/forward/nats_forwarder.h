// SPDX-License-Identifier: MIT
// The forwarder over NATS: messages to the subjects of `data` and `file`, answers to an inbox of this host.
//
// Core NATS: the server stores nothing, only the collector's answer counts. The number of a message is the last token
// of its reply subject.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "fleet/wire/connection.h"
#include "forwarder.h"

namespace monitor::fleet {

class NatsForwarder : public Forwarder {
public:
	// `report`: a sentence about the connection, from any thread. Throws Error.
	NatsForwarder(const ConnectionOptions &hub, const std::string &host,
		      std::function<void(const std::string &)> report);
	~NatsForwarder() override;

	bool send(MessageKind kind, std::uint64_t number, std::span<const std::byte> message) override;
	Received receive_until(std::chrono::steady_clock::time_point time) override;
	// Not before receive_until() has reported the new connection; send() uses that.
	bool is_connected() const override;
	void wake() override;
	std::string problem() const { return connection_.problem(); }

private:
	void opened();
	void lost(const std::string &why);
	void take(const Connection::Message &message);
	void report_unreadable(const std::string &why);

	const std::string data_subject_, file_subject_, inbox_;
	std::function<void(const std::string &)> report_;
	std::optional<std::chrono::steady_clock::time_point> unreadable_; // when this was last reported
	mutable std::mutex mutex_;                                        // protects the following
	std::condition_variable arrived_;
	Received received_;
	bool is_woken_ = false, is_open_ = false;
	Connection connection_; // last: its threads use the above
};

} // namespace monitor::fleet
