// SPDX-License-Identifier: MIT
// The files of page/, compiled in (view.cmake). A module comes after those that it imports.
#pragma once

#include <span>
#include <string_view>

namespace monitor::view {

struct PageFile {
	std::string_view name, type, text;
};

extern const std::span<const PageFile> page_files;

} // namespace monitor::view
