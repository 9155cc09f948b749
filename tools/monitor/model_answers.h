// SPDX-License-Identifier: MIT
// What `monitor model` prints. Names and reasons in a model may be any bytes.
#pragma once

#include "reading/model/model.h"
#include "reading/model/structure.h"

namespace monitor {

void print_model(const model::Model &model, bool json);
// Adds how long a replay of each sample set takes to the first line.
void add_replayed(model::Model &model);
// Return the exit code.
int print_comparison(const model::Model &model, const model::Recording &recording, bool json);
int print_record_options(const model::Model &model, bool json);

} // namespace monitor
