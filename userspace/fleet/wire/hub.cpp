// SPDX-License-Identifier: MIT
#include "hub.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "base/scanner.h"
#include "base/text.h"
#include "names.h"

namespace monitor::fleet {
namespace {

bool is_this_machine(const std::string &host)
{
	return host == "localhost" || host == "::1" ||
	       (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

[[noreturn]] void refuse_hub(const std::string &text, const char *why)
{
	throw Error("--hub {}: {}; an address is tls://HUB or tls://HUB:PORT", readable(text), why);
}

} // namespace

std::string HubAddress::host_and_port() const
{
	return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
						   : fmt::format("[{}]:{}", host, port);
}

std::string HubAddress::url() const
{
	return (tls ? "tls://" : "nats://") + host_and_port();
}

HubAddress parse_hub(const std::string &text)
{
	HubAddress hub;
	std::string_view rest = text;
	if (rest.starts_with("nats://"))
		hub.tls = false;
	else if (!rest.starts_with("tls://"))
		refuse_hub(text, "it does not start with tls://");
	rest.remove_prefix(rest.find("//") + 2);
	const std::size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;
	if (bracket == std::string_view::npos)
		refuse_hub(text, "']' is missing");
	const std::size_t colon = rest.find(':', bracket);
	hub.host = rest.substr(bracket ? 1 : 0, bracket ? bracket - 1 : colon);
	if (hub.host.empty() || !has_only(hub.host, ".-:"))
		refuse_hub(text, "it names no host");
	if (bracket && bracket + 1 != std::min(colon, rest.size()))
		refuse_hub(text, "something follows ']'");
	if (colon != std::string_view::npos) {
		const char *const end = rest.data() + rest.size();
		const auto [stop, error] = std::from_chars(rest.data() + colon + 1, end, hub.port);
		if (error != std::errc{} || stop != end || hub.port == 0)
			refuse_hub(text, "the port is not a number from 1 to 65535");
	}
	if (!hub.tls && !is_this_machine(hub.host))
		refuse_hub(text, "without TLS only a hub on this machine itself is used (nats://127.0.0.1)");
	return hub;
}

std::vector<HubAddress> parse_hubs(const std::string &text)
{
	std::vector<HubAddress> hubs;
	for (const std::string &hub : split(text)) {
		hubs.push_back(parse_hub(hub));
		if (hubs.back().tls != hubs.front().tls)
			refuse_hub(text, "either all hubs are reached by TLS, or none");
		if (hubs.size() > max_hubs)
			refuse_hub(text, "these are more than 8 hubs");
	}
	return hubs;
}

std::string hubs_text(const std::vector<HubAddress> &hubs)
{
	std::string text;
	for (const HubAddress &hub : hubs)
		text += (text.empty() ? "" : ",") + hub.url();
	return text;
}

std::string hub_problem(const HubAddress &hub, HubProblem problem, std::string_view detail)
{
	const std::string where = hub.host_and_port();
	const std::string why = detail.empty() ? "" : fmt::format(" ({})", readable(std::string(detail)));
	switch (problem) {
	case HubProblem::unreachable:
		return fmt::format("the hub {} cannot be reached{}: does nats-server run there, and does every "
				   "firewall on the way let TCP port {} pass?",
				   where, why, hub.port);
	case HubProblem::handshake:
		return fmt::format(
		    "no TLS connection to the hub {}{}: the authority (--ca, or ca.pem of the keys) must have signed "
		    "the hub's certificate, which must name {}, and the one that is shown to it",
		    where, why, hub.host);
	case HubProblem::wants_tls:
		return fmt::format("the hub {} accepts TLS only{}: use tls://{}", where, why, where);
	case HubProblem::without_tls:
		return fmt::format("the hub {} does not speak TLS{}: its configuration needs a tls section, as "
				   "`monitor fleet init` writes it",
				   where, why);
	case HubProblem::refused:
		return fmt::format("the hub {} refuses this certificate{}: its list of users must have the "
				   "certificate's name; the server's log says more",
				   where, why);
	case HubProblem::lost:
		return fmt::format("the connection to the hub {} is lost{}; it is made again", where, why);
	case HubProblem::protocol:
		break;
	}
	return fmt::format("no connection to the hub {}{}: is it a NATS server?", where, why);
}

unsigned reconnect_delay_ms(unsigned failed, double chance, std::size_t hubs)
{
	const auto count = static_cast<unsigned>(std::max<std::size_t>(hubs, 1));
	const unsigned round = (failed + 1) % count == 0 ? failed / count : 0; // 0: other hubs come first
	const unsigned longest = round >= 6 ? 5000 : 100u << round;
	return longest - static_cast<unsigned>(longest / 2 * std::clamp(chance, 0.0, 1.0));
}

} // namespace monitor::fleet
