// SPDX-License-Identifier: MIT
#include "elf_image.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <elf.h>
#include <unistd.h>

#include "encoding.h"
#include "load.h"

namespace monitor {
namespace {

constexpr std::size_t max_build_id_bytes = 64;
constexpr std::size_t max_section_name = 256;

// elf(5), Notes (Nhdr)
void append_notes(std::span<const std::byte> bytes, std::uint64_t address, std::vector<ElfNote> &notes)
{
	const auto padded = [](std::uint32_t size) { return (std::size_t{size} + 3) & ~std::size_t{3}; };
	for (std::size_t at = 0; at + sizeof(Elf64_Nhdr) <= bytes.size();) {
		const auto head = load<Elf64_Nhdr>(bytes.data() + at);
		const std::size_t name = at + sizeof head, content = name + padded(head.n_namesz);
		at = content + padded(head.n_descsz);
		if (at > bytes.size())
			return;
		const auto *text = reinterpret_cast<const char *>(bytes.data() + name);
		const std::span<const std::byte> descriptor = bytes.subspan(content, head.n_descsz);
		notes.push_back({std::string(text, ::strnlen(text, head.n_namesz)), head.n_type, address + content,
				 std::vector<std::byte>(descriptor.begin(), descriptor.end())});
	}
}

} // namespace

template <class T> bool ElfImage::read(std::uint64_t offset, T &value) const
{
	return read_(offset, std::as_writable_bytes(std::span(&value, 1)));
}

std::optional<ElfImage> ElfImage::open(ReadAt read)
{
	ElfImage image;
	image.read_ = std::move(read);
	if (!image.read_headers())
		return {};
	return image;
}

std::optional<ElfImage> ElfImage::open(int fd)
{
	return open([fd](std::uint64_t offset, std::span<std::byte> into) {
		return offset <= static_cast<std::uint64_t>(INT64_MAX) &&
		       ::pread(fd, into.data(), into.size(), static_cast<off_t>(offset)) ==
			   static_cast<ssize_t>(into.size());
	});
}

std::optional<ElfImage> ElfImage::open(std::span<const std::byte> bytes)
{
	return open([bytes](std::uint64_t offset, std::span<std::byte> into) {
		if (offset > bytes.size() || into.size() > bytes.size() - offset)
			return false;
		std::copy_n(bytes.data() + offset, into.size(), into.data());
		return true;
	});
}

bool ElfImage::read_headers()
{
	Elf64_Ehdr elf;
	if (!read(0, elf) || std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf.e_ident[EI_DATA] != ELFDATA2LSB || elf.e_phentsize != sizeof(Elf64_Phdr) || elf.e_phnum > max_headers)
		return false;
	entry_ = elf.e_entry;
	std::vector<Elf64_Phdr> parts(elf.e_phnum);
	if (!read_(elf.e_phoff, std::as_writable_bytes(std::span(parts))))
		return false;
	for (const Elf64_Phdr &part : parts) {
		const ElfSegment segment{part.p_offset,
					 part.p_vaddr,
					 part.p_filesz,
					 part.p_memsz,
					 (part.p_flags & PF_X) != 0,
					 (part.p_flags & PF_W) != 0};
		if (part.p_type == PT_LOAD)
			loads_.push_back(segment);
		if (part.p_type == PT_NOTE)
			note_segments_.push_back(segment);
	}
	// A file may have no sections.
	if (elf.e_shentsize != sizeof(Elf64_Shdr) || elf.e_shnum == 0 || elf.e_shnum > max_headers ||
	    elf.e_shstrndx >= elf.e_shnum)
		return true;
	std::vector<Elf64_Shdr> headers(elf.e_shnum);
	if (!read_(elf.e_shoff, std::as_writable_bytes(std::span(headers))))
		return true;
	const Elf64_Shdr &names = headers[elf.e_shstrndx];
	std::string text(std::min<std::uint64_t>(names.sh_size, max_names), '\0');
	if (!read_(names.sh_offset, std::as_writable_bytes(std::span(text))))
		text.clear();
	for (const Elf64_Shdr &header : headers) {
		ElfSection section;
		if (header.sh_name < text.size()) {
			const char *name = text.c_str() + header.sh_name;
			section.name.assign(name, ::strnlen(name, max_section_name)); // at the end of `text` is a NUL
		}
		section.type = header.sh_type;
		section.link = header.sh_link;
		section.flags = header.sh_flags;
		section.address = header.sh_addr;
		section.offset = header.sh_offset;
		section.size = header.sh_size;
		sections_.push_back(std::move(section));
	}
	return true;
}

const ElfSection *ElfImage::section(const std::string &name) const
{
	const auto found = std::ranges::find(sections_, name, &ElfSection::name);
	return found == sections_.end() ? nullptr : &*found;
}

std::vector<std::byte> ElfImage::content(const ElfSection &section, std::size_t max_bytes) const
{
	if (section.type == SHT_NOBITS || section.size > max_bytes)
		return {};
	std::vector<std::byte> bytes(section.size);
	if (!read_(section.offset, bytes))
		bytes.clear();
	return bytes;
}

std::vector<std::byte> ElfImage::content(const std::string &section_name, std::size_t max_bytes) const
{
	const ElfSection *found = section(section_name);
	return found ? content(*found, max_bytes) : std::vector<std::byte>();
}

std::vector<ElfNote> ElfImage::notes() const
{
	std::vector<ElfNote> found;
	std::size_t left = max_note_bytes;
	const auto append_notes_at = [&](std::uint64_t offset, std::uint64_t size, std::uint64_t address) {
		if (size > left)
			return;
		left -= size;
		std::vector<std::byte> bytes(size);
		if (read_(offset, bytes))
			append_notes(bytes, address, found);
	};
	for (const ElfSegment &segment : note_segments_)
		append_notes_at(segment.offset, segment.file_size, segment.address);
	if (note_segments_.empty())
		for (const ElfSection &section : sections_)
			if (section.type == SHT_NOTE)
				append_notes_at(section.offset, section.size, section.address);
	return found;
}

std::string ElfImage::build_id() const
{
	for (const ElfNote &note : notes())
		if (note.type == NT_GNU_BUILD_ID && note.name == "GNU" && note.content.size() <= max_build_id_bytes)
			return to_hex(note.content);
	return "";
}

std::optional<std::uint64_t> ElfImage::address_of(std::uint64_t offset) const
{
	for (const ElfSegment &load : loads_)
		if (offset >= load.offset && offset - load.offset < load.file_size)
			return load.address + (offset - load.offset);
	return {};
}

} // namespace monitor
