// SPDX-License-Identifier: MIT
// A directory in which a recording keeps a file for the next one, and what is tried with such a file
// (recording/calibration/own_file.h). Used by test_kept_calibration.cpp and test_kept_factors.cpp.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"

template <class File> struct KeptIn {
	Scratch scratch;
	std::string directory = scratch.path() + "/run";

	File file(const std::string &key = "this machine") const { return File(key, directory); }
	std::string path() const { return std::filesystem::directory_iterator(directory)->path(); }
	void write(const std::string &text) const { std::ofstream(path()) << text; }
	// What was written, but for one change.
	void write(std::string text, const std::string &was, const std::string &is) const
	{
		write(text.replace(text.find(was), was.size(), is));
	}
};

// Others may have written the file that is there, or it is none.
template <class File, class IsRefused> void check_only_own_files(const KeptIn<File> &it, IsRefused is_refused)
{
	const std::string path = it.path();
	for (const mode_t mode : {0602, 0620}) {
		REQUIRE(::chmod(path.c_str(), mode) == 0);
		CHECK(is_refused());
	}
	REQUIRE(::chmod(path.c_str(), 0600) == 0);
	REQUIRE(!is_refused());
	REQUIRE(::chmod(it.directory.c_str(), 0777) == 0);
	CHECK(is_refused());
	REQUIRE(::chmod(it.directory.c_str(), 0755) == 0);
	for (const std::string &owned : {path, it.directory}) {
		if (::geteuid() != 0)
			continue;
		REQUIRE(::chown(owned.c_str(), 12345, 12345) == 0);
		CHECK(is_refused());
		REQUIRE(::chown(owned.c_str(), 0, 0) == 0);
	}
	std::filesystem::rename(path, path + ".real");
	std::filesystem::create_symlink(path + ".real", path);
	CHECK(is_refused());
	std::filesystem::remove(path);
	REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
	CHECK(is_refused());
}
