// SPDX-License-Identifier: MIT
#include "state_streams.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <sys/sysinfo.h>

#include "base/fd.h"

namespace monitor::record {
namespace {

std::vector<std::uint32_t> online_cpus()
{
	std::vector<std::uint32_t> cpus;
	const auto configured = static_cast<std::uint32_t>(::get_nprocs_conf());
	const std::string online = read_text("/sys/devices/system/cpu/online"); // "0-3,6"
	for (std::size_t at = 0; at < online.size() && online[at] >= '0' && online[at] <= '9';) {
		char *end;
		const auto first = static_cast<std::uint32_t>(std::strtoul(online.c_str() + at, &end, 10));
		const auto last = *end == '-' ? static_cast<std::uint32_t>(std::strtoul(end + 1, &end, 10)) : first;
		for (std::uint32_t cpu = first; cpu <= std::min(last, configured - 1); ++cpu)
			cpus.push_back(cpu);
		at = static_cast<std::size_t>(end - online.c_str()) + (*end == ',');
	}
	return cpus;
}

} // namespace

StateStreams::StateStreams(const Options &options, const std::array<std::uint8_t, 16> &uuid, Drain &drain,
			   const ControlStream &control, std::vector<std::string> &names)
    : options_(options)
{
	const auto number = static_cast<StreamNumber>(names.size());
	names.emplace_back("states");
	written_ = std::make_unique<ControlStream>(
	    uuid, [&drain, number](const std::byte *block) { drain.push_own(number, block, true, false); }, number);
	drain.set_sink(*options_.states, names, options_.writes_tokens);
	if (!options_.writes_tokens)
		listed_ = std::make_unique<ControlStream>(
		    uuid, [&drain](const std::byte *block) { drain.push_own(0, block, false, true); });
	drain.set_shown(listed_ ? *listed_ : control);
}

void StateStreams::start(LiveStart start, bool has_card, RecordingFile &file)
{
	if (has_card)
		online_ = online_cpus();
	file.states(*options_.states, online_, nullptr);
	start.recording = file.text();
	start.written = written_.get();
	options_.states->start(start);
	if (!options_.writes_tokens)
		file.no_tokens();
}

void StateStreams::end(RecordingFile &file, const std::function<void(const std::string &)> &tell)
{
	const LiveEnd end = options_.states->finish();
	written_->flush();
	file.states(*options_.states, online_, &end);
	for (const std::string &doubt : end.doubts)
		tell(doubt);
}

} // namespace monitor::record
