// SPDX-License-Identifier: MIT
// The privileged process of `monitor agent`: executes the operator's signed commands, and starts `monitor record`.
// It is the initial process: single-threaded, without network. Its child, the network process (network_process.h), is
// not trusted: it passes envelopes unchanged over a socket pair (link.h). Each is verified here (fleet/wire/control.h,
// nonces.h, fleet/wire/allowed_options.h); answers and the list of runs go back. If the child dies, it is restarted;
// recordings continue.
// Invariant: nothing from the network has an effect before check_control() and Nonces::use() have accepted it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "fleet/wire/allowed_options.h"
#include "fleet/wire/control.h"
#include "fleet/wire/reports.h"
#include "nonces.h"
#include "recorder_process.h"
#include "snapshot_commands.h"

namespace monitor::agent {

struct PrivilegedOptions {
	std::string host;
	std::string program; // path of `monitor`
	std::string runs;    // the directory of traces
	std::string nonces;  // path of their file
	std::string forward; // default forwarding policy: forward.h
	fleet::Allowed allowed;
	std::optional<record::User> owner;    // owner of the traces; nullopt: this process's user
	std::optional<record::User> commands; // the user that commands run as; nullopt: commands are refused
};

class PrivilegedProcess {
public:
	// `start_network` forks the network process, passes it the other end of the socket pair, and returns its pid.
	using StartNetwork = std::function<pid_t(Fd link)>;

	// Throws Error.
	PrivilegedProcess(PrivilegedOptions options, fleet::PublicKey key, StartNetwork start_network);
	~PrivilegedProcess();

	// Runs until SIGTERM or SIGINT; then ends all recordings and waits for them. Returns the exit code.
	int run();

private:
	using Clock = std::chrono::steady_clock;
	struct Run {
		std::string name, nonce, forward;
		std::vector<std::string> words; // of the recorder
		std::vector<std::string> command;
		std::uint64_t planned_ns = 0; // real time; 0: at once
		Clock::time_point due;
		std::optional<RecorderProcess> recorder, command_process;
		std::optional<int> command_exit;
		bool is_recording = false, is_ending = false;
		bool is_flight = false, takes_part = false; // takes_part: in coordinated snapshots
		std::uint64_t max_snapshots = 0;
		SnapshotCommands snapshots;

		const char *state() const;
	};

	void start_child();
	void start_child_again();
	void delay_child();
	void receive_envelopes();
	void handle_envelope(std::string_view untrusted_envelope);
	std::string execute(const fleet::ControlMessage &message, std::uint64_t now_ns);
	std::string plan_run(const fleet::ControlMessage &message, std::uint64_t now_ns);
	std::string stop_run(const fleet::ControlMessage &message);
	std::string request_snapshot(const fleet::ControlMessage &message);
	std::string decide_participation(const fleet::ControlMessage &message, Run &run,
					 fleet::CommandAnswer &accepted) const;
	std::string fetch(const fleet::ControlMessage &message);
	void start_due_runs();
	void start(Run &run);
	void update(Run &run);
	void recording_started(Run &run);
	void end(Run &run);
	void read_signals();
	void reap();
	void child_ended(pid_t pid, int status);
	void network_ended(int status);
	void run_ended(std::list<Run>::iterator run, int exit_code, const std::string &reason);
	void refuse(const std::string &why, const std::string &nonce, const std::string &run);
	void answer(fleet::CommandAnswer answer);
	void answer(fleet::CommandAnswer::Kind kind, const std::string &nonce, const std::string &run,
		    fleet::CommandAnswer more);
	void accept(const fleet::ControlMessage &message, fleet::CommandAnswer more = {});
	void send_runs();
	void send(const std::string &text);
	void wait();
	void end_all();

	const PrivilegedOptions options_;
	const fleet::PublicKey key_;
	const StartNetwork start_network_;
	Nonces nonces_;
	Fd signals_, link_;
	pid_t child_ = -1;
	Clock::time_point child_due_, child_started_;
	std::chrono::seconds child_delay_{0};
	std::list<Run> runs_;
	std::string buffer_; // for one datagram
	std::uint64_t refused_ = 0;
	unsigned reported_refusals_ = 0;
	Clock::time_point refusals_since_;
	bool is_stopping_ = false;
};

} // namespace monitor::agent
