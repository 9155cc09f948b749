// SPDX-License-Identifier: MIT
#include "date_text.h"

#include <ctime>

namespace monitor {
namespace {

std::string date_of(const std::tm *parts, const char *format)
{
	char text[64];
	return {text, parts ? std::strftime(text, sizeof text, format, parts) : 0};
}

} // namespace

std::string local_date(std::int64_t seconds, const char *format)
{
	const std::time_t time = seconds;
	std::tm parts{};
	return date_of(::localtime_r(&time, &parts), format);
}

std::string utc_date(std::int64_t seconds, const char *format)
{
	const std::time_t time = seconds;
	std::tm parts{};
	return date_of(::gmtime_r(&time, &parts), format);
}

} // namespace monitor
