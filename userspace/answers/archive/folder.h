// SPDX-License-Identifier: MIT
// The files of an archive, and how they change without two writers destroying each other's work.
//
//     ARCHIVE/project/project.json            figures and note of the project, if there are any
//     ARCHIVE/project/experiment/             folders between are experiments
//     ARCHIVE/project/experiment/measurement/measurement.json
//     ARCHIVE/project/experiment/measurement/trace/
//
// There is no index: a folder that is moved, copied or removed with ordinary tools is in the archive where it is then.
// A folder with measurement.json is a measurement.
#pragma once

#include <cstddef>
#include <string>

#include "base/fd.h"

namespace monitor::archive {

inline constexpr const char *measurement_file = "measurement.json", *project_file = "project.json",
			    *experiment_file = "experiment.json", *trace_folder = "trace";
inline constexpr const char *own_files[] = {measurement_file, project_file, experiment_file};
// The JSON files are smaller than these: of a measurement, of a project or an experiment.
inline constexpr std::size_t max_measurement_bytes = 64 << 10, max_group_bytes = 1 << 20;
inline constexpr const char *adding_prefix = ".adding-"; // a measurement that is being added

bool is_measurement(const std::string &folder);

// No other writer of this folder's JSON files while it lives. Throws Error.
Fd lock_folder(const std::string &folder);

// Writes the file as a whole, in one step that a reader sees or does not, for those who may read the folder. Throws
// Error, also if the text does not have fewer bytes than this: it could not be read again.
void replace_in_folder(const std::string &folder, const std::string &file, const std::string &text,
		       std::size_t max_bytes);

} // namespace monitor::archive
