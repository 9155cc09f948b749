// SPDX-License-Identifier: MIT
// Conservation: for each class, the events that the probes saw are in the blocks, or were counted as lost or filtered.
// Part of check.cpp, which feeds it every event and gap.
#pragma once

#include <cstdint>
#include <vector>

#include "check.h"
#include "reading/events/event.h"
#include "reading/events/field_ref.h"

namespace monitor::check {

class Conservation {
public:
	Conservation() : tokens_(4096) {}

	void event(const trace::Event &event)
	{
		if (event.stream->is_user())
			user_tokens_ += !event.is_control();
		else if (event.is_token())
			++tokens_[event.cls->id];
		if (!event.stream->is_user() && event.is_token())
			trigger_event(event);
	}
	void gap(const trace::StreamInfo &stream, std::uint64_t discarded)
	{
		const bool is_counted = discarded != ~std::uint64_t(0);
		if (stream.is_user()) {
			user_discarded_ += is_counted ? discarded : 0;
			user_uncounted_ |= !is_counted;
			return;
		}
		++gaps_;
		discarded_ += is_counted ? discarded : 0;
		uncounted_ |= !is_counted;
	}

	std::uint64_t total() const;
	// `hidden`: the kernel hides some threads from the probes.
	void judge(const RecordingInfo &info, bool hidden, Statements &statements) const;

private:
	void trigger_event(const trace::Event &event);
	void judge_classes(const RecordingInfo &info, Statements &statements) const;
	void judge_snapshot(const RecordingInfo &info, Statements &statements) const;
	void judge_control(const RecordingInfo &info, Statements &statements) const;
	void judge_user(const RecordingInfo &info, Statements &statements) const;
	static void judge_claims(const UserInfo &user, Statements &statements);
	void judge_triggers(const RecordingInfo &info, Statements &statements) const;
	void judge_losses(const RecordingInfo &info, Statements &statements) const;

	std::vector<std::uint64_t> tokens_; // by class id
	std::uint64_t gaps_ = 0, discarded_ = 0;
	std::vector<std::uint64_t> firings_; // by trigger number
	std::uint64_t pauses_ = 0, paused_ticks_ = 0;
	std::uint64_t user_tokens_ = 0, user_discarded_ = 0;
	bool uncounted_ = false, user_uncounted_ = false;
};

} // namespace monitor::check
