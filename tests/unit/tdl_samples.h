// SPDX-License-Identifier: MIT
// Descriptions in TDL and files of a few bytes, read in memory: what test_tdl_*.cpp compare.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "reading/ctf/field_text.h"
#include "reading/events/merge.h"
#include "reading/tdl/read.h"

namespace monitor::trace::tdl {

// What is wrong with a description: "LINE:COLUMN: sentence", or "none".
inline std::string wrong(const std::string &text)
{
	Model model;
	std::string why;
	return read_text(text, model, why) ? "none" : why;
}

// The lines of a record that is the only one of its description.
inline std::string record(const std::string &lines)
{
	return "trace t\nrecord r\n" + lines + "\nend\n";
}

// Bytes that are written "01 02 'text' ff".
inline std::vector<std::byte> bytes_of(const std::string &text)
{
	std::vector<std::byte> made;
	for (std::size_t i = 0; i < text.size(); ++i) {
		if (text[i] == ' ')
			continue;
		if (text[i] == '\'') {
			while (text[++i] != '\'')
				made.push_back(static_cast<std::byte>(text[i]));
			continue;
		}
		made.push_back(static_cast<std::byte>(std::stoul(text.substr(i, 2), nullptr, 16)));
		++i;
	}
	return made;
}

inline std::string fields_of(const Event &event)
{
	LineBuffer line;
	std::uint64_t at_bits = event.at_bits;
	FieldText(event.cls->payload, false).put(event.view(), at_bits, line);
	return std::string(line.view());
}

// The bytes must outlive it. Throws Error: what is wrong with the description, or that it is none of these bytes.
inline Trace open(const std::string &text, const std::vector<std::byte> &bytes)
{
	ModelFile source{"t.tdl", {}};
	std::string why;
	if (!read_text(text, source.model, why))
		throw Error(why);
	const auto description = compile_for(source, "file", bytes).description;
	std::vector<std::unique_ptr<Stream>> streams;
	streams.push_back(std::make_unique<Stream>("file", description, bytes));
	return Trace(description, std::move(streams));
}

// Every event as "TIME NAME FIELDS", every gap as "gap", then the problems as "PLACE at byte N: sentence"; or what
// Error says.
inline std::string read(const std::string &text, const std::vector<std::byte> &bytes)
{
	std::string made;
	try {
		Trace trace = open(text, bytes);
		merge(
		    trace, {},
		    [&](const Event &event) {
			    made += std::to_string(event.time) + ' ' + event.cls->name + ' ' + fields_of(event) + '\n';
		    },
		    [&](const StreamInfo &, std::uint64_t, std::uint64_t, std::uint64_t) { made += "gap\n"; });
		for (const Problem &problem : trace.problems().kept())
			made += problem.text().substr(6) + '\n'; // after "file, "
	} catch (const Error &error) {
		return error.what();
	}
	return made;
}

inline std::string read(const std::string &text, const std::string &bytes)
{
	return read(text, bytes_of(bytes));
}

} // namespace monitor::trace::tdl
