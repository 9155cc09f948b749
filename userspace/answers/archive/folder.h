// SPDX-License-Identifier: MIT
// The files of an archive, and how concurrent writers change them.
// ARCHIVE/project/project.json            figures and note of the project, if there are any
// ARCHIVE/project/experiment/             folders between are experiments
// ARCHIVE/project/experiment/measurement/measurement.json
// ARCHIVE/project/experiment/measurement/trace/
// There is no index, so ordinary tools may move, copy or remove folders. A folder with measurement.json is a
// measurement.
#pragma once

#include <cstddef>
#include <string>

#include "base/fd.h"

namespace monitor::archive {

inline constexpr const char *measurement_file = "measurement.json", *project_file = "project.json",
			    *experiment_file = "experiment.json", *trace_folder = "trace";
inline constexpr const char *own_files[] = {measurement_file, project_file, experiment_file};
// Limits of the JSON files: of a measurement, of a project or an experiment.
inline constexpr std::size_t max_measurement_bytes = 64 << 10, max_group_bytes = 1 << 20;
inline constexpr const char *adding_prefix = ".adding-"; // a measurement that is being added

bool is_measurement(const std::string &folder);

// Excludes other writers of this folder's JSON files while it is open. Throws Error.
Fd lock_folder(const std::string &folder);

// Replaces the file atomically; readable by those who may read the folder. Throws Error, also if the text is not
// smaller than `max_bytes`: it could not be read again.
void replace_in_folder(const std::string &folder, const std::string &file, const std::string &text,
		       std::size_t max_bytes);

} // namespace monitor::archive
