// SPDX-License-Identifier: MIT
#include "read.h"

#include <algorithm>
#include <cstring>

#include "base/data_files.h"
#include "base/error.h"
#include "base/fd.h"
#include "lexer.h"
#include "other_files.h"
#include "parser.h"
#include "reading/ctf/record_layout.h"

namespace monitor::trace::tdl {
namespace {

// A shorter magic does not identify a file.
constexpr std::size_t min_magic_bytes = 4;
constexpr const char *kind = "descriptions", *extension = "tdl"; // in share/

bool is_found_in(const Magic &magic, std::span<const std::byte> bytes)
{
	return bytes.size() >= magic.bytes.size() && magic.at_byte <= bytes.size() - magic.bytes.size() &&
	       std::memcmp(bytes.data() + magic.at_byte, magic.bytes.data(), magic.bytes.size()) == 0;
}

ModelFile load_file(const std::string &path)
{
	ModelFile made{path, {}};
	std::string why;
	if (!read_text(read_file(path, max_text_bytes + 1), made.model, why))
		throw Error(path + ":" + why);
	return made;
}

// False for another version of the format, whose records would look damaged. Formats with headers have constants for
// that.
bool may_be_records(const RecordLayout &layout, std::span<const std::byte> bytes)
{
	const View view{bytes.data(), bytes.size() * 8, nullptr};
	const RecordSize &size = layout.size;
	return layout.file.has_value || layout.segment.has_value || layout.choose(view) || layout.is_cut_off(view) ||
	       !size.is_known || size.has_part || size.bits(view) == 0 || view.end_bits % size.bits(view) == 0;
}

std::string names_of_shipped()
{
	std::string names;
	for (const std::string &name : share_names(kind, extension))
		names += (names.empty() ? "" : ", ") + name;
	return names;
}

} // namespace

bool read_text(std::string_view untrusted_text, Model &model, std::string &why)
{
	try {
		model = parse(untrusted_text);
		compile(model, nullptr);
		for (const Magic &magic : model.magics)
			compile(model, &magic);
		return true;
	} catch (const ParseError &error) {
		why = error.position().in_numbers() + ": " + error.what();
		return false;
	}
}

ModelFile load(const std::string &name)
{
	const std::string path = file_or_share(name, kind, extension);
	if (!path.empty())
		return load_file(path);
	throw Error("there is no description " + name +
		    "; name a file in TDL, or a shipped one: " + names_of_shipped());
}

ModelFile find(const std::string &path, std::span<const std::byte> untrusted_bytes)
{
	std::string unread;
	const auto identifies = [&](const Magic &magic) {
		return magic.bytes.size() >= min_magic_bytes && is_found_in(magic, untrusted_bytes);
	};
	for (const std::string &name : share_names(kind, extension)) {
		try {
			ModelFile source = load_file(share_path(std::string(kind) + "/" + name + "." + extension));
			if (std::ranges::any_of(source.model.magics, identifies))
				return source;
		} catch (const Error &error) {
			unread += std::string(". Not read: ") + error.what();
		}
	}
	if (const std::string reader = reader_of_other(path, untrusted_bytes); !reader.empty())
		throw Error(reader);
	throw Error("no description matches " + path +
		    "; name the directory of a trace, or give the description of the file " +
		    "with --tdl: a file in TDL, or " + names_of_shipped() + unread);
}

Compiled compile_for(const ModelFile &source, const std::string &path, std::span<const std::byte> untrusted_bytes,
		     std::uint32_t first_index)
{
	const auto &magics = source.model.magics;
	const auto magic =
	    std::ranges::find_if(magics, [&](const Magic &each) { return is_found_in(each, untrusted_bytes); });
	const auto refuse = [&](const std::string &why) {
		const std::string reader = reader_of_other(path, untrusted_bytes);
		throw Error(!reader.empty()
				? reader
				: path + " is not what " + source.path + " describes (" + why +
				      "); give its description with --tdl: a file in TDL, or " + names_of_shipped());
	};
	if (magic == magics.end() && !magics.empty())
		refuse("none of its magics is there");
	Compiled compiled = compile(source.model, magic == magics.end() ? nullptr : &*magic, first_index);
	if (!may_be_records(*compiled.description->layout->records, untrusted_bytes))
		refuse("its first record is of no kind that is described, and its size no multiple of a record's");
	return compiled;
}

} // namespace monitor::trace::tdl
