// SPDX-License-Identifier: MIT
// For whom an interrupt works: who submitted the request that a device has completed, and who raised a network softirq.
// Nobody, if no event shows it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "monitor/card.h"

namespace monitor::path {

inline constexpr std::uint32_t nobody = ~0u;

// Requests to block devices that have not completed, by device and sector. Several flushes (without bytes) may have the
// same: they are taken to complete in the order in which they began.
class Requests {
public:
	struct Request {
		std::uint64_t begin = 0;       // when it was submitted or, if that was not seen, issued to the driver
		std::uint32_t thread = nobody; // that submitted it, index in Stretches::threads()
	};

	void start(std::uint32_t device, std::uint64_t sector, bool is_flush, const Request &request);
	void issue(std::uint32_t device, std::uint64_t sector, std::uint64_t time);
	// Request(): its begin was not seen.
	Request complete(std::uint32_t device, std::uint64_t sector);
	void clear() { waiting_.clear(); }

private:
	std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Request>> waiting_;
};

// Who raised a softirq.
struct Raised {
	enum class By : std::uint8_t {
		nobody, // it is not pending, or the raise was not recorded
		device, // in its interrupt
		thread,
		several
	} by = By::nobody;
	std::uint32_t who = 0;   // number of the device's interrupt, or index of the thread
	std::uint64_t since = 0; // when it was raised first

	void add(const Raised &other);
};

// The softirqs of the network on a CPU.
class NetworkSoftirqs {
public:
	static bool is_network(std::uint32_t vec) { return vec == EDC_SOFTIRQ_NET_RX || vec == EDC_SOFTIRQ_NET_TX; }

	void raise(std::uint32_t vec, const Raised &raised) { raised_[slot(vec)].add(raised); }
	void enter(std::uint32_t vec) { handled_[slot(vec)] = std::exchange(raised_[slot(vec)], {}); }
	const Raised &handled(std::uint32_t vec) const { return handled_[slot(vec)]; }

private:
	static std::size_t slot(std::uint32_t vec) { return vec == EDC_SOFTIRQ_NET_RX; }

	std::array<Raised, 2> raised_, handled_;
};

} // namespace monitor::path
