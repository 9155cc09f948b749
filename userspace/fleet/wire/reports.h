// SPDX-License-Identifier: MIT
// What a host reports: its presence on m.hello.HOST, each second and, up to ten times a second, when an empty message
// on m.ctl.all or m.ctl.HOST asks for it; and answers to control messages on m.answer.HOST.
//
// The sender is in the subject, which the server binds to the certificate; so no field names a host. JSON with a
// version; unknown fields are ignored, and of a later `version` only that the host is present. Invariant: parsing any
// bytes gives values of bounded size, or nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "system_clock.h"

namespace monitor::fleet {

inline constexpr std::size_t max_report_bytes = 64 << 10, max_runs_shown = 64, max_kept_shown = 128,
			     max_traces_shown = 256;

// A host's presence.
struct Presence {
	struct Run {
		std::string name;
		std::string state;       // "waiting", "starting", "recording", "ending"
		bool is_flight = false;  // a flight recorder, which takes snapshots on request
		bool takes_part = false; // and in coordinated snapshots (ControlMessage::snapshot_all)
		std::string forward{};   // forwarding policy; "": the agent's default
	};
	// A trace in the spool.
	struct Kept {
		std::string run;
		std::uint64_t bytes = 0, blocks = 0, stored = 0; // the last two in blocks
		std::uint64_t begin_ns = 0, end_ns = 0;          // of its events; 0: unknown
		bool has_ended = false;
	};
	std::string monitor_version;
	std::string session; // different after each start of the agent
	std::string boot_id;
	std::vector<Run> runs;             // running ones, at most max_runs_shown
	std::uint64_t spool_bytes = 0;     // size on the host's disk
	std::uint64_t spool_max_bytes = 0; // and its limit
	std::uint64_t unsent_blocks = 0;   // recorded, not stored by the collector yet
	std::uint64_t kept_blocks = 0;     // recorded, not sent until they are fetched
	// The cost of the network process since its start; nullopt: an older agent.
	std::optional<std::uint64_t> cpu_ns, sent_bytes, sent_messages;
	std::optional<SystemClock> system_clock; // nullopt: an older agent
	std::optional<std::vector<Kept>> kept;   // once after a command; the newest, at most max_kept_shown
	std::uint64_t lost_blocks = 0;           // dropped from a full spool before they were stored
	std::uint64_t refused = 0;               // number of commands since the agent's start
	bool user_only = false;                  // without root: records only programs' own events
	bool runs_commands = false;              // --allow-commands
	bool is_of_later_version = false;        // a later version: only monitor_version and session are known

	std::string state() const
	{
		return is_of_later_version ? "unknown" : runs.empty() ? "idle" : runs.front().state;
	}
};

std::string presence_text(const Presence &presence);
std::optional<Presence> parse_presence(std::string_view untrusted_text);

// The outcome of a command, identified by its nonce. A recording is accepted, started and ended; a snapshot is accepted
// and ended.
struct CommandAnswer {
	enum class Kind : std::uint8_t { refused, accepted, started, ended };

	Kind kind = Kind::refused;
	std::string nonce; // "": the message was not the operator's
	std::string run;
	std::string reason;            // of a refusal, or the recorder's last message
	std::uint64_t realtime_ns = 0; // by the host's clock
	// Delay of the start after the planned time, or of the freeze after a snapshot's command was issued, by the
	// host's clock.
	std::optional<std::int64_t> late_ns;
	std::optional<int> exit_code; // ended: the recorder's, or, if there is a command, the command's
	std::string session;          // of the agent
	bool takes_part = false;      // accepted: in coordinated snapshots; if not, `reason` may say why
	std::string snapshot;         // its directory's name in the run's
	// A trace of a run: the run itself, or a snapshot of a flight recorder.
	struct Trace {
		std::string part; // TraceName::part
		bool has_ended = false;
	};
	// accepted, for a fetch: the host's traces of the run, at most max_traces_shown; nullopt: an older agent.
	std::optional<std::vector<Trace>> traces;
	// accepted, for a recording: its forwarding policy, forward.h; "": an older agent, in batches.
	std::string forward;
};

const char *answer_kind_text(CommandAnswer::Kind kind);
std::string command_answer_text(const CommandAnswer &answer);
std::optional<CommandAnswer> parse_command_answer(std::string_view untrusted_text);

} // namespace monitor::fleet
