// SPDX-License-Identifier: MIT
#include "code_files.h"

#include <algorithm>

#include "base/clock_ns.h"
#include "base/encoding.h"
#include "base/escape.h"
#include "base/go_functions.h"
#include "image_rows.h"

namespace monitor::stacks {
namespace {

constexpr std::size_t max_files = 1 << 16; // a system has some thousands
constexpr std::size_t max_keys = 4 * max_files;
constexpr std::size_t max_list_bytes = 32 << 20; // readers take twice as much
constexpr std::size_t max_assumed = 64;          // ranges of a file, the widest

constexpr std::size_t max_deferred =
    1024; // deferred tables, each with an open descriptor; beyond that tables are skipped
constexpr std::uint64_t ns_of_row = 50, bytes_of_row = 4; // measured, and as compilers write them

std::uint64_t expected_ns(const ElfImage &image)
{
	std::uint64_t bytes = 0;
	for (const char *name : {".eh_frame", ".debug_frame", ".gopclntab"})
		if (const ElfSection *section = image.section(name))
			bytes += section->size;
	if (bytes == 0) // estimate by code size
		for (const ElfSegment &load : image.loads())
			bytes += load.is_executable ? load.file_size : 0;
	return bytes / bytes_of_row * ns_of_row;
}

} // namespace

CodeFile *CodeFiles::find(const std::string &key) const
{
	const auto found = by_key_.find(key);
	return found == by_key_.end() ? nullptr : found->second;
}

void CodeFiles::refuse(std::uint32_t user)
{
	++without_room_;
	refused_.push_back(user);
}

// Whether the list of files needs an entry for it.
bool CodeFiles::add_table(CodeFile &file, const ElfImage &image, std::uint32_t user, nlohmann::ordered_json &line)
{
	const std::uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	std::vector<CodeRange> assumed;
	const std::vector<edc_unwind_row> table = image_rows(image, assumed);
	std::ranges::stable_sort(assumed, std::greater<>(),
				 [](const CodeRange &range) { return range.end - range.first; });
	assumed.resize(std::min(assumed.size(), max_assumed));
	for (const CodeRange &range : assumed)
		line["assumed"].push_back({range.first, range.end});
	if (GoFunctions::is_unknown(image))
		line["unknown_go"] = true;
	build_ns_ += clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
	file.rows = 0;
	if (!shares_.take(user, table.size())) {
		refuse(user);
	} else {
		std::ranges::copy(table, rows_.begin() + next_row_);
		file.first_row = next_row_;
		file.rows = static_cast<std::uint32_t>(table.size());
		next_row_ += file.rows;
	}
	return line.contains("assumed") || line.contains("unknown_go");
}

// Adds a key, which saves opening the file again to identify it.
void CodeFiles::add_key(const std::string &key, CodeFile &file)
{
	if (by_key_.size() < max_keys)
		by_key_[key] = &file;
}

CodeFile *CodeFiles::add(const std::string &key, const std::string &path, const std::optional<ElfImage> &image,
			 const FileVersion &version, std::uint32_t user, Fd deferred)
{
	if (files_.size() >= max_files || list_bytes_ >= max_list_bytes) {
		refuse(user);
		return nullptr;
	}
	CodeFile &file = files_.emplace_back();
	by_key_[key] = &file;
	file.number = static_cast<std::uint32_t>(files_.size());
	nlohmann::ordered_json line = {{"file", file.number}, {"path", path}};
	if (!is_utf8(path))
		line["path_bytes"] = to_hex(std::as_bytes(std::span(path)));
	if (image) {
		if (const std::string build_id = image->build_id(); !build_id.empty()) {
			line["build_id"] = build_id;
		} else {
			line["size"] = version.size;
			line["modified_ns"] = version.modified_ns;
		}
		file.loads = image->loads();
		if (deferred)
			file.rows = EDC_UNWIND_LATER;
		else
			add_table(file, *image, user, line);
		auto &loads = line["loads"] = nlohmann::ordered_json::array();
		for (const ElfSegment &load : file.loads)
			if (load.is_executable)
				loads.push_back({load.offset, load.address, load.file_size});
	} else {
		++unread_;
	}
	write(line);
	if (file.rows == EDC_UNWIND_LATER && deferred_.size() < max_deferred)
		deferred_.emplace(expected_ns(*image),
				  DeferredTable{&file, std::move(deferred), user, std::move(line)});
	return &file;
}

void CodeFiles::make_tables(std::uint64_t max_ns, const std::function<void(const CodeFile &)> &on_made)
{
	while (!deferred_.empty() && build_ns_ + deferred_.begin()->first <= max_ns) {
		DeferredTable next = std::move(deferred_.extract(deferred_.begin()).mapped());
		if (const auto image = ElfImage::open(next.fd.get());
		    image && add_table(*next.file, *image, next.user, next.line))
			write(next.line); // replaces its earlier line
		on_made(*next.file);
	}
}

void CodeFiles::add_process(std::int32_t process, std::int32_t inside)
{
	if (list_bytes_ < max_list_bytes)
		write({{"process", process}, {"inside", inside}});
}

void CodeFiles::add_without_room(std::uint32_t user, const char *what)
{
	if (list_bytes_ < max_list_bytes)
		write({{"user", user}, {"without_room", what}});
}

void CodeFiles::write(const nlohmann::ordered_json &line)
{
	const std::string text = json_dump(line) + "\n";
	write_all(list_.get(), std::as_bytes(std::span(text)), ".monitor/files");
	list_bytes_ += text.size();
}

std::uint64_t bias_of(const CodeFile &file, std::uint64_t start, std::uint64_t end, std::uint64_t offset)
{
	for (const ElfSegment &load : file.loads)
		if (load.is_executable && offset < load.offset + load.file_size && offset + (end - start) > load.offset)
			return start - offset + load.offset - load.address;
	return start - offset;
}

} // namespace monitor::stacks
