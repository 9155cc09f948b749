// SPDX-License-Identifier: MIT
// The network interface of forwarding.cpp: sends messages to the collector, and returns its answers.
// Implemented over NATS by nats_forwarder.h. Messages may be lost, duplicated, or answered late; the caller numbers
// them and sends them again. One thread calls; any may call wake().
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fleet/wire/batch.h"

namespace monitor::fleet {

class Forwarder {
public:
	enum class MessageKind { batch, piece };
	struct Received {
		std::vector<std::pair<std::uint64_t, Answer>> answers; // with the message's number
		std::vector<std::uint64_t> no_subscriber;              // numbers of messages that no collector receives
		bool is_new_connection = false;                        // earlier messages may be lost
	};

	virtual ~Forwarder() = default;

	// False: there is no connection.
	virtual bool send(MessageKind kind, std::uint64_t number, std::span<const std::byte> message) = 0;
	// Returns what arrived since the last call; waits for something until that time.
	virtual Received receive_until(std::chrono::steady_clock::time_point time) = 0;
	virtual bool is_connected() const = 0;
	// Makes receive_until() return.
	virtual void wake() = 0;
};

} // namespace monitor::fleet
