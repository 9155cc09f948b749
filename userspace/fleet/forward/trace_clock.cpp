// SPDX-License-Identifier: MIT
#include "trace_clock.h"

#include <charconv>
#include <string_view>

namespace monitor::fleet {
namespace {

__extension__ typedef __int128 Wide;

constexpr Wide ns_in_s = 1'000'000'000, max_ticks = ~std::uint64_t(0);

// "NAME = NUMBER;"
template <class Number> bool parse_field(std::string_view text, std::string_view name, Number &number)
{
	for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
		std::string_view rest = text.substr(at + name.size());
		if (!rest.starts_with(" = ") || (at > 0 && text[at - 1] != '\t' && text[at - 1] != ' '))
			continue;
		rest.remove_prefix(3);
		const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), number);
		return read.ec == std::errc{} && read.ptr != rest.data() + rest.size() && *read.ptr == ';';
	}
	return false;
}

} // namespace

std::optional<TraceClock> TraceClock::parse(const std::string &untrusted_metadata)
{
	const std::size_t at = untrusted_metadata.find("\nclock {");
	if (at == std::string::npos)
		return {};
	const std::string_view text(
	    untrusted_metadata.data() + at,
	    untrusted_metadata.find('}', at) == std::string::npos ? 0 : untrusted_metadata.find('}', at) - at);
	TraceClock clock;
	constexpr std::int64_t max_offset_s = 1ll << 40; // plausible; keeps products within 128 bits
	if (!parse_field(text, "freq", clock.frequency_hz) || !parse_field(text, "offset_s", clock.offset_s) ||
	    !parse_field(text, "offset", clock.offset) || clock.frequency_hz == 0 || clock.offset_s > max_offset_s ||
	    clock.offset_s < -max_offset_s)
		return {};
	return clock;
}

std::uint64_t TraceClock::ticks_of(std::uint64_t real_ns) const
{
	const Wide since_zero = Wide(real_ns) - Wide(offset_s) * ns_in_s;
	const Wide ticks = since_zero * Wide(frequency_hz) / ns_in_s - Wide(offset);
	return ticks < 0 ? 0 : ticks > max_ticks ? ~std::uint64_t(0) : static_cast<std::uint64_t>(ticks);
}

std::uint64_t TraceClock::real_ns_of(std::uint64_t ticks) const
{
	const Wide ns = Wide(offset_s) * ns_in_s + (Wide(ticks) + Wide(offset)) * ns_in_s / Wide(frequency_hz);
	return ns < 0 ? 0 : ns > max_ticks ? ~std::uint64_t(0) : static_cast<std::uint64_t>(ns);
}

} // namespace monitor::fleet
