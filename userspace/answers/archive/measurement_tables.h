// SPDX-License-Identifier: MIT
// Measurements as tables: what there is, figures over runs, two of them beside each other. Printed and drawn by
// tools/monitor/cmd_archive.cpp.
#pragma once

#include <string>
#include <vector>

#include "answers/plot/chart.h"
#include "answers/report/table.h"
#include "entry.h"
#include "figure.h"
#include "listing.h"

namespace monitor::archive {

// One row for each. Text has the columns that fit a terminal, JSON and CSV all.
report::Table list_table(const std::vector<Entry> &entries, const std::string &archive, report::Format format);

// One row for each measurement, one column for each figure.
report::Table history_table(const std::vector<Entry> &entries, const std::vector<Figure> &figures);
// A figure over the measurements in the order of the table: as bars, or where these are too many to look at, as a
// series.
plot::Chart history_chart(const std::vector<Entry> &entries, const Figure &figure, const std::string &subject);
// "2 of 9 recordings lost events or were not completed ...", or "".
std::string history_note(const std::vector<Entry> &entries);

// One row for each figure: both values, what the second has more, and how many times as much it is.
report::Table comparison_table(const Entry &first, const Entry &second, const std::vector<Figure> &figures,
			       report::Format format);

// "name: value" lines of all that is known of a measurement.
std::string entry_text(const Entry &entry, const std::string &archive);

// Computes the figures that an entry does not have yet, and keeps them with the measurement if that can be written.
// Returns sentences about what could not be computed.
std::vector<std::string> complete(Entry &entry, const std::string &archive, const std::vector<Figure> &figures);

// "no measurement has calls named reed": of each figure that is not known of any, because there is no such call.
std::vector<std::string> missing_calls(const std::vector<Entry> &entries, const std::vector<Figure> &figures);

} // namespace monitor::archive
