// SPDX-License-Identifier: MIT
// The output of converters: a file, or standard output, written in large pieces.
// A regular file is written under a temporary name beside it, and renamed in finish(): a failed conversion leaves the
// old file, and two at a time do not mix. Invariant: what was appended is in the file after finish(); an error while
// writing is an Error with its path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace monitor::exporting {

class Output {
public:
	// "-": standard output. An existing file is overwritten. Throws Error, like all functions here.
	explicit Output(const std::string &path);
	~Output();
	Output(const Output &) = delete;
	Output &operator=(const Output &) = delete;

	void append(std::string_view bytes);
	void finish();

	std::uint64_t size_bytes() const { return size_bytes_; }
	bool is_standard() const { return path_ == "-"; }
	const std::string &path() const { return path_; }

private:
	static constexpr std::size_t buffer_bytes = 1u << 20;

	void flush();

	std::string path_;
	std::string target_, temporary_; // "": written in place
	Fd file_;
	std::string buffer_;
	std::uint64_t size_bytes_ = 0;
};

} // namespace monitor::exporting
