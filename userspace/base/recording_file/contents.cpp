// SPDX-License-Identifier: MIT
#include "contents.h"

#include "json_reader.h"
#include "json_writer.h"

namespace monitor::recording_file {

std::optional<Contents> parse(const std::string &untrusted)
{
	return JsonReader::value_of<std::optional<Contents>>(parse_json(untrusted));
}

std::string text_of(Contents contents)
{
	return json_dump(JsonWriter::json_of(contents), 1) + "\n";
}

} // namespace monitor::recording_file
