// SPDX-License-Identifier: MIT
#include "send_window.h"

#include <algorithm>

namespace monitor::fleet {
namespace {

constexpr auto window_check_interval = std::chrono::milliseconds(100);

} // namespace

void SendWindow::add(std::uint64_t number, std::size_t bytes, bool is_first)
{
	waiting_[number] = {bytes, {}, is_first};
	unsent_.insert(number);
	window_bytes_ += bytes;
}

void SendWindow::sent(std::uint64_t number, Time now)
{
	const auto found = waiting_.find(number);
	if (found == waiting_.end())
		return;
	Message &message = found->second;
	sent_again_ += !message.is_first;
	if (!message.sent)
		unanswered_bytes_ += message.bytes;
	message.sent = last_sent_ = now;
	unsent_.erase(number);
	if (probe_ == number)
		probe_.reset();
}

// A message in the window is to be sent again.
void SendWindow::unsend(std::uint64_t number)
{
	Message &message = waiting_.at(number);
	if (message.sent)
		unanswered_bytes_ -= message.bytes;
	message.is_first &= !message.sent;
	message.sent.reset();
	unsent_.insert(number);
}

void SendWindow::forget(std::uint64_t number)
{
	const Message &message = waiting_.at(number);
	if (message.sent)
		unanswered_bytes_ -= message.bytes;
	window_bytes_ -= message.bytes;
	waiting_.erase(number);
	unsent_.erase(number);
}

bool SendWindow::remove(std::uint64_t number, Time now)
{
	const auto found = waiting_.find(number);
	if (found == waiting_.end())
		return false;
	note_answer(now);
	const Message &message = found->second;
	if (message.sent && message.is_first) // 16 times the round trip, decreasing slowly
		timeout_ = std::clamp(std::max((now - *message.sent) * 16, timeout_ - timeout_ / 16), min_timeout,
				      max_timeout);
	permitted_bytes_ = std::min(permitted_bytes_ + message.bytes, max_bytes); // doubled per round trip
	forget(number);
	pause_ = min_pause;
	is_trying_ = false;
	return true;
}

bool SendWindow::withdraw(std::uint64_t number)
{
	if (!waiting_.contains(number))
		return false;
	forget(number);
	if (trial_ == number)
		trial_.reset();
	return true;
}

bool SendWindow::refused(std::uint64_t number, Time now)
{
	const auto found = waiting_.find(number);
	if (found == waiting_.end())
		return false;
	note_answer(now);
	if (!found->second.sent)
		return true;
	unsend(number);
	permitted_bytes_ = min_permitted;
	is_trying_ = true;
	trial_.reset();
	if (now < paused_until_)
		return true; // one pause for all messages refused together
	paused_until_ = now + pause_;
	pause_ = std::min(2 * pause_, max_pause);
	return true;
}

void SendWindow::reconnected()
{
	for (const auto &[number, message] : waiting_)
		unsend(number);
	permitted_bytes_ = min_permitted;
	paused_until_ = {};
	pause_ = min_pause;
	is_trying_ = false;
}

void SendWindow::check_timeouts(Time now)
{
	if (now - last_check_ < window_check_interval)
		return;
	last_check_ = now;
	bool is_late = false;
	for (const auto &[number, message] : waiting_)
		if (message.sent && now - *message.sent >= timeout_) {
			is_late = true;
			unsend(number);
		}
	if (is_late) {
		timeout_ = std::min(2 * timeout_, max_timeout);
		permitted_bytes_ = min_permitted;
	}
	check_silence(now);
}

void SendWindow::note_answer(Time now)
{
	last_received_ = now;
	silence_ = min_silence;
}

bool SendWindow::is_trial_unanswered() const
{
	return is_trying_ && trial_ && waiting_.contains(*trial_) && !unsent_.contains(*trial_);
}

// One message is always permitted.
bool SendWindow::is_too_much_unanswered() const
{
	return !unsent_.empty() && unanswered_bytes_ > 0 && probe_ != *unsent_.begin() &&
	       unanswered_bytes_ + waiting_.at(*unsent_.begin()).bytes > permitted_bytes_;
}

void SendWindow::check_silence(Time now)
{
	const bool nothing_follows = unsent_.empty() || is_trial_unanswered() || is_too_much_unanswered();
	if (waiting_.empty() || !nothing_follows || now - std::max(last_received_, last_sent_) < silence_)
		return;
	probe_ = is_trial_unanswered() ? *trial_ : waiting_.begin()->first;
	unsend(*probe_);
	silence_ = std::min(2 * silence_, max_silence);
}

std::optional<std::uint64_t> SendWindow::due(Time now)
{
	if (now < paused_until_)
		return {};
	check_timeouts(now);
	if (is_trying_ && !unsent_.empty()) {
		if (is_trial_unanswered())
			return {};
		trial_ = *unsent_.begin();
	}
	if (unsent_.empty() || is_too_much_unanswered())
		return {};
	return *unsent_.begin();
}

SendWindow::Time SendWindow::next_due(Time now) const
{
	const bool is_waiting = unsent_.empty() || is_trial_unanswered() || is_too_much_unanswered();
	const Time next = is_waiting ? now + window_check_interval : now;
	return std::max(next, paused_until_);
}

} // namespace monitor::fleet
