// SPDX-License-Identifier: MIT
// Any bytes as what arrives over the network at an agent or at `monitor fleet`: an envelope, the text of one that the
// operator signed, presence, an answer, news of a snapshot, a request for a trace; and what an agent's parts take from
// a recorder, which is of another user: its reply, its flight.json. Refused in words, or bounded; what is taken can be
// sent and is read as the same. Input: one byte for which, then the message.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/escape.h"
#include "base/json.h"
#include "fleet/agent/snapshot_answer.h"
#include "fleet/wire/allowed_options.h"
#include "fleet/wire/control.h"
#include "fleet/wire/fetch_request.h"
#include "fleet/wire/forward.h"
#include "fleet/wire/names.h"
#include "fleet/wire/reports.h"
#include "fleet/wire/snapshot_news.h"
#include "recording/flight/begun_snapshots.h"

using namespace monitor;
using namespace monitor::fleet;

namespace {

constexpr std::uint64_t now_ns = 1'800'000'000'000'000'000;

void require(bool condition)
{
	if (!condition)
		std::abort();
}

const SigningKey &operators_key()
{
	static const SigningKey key;
	return key;
}

// What the privileged process would do with it.
void obey(const ControlMessage &message)
{
	require(is_run_name(message.run) && message.nonce.size() == nonce_digits);
	require(std::ranges::find(message.hosts, "h") != message.hosts.end());
	require(start_delay_ns(message, now_ns) <= max_lead_ns);
	require(parse_hex64(message.store).has_value() && (!message.to_ns || message.from_ns <= message.to_ns));
	require(message.forward.empty() || parse_forward(message.forward));
	Allowed allowed;
	allowed.options = {all_options().begin(), all_options().end()};
	allowed.max_bytes = 1 << 30;
	const RecordWords words = allowed_words(message.options, allowed);
	for (const std::string &word : words.words)
		require(word.starts_with("--") && word.size() < 20000 && !word.starts_with("--output") &&
			!word.starts_with("--force") && word.find('\n') == std::string::npos);
	ControlMessage again = message;
	if (const std::string sealed = signed_control(again, operators_key()); !sealed.empty())
		require(check_control(sealed, operators_key().public_key(), "h", now_ns).refusal.empty());
}

void check(std::string_view envelope, bool is_signed)
{
	const CheckedControl checked = check_control(envelope, operators_key().public_key(), "h", now_ns);
	require(is_signed || !checked.refusal.empty());
	require(checked.is_authentic || !checked.refusal.empty());
	require(is_utf8(checked.refusal));
	if (checked.refusal.empty())
		obey(checked.message);
}

void look_at_news(const std::string &text)
{
	const auto news = parse_snapshot_news(text);
	if (!news)
		return;
	require(is_run_name(news->run) && news->trigger.size() <= max_trigger_name && is_utf8(news->trigger));
	require(news->cause_host.empty() || is_host_name(news->cause_host));
	const std::string again = snapshot_news_text(*news);
	require(again.size() <= max_news_bytes && snapshot_news_text(*parse_snapshot_news(again)) == again);
}

void look_at_recorders_words(const std::string &text)
{
	const CommandAnswer answer = agent::snapshot_answer(text, now_ns);
	require(answer.snapshot.size() < 32 && answer.reason.size() <= 4096 &&
		answer.snapshot.empty() == (answer.exit_code != 0));
	require(parse_command_answer(command_answer_text(answer)).has_value());
	const auto begun = record::parse_begun_snapshots(text);
	require(begun.size() <= record::BegunSnapshots::max_kept);
	record::BegunSnapshots kept;
	for (const record::BegunSnapshot &each : begun)
		kept.add(each);
	require(record::parse_begun_snapshots(json_dump(nlohmann::ordered_json{{"begun", kept.json()}})).size() ==
		begun.size());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	if (size == 0)
		return 0;
	const std::string text(reinterpret_cast<const char *>(data + 1), size - 1);
	switch (data[0] % 7) {
	case 0:
		check(text, false);
		break;
	case 1:
		check(nlohmann::json({{"message", text}, {"signature", to_base64(operators_key().sign(text))}})
			  .dump(-1, ' ', false, nlohmann::json::error_handler_t::ignore),
		      true);
		break;
	case 2:
		if (const auto presence = parse_presence(text))
			require(presence_text(*parse_presence(presence_text(*presence))) == presence_text(*presence));
		break;
	case 3:
		look_at_news(text);
		break;
	case 4:
		look_at_recorders_words(text);
		break;
	case 5:
		if (const auto request = parse_fetch_request(text)) {
			require(is_run_name(request->run) && request->from_ns <= request->to_ns);
			require(fetch_request_text(*parse_fetch_request(fetch_request_text(*request))) ==
				fetch_request_text(*request));
		}
		break;
	default:
		if (const auto answer = parse_command_answer(text))
			require(command_answer_text(*parse_command_answer(command_answer_text(*answer))) ==
				command_answer_text(*answer));
	}
	static_cast<void>(from_base64(text));
	static_cast<void>(parse_subject(text));
	return 0;
}
