// SPDX-License-Identifier: MIT
// Reads segments and sections of an untrusted ELF file (elf(5)) piece by piece, with bounds. 64-bit files of this
// machine's byte order only.
//
// A part whose offset or size is out of range counts as missing. Reads at most max_headers headers, and of a section
// what the caller allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace monitor {

struct ElfSection {
	std::string name;
	std::uint32_t type = 0, link = 0;
	std::uint64_t flags = 0, address = 0, offset = 0, size = 0;
};

struct ElfNote {
	std::string name;
	std::uint32_t type = 0;
	std::uint64_t address = 0; // of its content
	std::vector<std::byte> content;
};

// Maps bytes [offset, offset + file_size) of the file at `address`.
struct ElfSegment {
	std::uint64_t offset = 0, address = 0, file_size = 0, size = 0;
	bool is_executable = false, is_writable = false;
};

class ElfImage {
public:
	// Reads all of `into` at `offset`, or returns false.
	using ReadAt = std::function<bool(std::uint64_t offset, std::span<std::byte> into)>;
	static constexpr std::size_t max_headers = 4096, max_names = 1 << 20, max_note_bytes = 64 << 10;

	// nullopt: not a supported ELF file.
	static std::optional<ElfImage> open(ReadAt read);
	static std::optional<ElfImage> open(int fd); // which must stay open
	static std::optional<ElfImage> open(std::span<const std::byte> bytes);

	const std::vector<ElfSegment> &loads() const { return loads_; }
	const std::vector<ElfSection> &sections() const { return sections_; }
	const ElfSection *section(const std::string &name) const;
	std::uint64_t entry() const { return entry_; }
	// Empty if larger than `max_bytes`, unreadable or without content in the file (SHT_NOBITS).
	std::vector<std::byte> content(const ElfSection &section, std::size_t max_bytes) const;
	std::vector<std::byte> content(const std::string &section_name, std::size_t max_bytes) const; // empty: none
	// Reads any part of the file; false: out of range.
	bool read_at(std::uint64_t offset, std::span<std::byte> into) const { return read_(offset, into); }
	std::vector<ElfNote> notes() const; // of segments; if there are none, of sections; at most max_note_bytes
	std::string build_id() const;       // hexadecimal; empty: none

	// The link-time address of a file offset; nullopt: not mapped.
	std::optional<std::uint64_t> address_of(std::uint64_t offset) const;

private:
	bool read_headers();
	template <class T> bool read(std::uint64_t offset, T &value) const;

	ReadAt read_;
	std::vector<ElfSegment> loads_, note_segments_;
	std::vector<ElfSection> sections_;
	std::uint64_t entry_ = 0;
};

} // namespace monitor
