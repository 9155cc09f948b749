// SPDX-License-Identifier: MIT
// That a snapshot was started, in a run with coordinated snapshots (ControlMessage::snapshot_all):
//
//     m.fired.HOST    a trigger of this host fired; every other host of the run then asks its own flight recorder
//     m.froze.HOST    a trigger of another host did; the operator sees how long that took
//
// Not signed: the sender is in the subject, which the server binds to the certificate, so a host can do no more by it
// than a host may (Documentation/fleet.md). JSON with a version; unknown fields are ignored. Invariant: parsing any
// bytes gives values of bounded size, or nothing. Nothing reacts to m.froze, so no message causes more messages than
// there are hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace monitor::fleet {

inline constexpr std::size_t max_news_bytes = 4096, max_trigger_name = 64;

struct SnapshotNews {
	std::string run;
	std::uint64_t number = 0;       // of the snapshot on the host
	std::string trigger;            // its name; "": one of several
	std::uint64_t time = 0;         // of the trigger, or of the snapshot's request; by the host's trace clock
	std::uint64_t realtime_ns = 0;  // the same, since 1970, by the host's clock
	std::uint64_t frozen_time = 0;  // since then nothing was overwritten; by the host's trace clock
	std::uint64_t frozen_ns = 0;    // the same, since 1970
	std::string cause_host;         // m.froze: the host whose trigger fired
	std::uint64_t cause_number = 0; // and the number of its snapshot
};

std::string snapshot_news_text(const SnapshotNews &news);
std::optional<SnapshotNews> parse_snapshot_news(std::string_view untrusted_text);

// "001", the name of the snapshot's directory.
std::string snapshot_name(std::uint64_t number);

} // namespace monitor::fleet
