// SPDX-License-Identifier: MIT
#include "link.h"

#include <cerrno>

#include <sys/socket.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "fleet/wire/names.h"

namespace monitor::agent {
namespace {

constexpr int queued_bytes = 4 << 20; // some of the largest envelopes

} // namespace

std::string coordinated_runs_text(const std::vector<CoordinatedRun> &runs)
{
	auto all = nlohmann::json::array();
	for (const CoordinatedRun &each : runs)
		all.push_back({{"run", each.run}, {"recorder", each.recorder}, {"snapshots", each.snapshots}});
	return json_dump(all);
}

std::vector<CoordinatedRun> parse_coordinated_runs(std::string_view text)
{
	std::vector<CoordinatedRun> runs;
	for (const nlohmann::json &each : parse_json(std::string(text))) {
		const auto run = text_field(each, "run", fleet::max_report_bytes);
		const auto recorder = number_field(each, "recorder"), snapshots = number_field(each, "snapshots");
		if (run && fleet::is_run_name(*run) && recorder && snapshots)
			runs.push_back({*run, static_cast<pid_t>(*recorder), *snapshots});
	}
	return runs;
}

std::pair<Fd, Fd> make_link()
{
	int ends[2];
	if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		throw Error(errno, "cannot connect the agent's parts");
	std::pair<Fd, Fd> link{Fd(ends[0]), Fd(ends[1])};
	for (const int end : ends)
		if (::setsockopt(end, SOL_SOCKET, SO_SNDBUFFORCE, &queued_bytes, sizeof queued_bytes) < 0)
			::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &queued_bytes,
				     sizeof queued_bytes); // as far as permitted
	return link;
}

} // namespace monitor::agent
