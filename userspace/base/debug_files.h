// SPDX-License-Identifier: MIT
// Finds the separate debug file of a stripped program (GDB manual, "Separate Debug Files") and verifies that it
// matches: by build id, or without one by the checksum of .gnu_debuglink.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "elf_image.h"
#include "fd.h"

namespace monitor {

struct OpenedImage {
	Fd fd;
	struct stat status;
	std::optional<ElfImage> image;
};

// The file at `path` if it has this build id.
std::optional<OpenedImage> open_by_id(const std::string &path, const std::string &id, int flags = 0);

// Whether it is long enough to be a path, and hexadecimal.
bool is_build_id(const std::string &id);
// DIRECTORY/.build-id/12/3456.debug
std::string path_by_id(const std::string &directory, const std::string &id);

// .gnu_debuglink: a name and the CRC-32 of the file; .gnu_debugaltlink: a name and its build id.
struct FileLink {
	std::string name;            // empty: there is none
	std::vector<std::byte> rest; // the checksum or the build id
};
FileLink link_in(const ElfImage &image, const char *section);

struct Stripped {
	std::string path, build_id;
	FileLink link; // .gnu_debuglink
};

// Candidate paths. In each of `directories`: by build id, and by the file's own name, with and without .debug. The name
// in .gnu_debuglink: beside the file, in .debug there, and in each of `directories`, also below the path of the file's
// directory.
std::vector<std::string> debug_file_paths(const Stripped &file, const std::vector<std::string> &directories);

// The file at `path` if it belongs to the stripped one.
std::optional<OpenedImage> open_debug_file(const std::string &path, const Stripped &file);

} // namespace monitor
