// SPDX-License-Identifier: MIT
#include "system_clock.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/json_fields.h"

namespace monitor::fleet {
namespace {

std::optional<std::int64_t> signed_field(const nlohmann::json &untrusted_object, const char *name)
{
	const nlohmann::json *field = json_field(untrusted_object, name);
	if (!field || !field->is_number_integer() ||
	    (field->is_number_unsigned() && field->get<std::uint64_t>() > INT64_MAX))
		return {};
	return field->get<std::int64_t>();
}

std::vector<SystemClock::Ptp> ptp_field(const nlohmann::json &untrusted_object)
{
	std::vector<SystemClock::Ptp> all;
	const nlohmann::json *field = json_field(untrusted_object, "ptp");
	if (!field || !field->is_array())
		return all;
	for (const nlohmann::json &each : *field) {
		auto device = text_field(each, "device", SystemClock::max_name);
		if (all.size() == SystemClock::max_ptp)
			break;
		if (device)
			all.push_back({std::move(*device), text_field(each, "name", SystemClock::max_name).value_or(""),
				       signed_field(each, "ahead_ns"), number_field(each, "within_ns").value_or(0)});
	}
	return all;
}

} // namespace

std::string SystemClock::text() const
{
	if (!is_synchronised)
		return "not synchronised";
	return fmt::format("synchronised, at most {} off by its own account",
			   max_error_us < 1000 ? fmt::format("{} us", max_error_us)
					       : fmt::format("{} ms", (max_error_us + 999) / 1000));
}

nlohmann::ordered_json system_clock_json(const SystemClock &clock)
{
	nlohmann::ordered_json json = {{"synchronised", clock.is_synchronised},
				       {"max_error_us", clock.max_error_us},
				       {"estimated_error_us", clock.estimated_error_us},
				       {"frequency_ppb", clock.frequency_ppb},
				       {"tai_s", clock.tai_s}};
	for (const SystemClock::Ptp &ptp : clock.ptp) {
		json["ptp"].push_back({{"device", ptp.device}, {"name", ptp.name}});
		if (ptp.ahead_ns)
			json["ptp"].back().update({{"ahead_ns", *ptp.ahead_ns}, {"within_ns", ptp.within_ns}});
	}
	return json;
}

std::optional<SystemClock> parse_system_clock(const nlohmann::json &untrusted)
{
	const auto max_error = number_field(untrusted, "max_error_us");
	if (!max_error)
		return {};
	SystemClock clock;
	clock.is_synchronised = flag_field(untrusted, "synchronised");
	clock.max_error_us = *max_error;
	clock.estimated_error_us = number_field(untrusted, "estimated_error_us").value_or(0);
	clock.frequency_ppb = signed_field(untrusted, "frequency_ppb").value_or(0);
	clock.tai_s = signed_field(untrusted, "tai_s").value_or(0);
	clock.ptp = ptp_field(untrusted);
	return clock;
}

std::optional<SystemClock> last_system_clock(std::string_view untrusted_lines)
{
	constexpr std::size_t max_line = 4096;
	std::optional<SystemClock> last;
	for (std::size_t end; !last && (end = untrusted_lines.rfind('\n')) != std::string_view::npos;) {
		const std::size_t before = end == 0 ? std::string_view::npos : untrusted_lines.rfind('\n', end - 1);
		const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
		const auto json =
		    parse_json(std::string(untrusted_lines.substr(begin, std::min(end - begin, max_line))));
		if (number_field(json, "version") == 1 && json_field(json, "clock"))
			last = parse_system_clock(*json_field(json, "clock"));
		untrusted_lines = untrusted_lines.substr(0, begin);
	}
	return last;
}

} // namespace monitor::fleet
