// SPDX-License-Identifier: MIT
// The send window: which messages are unanswered, and which must be sent again. One thread; knows no network and no
// clock.
//
// A message is sent again after a reconnection, when the hub reports that nobody receives it, when the collector asks
// for it later, or after a time-out far above the usual time of an answer: a short one would flood a slow collector.
// When nothing at all arrives, the oldest one is sent again as a probe: another collector may answer, which has none of
// the rest. After a refusal all wait, longer each time; then one message is sent as a trial, and the others follow
// when it was accepted. After each such problem only a little may be unanswered at first, and each answer permits more:
// a thousand hosts that send their whole windows at once would overrun the hub, which then disconnects the collector,
// and all is lost again. Invariant: the bytes of unanswered messages stay below the window, those of sent ones below
// what is permitted, and a message leaves the window only when it was answered for good, or is withdrawn.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace monitor::fleet {

class SendWindow {
public:
	using Time = std::chrono::steady_clock::time_point;
	using Duration = std::chrono::steady_clock::duration;

	// Limit of the window; initial limit of unanswered bytes after a problem.
	static constexpr std::size_t max_bytes = 16 << 20, min_permitted = 256 << 10;
	static constexpr Duration min_timeout = std::chrono::seconds(10), max_timeout = std::chrono::seconds(120);
	static constexpr Duration min_silence = std::chrono::seconds(1), max_silence = std::chrono::seconds(8);
	static constexpr Duration min_pause = std::chrono::milliseconds(200), max_pause = std::chrono::seconds(5);

	bool has_room(std::size_t bytes) const { return window_bytes_ + bytes <= max_bytes || waiting_.empty(); }
	// Adds a message with a new number, due at once. `is_first`: it was not sent before.
	void add(std::uint64_t number, std::size_t bytes, bool is_first = true);
	// It was sent.
	void sent(std::uint64_t number, Time now);
	// It has a final answer. False: not in the window.
	bool remove(std::uint64_t number, Time now);
	// Removes it without an answer; add() may add it again. This says nothing about the collector: if it was the
	// trial, another message becomes it. False: not in the window.
	bool withdraw(std::uint64_t number);
	// It is to be sent again after a pause. False: not in the window.
	bool refused(std::uint64_t number, Time now);
	// Another connection or collector: sent messages may be lost, so all are due.
	void reconnected();

	// The oldest message to be sent now; none during a pause.
	std::optional<std::uint64_t> due(Time now);
	// When due() may return one if nothing else happens; time-outs are checked every 100 ms.
	Time next_due(Time now) const;

	bool empty() const { return waiting_.empty(); }
	bool has(std::uint64_t number) const { return waiting_.contains(number); }
	std::size_t messages() const { return waiting_.size(); }
	std::size_t bytes() const { return window_bytes_; }
	std::uint64_t sent_again() const { return sent_again_; }
	Duration timeout() const { return timeout_; }

private:
	void check_timeouts(Time now);
	void check_silence(Time now);
	void note_answer(Time now);
	bool is_trial_unanswered() const;
	bool is_too_much_unanswered() const;
	void unsend(std::uint64_t number);
	void forget(std::uint64_t number);

	struct Message {
		std::size_t bytes = 0;
		std::optional<Time> sent; // empty: in unsent_
		bool is_first = true;     // was not sent before: its answer measures the round trip
	};

	std::map<std::uint64_t, Message> waiting_;
	std::set<std::uint64_t> unsent_; // numbers of messages to be sent
	std::size_t window_bytes_ = 0;
	std::size_t unanswered_bytes_ = 0, permitted_bytes_ = max_bytes; // bytes: of sent messages; their limit
	std::uint64_t sent_again_ = 0;
	Duration timeout_ = min_timeout, pause_ = min_pause, silence_ = min_silence;
	Time last_received_{}, last_sent_{};
	Time paused_until_{}, last_check_{};
	std::optional<std::uint64_t> probe_; // sent regardless of the limit
	bool is_trying_ = false;             // after a refusal, until a trial is accepted
	std::optional<std::uint64_t> trial_; // its number
};

} // namespace monitor::fleet
