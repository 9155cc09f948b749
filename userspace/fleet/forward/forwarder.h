// SPDX-License-Identifier: MIT
// How messages reach the collector, and its answers come back: what forwarding.cpp needs of a network.
//
// Implemented by nats_forwarder.h, and by a list in the unit tests. Messages may be lost, doubled, or answered late;
// who calls numbers them and sends them again. One thread calls; wake() any.
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
	enum class Kind { batch, piece };
	struct Received {
		std::vector<std::pair<std::uint64_t, Answer>> answers; // by the number of the message
		std::vector<std::uint64_t> nobody;                     // no collector receives these
		bool is_new_connection = false;                        // what was sent before may be lost
	};

	virtual ~Forwarder() = default;

	// False: there is no connection.
	virtual bool send(Kind kind, std::uint64_t number, std::span<const std::byte> message) = 0;
	// What came since the last call; waits for something until then.
	virtual Received receive_until(std::chrono::steady_clock::time_point time) = 0;
	virtual bool is_connected() const = 0;
	// receive_until() returns.
	virtual void wake() = 0;
};

} // namespace monitor::fleet
