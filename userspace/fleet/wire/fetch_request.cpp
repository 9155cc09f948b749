// SPDX-License-Identifier: MIT
#include "fetch_request.h"

#include <charconv>

#include <fmt/format.h>

#include "base/json.h"
#include "base/json_fields.h"
#include "names.h"

namespace monitor::fleet {
namespace {

constexpr std::size_t max_request_bytes = 4096, max_nonce_chars = 64, store_digits = 16;

} // namespace

std::string fetch_request_text(const FetchRequest &request)
{
	return json_dump(nlohmann::ordered_json{{"version", 1},
						{"run", request.run},
						{"nonce", request.nonce},
						{"store", fmt::format("{:016x}", request.store)},
						{"from_ns", request.from_ns},
						{"to_ns", request.to_ns},
						{"list", request.is_list}});
}

std::optional<FetchRequest> parse_fetch_request(std::string_view untrusted_text)
{
	if (untrusted_text.size() > max_request_bytes)
		return {};
	const nlohmann::json json = parse_json(std::string(untrusted_text));
	const auto run = text_field(json, "run", max_nonce_chars), nonce = text_field(json, "nonce", max_nonce_chars),
		   store = text_field(json, "store", store_digits);
	const auto from = number_field(json, "from_ns", UINT64_MAX), to = number_field(json, "to_ns", UINT64_MAX);
	if (number_field(json, "version") != 1 || !run || !is_run_name(*run) || !nonce || !store || !from || !to ||
	    *from > *to)
		return {};
	const auto number = parse_hex64(*store);
	if (!number)
		return {};
	return FetchRequest{*run, *nonce, *number, *from, *to, flag_field(json, "list")};
}

std::optional<std::uint64_t> parse_hex64(std::string_view untrusted_text)
{
	std::uint64_t number = 0;
	if (untrusted_text.empty())
		return number;
	const char *const end = untrusted_text.data() + untrusted_text.size();
	const auto read = std::from_chars(untrusted_text.data(), end, number, 16);
	if (untrusted_text.size() != store_digits || read.ec != std::errc{} || read.ptr != end)
		return {};
	return number;
}

} // namespace monitor::fleet
