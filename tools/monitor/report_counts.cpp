// SPDX-License-Identifier: MIT
#include "report_counts.h"

#include <fmt/format.h>

#include "answers/report/counts_table.h"
#include "base/error.h"
#include "terminal.h"

namespace monitor {

void report_counts(const ReportArguments &arguments, trace::Trace &trace, const analyze::RecordingInfo &info)
{
	if (info.counts.empty())
		throw Error(info.complete
				? "this recording counted nothing: record with --count NAME=EXPRESSION"
				: "this recording was not completed, so its totals are unknown; the table `count` "
				  "of `monitor query` has what it recorded with --every");
	if (!arguments.selection.is_all())
		throw Error("counts are those of the whole recording: leave out the selection");
	report::Table table = arguments.by == "cpu"    ? report::counts_by_cpu(info)
			      : arguments.by == "time" ? report::counts_by_time(trace, info)
						       : report::counts_table(info);
	if (!arguments.sort.empty())
		table.sort_by(table.column(arguments.sort));
	if (arguments.top)
		table.keep_top(arguments.top);
	if (arguments.json)
		fmt::print("{{\"rows\": {}}}\n", report::to_json(table));
	else if (arguments.csv)
		fmt::print("{}", report::to_csv(table));
	else
		fmt::print("{}\ncounted for {}{}\n", report::to_text(table, terminal_width()),
			   report::duration_text(static_cast<double>(info.counted_ns)),
			   info.too_deep()
			       ? fmt::format("; {} events in too many nested probes were lost, and are in no count",
					     info.too_deep())
			       : "");
}

} // namespace monitor
