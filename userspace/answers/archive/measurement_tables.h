// SPDX-License-Identifier: MIT
// Measurements as tables: lists, figures over runs, comparisons of two. Printed and drawn by
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

// A row per measurement. Text has the columns that fit a terminal, JSON and CSV all.
report::Table list_table(const std::vector<Entry> &entries, const std::string &archive, report::Format format);

// A row per measurement, a column per figure.
report::Table history_table(const std::vector<Entry> &entries, const std::vector<Figure> &figures);
// A figure over the measurements in the table's order: as bars, or as a series if they are many.
plot::Chart history_chart(const std::vector<Entry> &entries, const Figure &figure, const std::string &subject);
// "2 of 9 recordings lost events or were not completed ...", or "".
std::string history_note(const std::vector<Entry> &entries);

// A row per figure: both values, their difference and their ratio.
report::Table comparison_table(const Entry &first, const Entry &second, const std::vector<Figure> &figures,
			       report::Format format);

// "name: value" lines of a measurement's metadata.
std::string entry_text(const Entry &entry, const std::string &archive);

// Computes the figures that an entry lacks, and stores them with the measurement if possible. Returns messages about
// what could not be computed.
std::vector<std::string> add_missing_figures(Entry &entry, const std::string &archive,
					     const std::vector<Figure> &figures);

// "no measurement has calls named reed": for each figure without a value because no such call exists.
std::vector<std::string> missing_calls(const std::vector<Entry> &entries, const std::vector<Figure> &figures);

} // namespace monitor::archive
