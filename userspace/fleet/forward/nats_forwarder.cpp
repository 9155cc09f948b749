// SPDX-License-Identifier: MIT
#include "nats_forwarder.h"

#include <charconv>

#include "fleet/wire/names.h"

namespace monitor::fleet {
namespace {

constexpr auto unreadable_interval = std::chrono::seconds(10);

} // namespace

NatsForwarder::NatsForwarder(const ConnectionOptions &hub, const std::string &host,
			     std::function<void(const std::string &)> report)
    : data_subject_(stored_subject_of("data", host)), file_subject_(stored_subject_of("file", host)),
      inbox_(make_inbox(host)), report_(std::move(report)),
      connection_(hub, {[this] { opened(); }, [this](const std::string &why) { lost(why); }, report_})
{
	connection_.subscribe(inbox_ + ".*", [this](const Connection::Message &message) { take(message); });
}

void NatsForwarder::opened()
{
	const std::lock_guard lock(mutex_);
	received_.is_new_connection = true;
	is_open_ = true;
	arrived_.notify_all();
}

void NatsForwarder::lost(const std::string &why)
{
	{
		const std::lock_guard lock(mutex_);
		is_open_ = false;
	}
	if (report_)
		report_(why);
}

bool NatsForwarder::is_connected() const
{
	const std::lock_guard lock(mutex_);
	return is_open_ && !received_.is_new_connection && connection_.is_connected();
}

NatsForwarder::~NatsForwarder()
{
	connection_.stop_receiving();
}

void NatsForwarder::take(const Connection::Message &message)
{
	if (message.subject.size() <= inbox_.size() + 1)
		return;
	const std::string_view text = message.subject.substr(inbox_.size() + 1);
	std::uint64_t number = 0;
	if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{})
		return;
	Answer answer;
	std::string why;
	const bool is_answer = !message.no_responders && decode_answer(message.data, answer, why);
	if (!is_answer && !message.no_responders)
		report_unreadable(why);
	const std::lock_guard lock(mutex_);
	if (message.no_responders)
		received_.no_subscriber.push_back(number);
	else if (is_answer)
		received_.answers.emplace_back(number, std::move(answer));
	arrived_.notify_all();
}

// Called by the receiving thread only.
void NatsForwarder::report_unreadable(const std::string &why)
{
	const auto now = std::chrono::steady_clock::now();
	if (!report_ || (unreadable_ && now - *unreadable_ < unreadable_interval))
		return;
	unreadable_ = now;
	report_("the collector's answer cannot be read: " + why +
		"; use the same version of monitor here and at the collector");
}

bool NatsForwarder::send(MessageKind kind, std::uint64_t number, std::span<const std::byte> message)
{
	return connection_.publish(kind == MessageKind::batch ? data_subject_ : file_subject_, message,
				   inbox_ + '.' + std::to_string(number));
}

Forwarder::Received NatsForwarder::receive_until(std::chrono::steady_clock::time_point time)
{
	std::unique_lock lock(mutex_);
	arrived_.wait_until(lock, time, [&] {
		return is_woken_ || received_.is_new_connection || !received_.answers.empty() ||
		       !received_.no_subscriber.empty();
	});
	is_woken_ = false;
	return std::exchange(received_, {});
}

void NatsForwarder::wake()
{
	const std::lock_guard lock(mutex_);
	is_woken_ = true;
	arrived_.notify_all();
}

} // namespace monitor::fleet
