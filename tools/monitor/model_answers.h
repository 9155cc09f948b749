// SPDX-License-Identifier: MIT
// What `monitor model` prints.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "reading/model/model.h"
#include "reading/model/structure.h"

namespace monitor {

// {about, cpus, roles: [{name, mode, threads, activities}], because}
nlohmann::ordered_json model_json(const model::Model &model);
// Adds how long a replay of each sample set takes to the first line.
void add_replayed(model::Model &model);
// Return the exit code.
int print_comparison(const model::Model &model, const model::Recording &recording, bool json);
int print_record_options(const model::Model &model, bool json);

} // namespace monitor
