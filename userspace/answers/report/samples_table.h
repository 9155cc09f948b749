// SPDX-License-Identifier: MIT
// Answers "what were the CPUs doing when all were sampled": a row per process from SampleFold, and the spread of the
// answers' times.
#pragma once

#include <string>

#include "reading/analyze/samples.h"
#include "table.h"

namespace monitor::report {

Table samples_table(const analyze::SampleFold &fold);

// How many CPUs answered, and the spread of their times.
std::string samples_text(const analyze::SampleFold &fold, const trace::Clock &clock);
std::string samples_json(const analyze::SampleFold &fold, const trace::Clock &clock);

} // namespace monitor::report
