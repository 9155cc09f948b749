// SPDX-License-Identifier: MIT
#include "contents.h"

#include "base/fd.h"
#include "base/limits.h"
#include "base/this_boot.h"
#include "json_reader.h"
#include "json_writer.h"

namespace monitor::recording_file {

Contents::Contents() = default;
Contents::Contents(const Contents &) = default;
Contents::Contents(Contents &&) noexcept = default;
Contents &Contents::operator=(const Contents &) = default;
Contents &Contents::operator=(Contents &&) noexcept = default;
Contents::~Contents() = default;

bool Contents::is_of_this_boot() const
{
	return !boot_id.empty() && boot_id == this_boot();
}

std::optional<Contents> parse(const std::string &untrusted)
{
	return JsonReader::value_of<std::optional<Contents>>(parse_json(untrusted));
}

std::string text_of(Contents contents)
{
	return json_dump(JsonWriter::json_of(contents), 1) + "\n";
}

std::string text_in(const std::string &directory)
{
	return read_text(directory + '/' + file_name, max_description_file_bytes);
}

std::optional<Contents> contents_in(const std::string &directory)
{
	return parse(text_in(directory));
}

} // namespace monitor::recording_file
