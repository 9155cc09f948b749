// SPDX-License-Identifier: MIT
// The commands of monitor_core: record and the first reports. tools/quickstart builds it first, because it is small.
#include "base/error.h"
#include "commands.h"
#include "record_commands/last_line.h"
#include "record_commands/live_sinks.h"

namespace monitor {

std::shared_ptr<record::StateSink> live_states(states::Tree)
{
	throw Error("--states: this program is the core of monitor only: build the whole one");
}

std::shared_ptr<record::BlockSink> live_statistics(const record::StatisticsOptions &)
{
	throw Error("--statistics: this program is the core of monitor only: build the whole one");
}

std::span<const Command> commands()
{
	static constexpr Command core[] = {
	    {"record", add_record, purpose::record},
	    {"report", add_report, purpose::look},
	    {"list", add_list, purpose::look},
	    {"doctor", add_core_doctor, purpose::check},
	};
	return core;
}

std::span<const reports::Report *const> all_reports()
{
	static constexpr const reports::Report *core[] = {&reports::cpu_report, &reports::syscalls_report,
							  &reports::offcpu_report, &reports::help_report};
	return core;
}

void print_first_sentence(const std::string &, const analyze::RecordingInfo &) {}

} // namespace monitor
