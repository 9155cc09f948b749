// SPDX-License-Identifier: MIT
#include "kept_factors.h"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/json.h"
#include "base/recording_file/json_reader.h"
#include "base/recording_file/json_writer.h"
#include "own_file.h"

namespace monitor::card {

FactorsFile::FactorsFile(std::string key, std::string directory)
    : key_(std::move(key)), directory_(std::move(directory)), path_(directory_ + "/factors.json")
{
}

recording_file::CodeFactors FactorsFile::read(std::string &why_not) const
{
	const Fd file = open_own_file(directory_, path_);
	if (!file) {
		if (::access(path_.c_str(), F_OK) == 0)
			why_not = fmt::format("{} may have been written by others, so the cost of the probes is that "
					      "of loops: remove it, and run monitor doctor --calibrate",
					      path_);
		return {};
	}
	const auto kept = recording_file::JsonReader::value_of<KeptFactors>(parse_json(own_text(file)));
	if (!are_possible(kept.factors))
		why_not = fmt::format("{} is damaged, so the cost of the probes is that of loops: run monitor doctor "
				      "--calibrate again",
				      path_);
	else if (kept.key == key_)
		return kept.factors;
	return {};
}

void FactorsFile::write(KeptFactors kept) const
{
	kept.key = key_;
	write_own_file(directory_, path_, json_dump(recording_file::JsonWriter::json_of(kept), 1) + "\n");
}

} // namespace monitor::card
