// SPDX-License-Identifier: MIT
#include "snapshot_answer.h"

#include "base/json.h"
#include "base/json_fields.h"
#include "fleet/wire/snapshot_news.h"

namespace monitor::agent {
namespace {

constexpr std::size_t max_sentence_bytes = 4096;

} // namespace

fleet::CommandAnswer snapshot_answer(std::string_view untrusted_reply, std::uint64_t issued_ns)
{
	const nlohmann::json reply = parse_json(std::string(untrusted_reply));
	fleet::CommandAnswer answer;
	answer.kind = fleet::CommandAnswer::Kind::ended;
	const auto number = number_field(reply, "number"), frozen = number_field(reply, "frozen_ns");
	answer.exit_code = number && frozen ? 0 : 1;
	if (number && frozen) {
		answer.snapshot = fleet::snapshot_name(*number);
		answer.realtime_ns = *frozen;
		answer.late_ns = static_cast<std::int64_t>(*frozen) - static_cast<std::int64_t>(issued_ns);
	}
	const char *const member = answer.exit_code == 0 ? "text" : "error";
	answer.reason = text_field(reply, member, max_sentence_bytes)
			    .value_or("the flight recorder ended before it took the snapshot");
	return answer;
}

} // namespace monitor::agent
