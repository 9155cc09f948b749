// SPDX-License-Identifier: MIT
// A directory of a test's own, gone afterwards.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

class Scratch {
public:
	Scratch()
	{
		if (!::mkdtemp(path_.data()))
			std::abort();
	}
	~Scratch()
	{
		std::error_code ignored;
		std::filesystem::remove_all(path_, ignored);
	}
	Scratch(const Scratch &) = delete;
	Scratch &operator=(const Scratch &) = delete;

	const std::string &path() const { return path_; }

private:
	std::string path_ = (std::filesystem::temp_directory_path() / "monitor-test-XXXXXX").string();
};
