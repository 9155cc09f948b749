// SPDX-License-Identifier: MIT
#include "elf_image.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <elf.h>
#include <unistd.h>

namespace monitor {
namespace {

constexpr std::size_t max_note_bytes = 64 << 10;
constexpr char hex_digits[] = "0123456789abcdef";

// The content of the GNU build id's note.
std::string build_id_in(std::span<const std::byte> notes)
{
	std::size_t at = 0;
	while (at + sizeof(Elf64_Nhdr) <= notes.size()) {
		Elf64_Nhdr head;
		std::memcpy(&head, notes.data() + at, sizeof head);
		const std::size_t name = at + sizeof head;
		const std::size_t content = name + ((std::size_t{head.n_namesz} + 3) & ~std::size_t{3});
		const std::size_t next = content + ((std::size_t{head.n_descsz} + 3) & ~std::size_t{3});
		if (next > notes.size())
			return {};
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && head.n_descsz <= 64 &&
		    std::memcmp(notes.data() + name, "GNU", 4) == 0) {
			std::string text;
			for (const std::byte byte : notes.subspan(content, head.n_descsz)) {
				text += hex_digits[std::to_integer<unsigned>(byte) >> 4];
				text += hex_digits[std::to_integer<unsigned>(byte) & 15];
			}
			return text;
		}
		at = next;
	}
	return {};
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
	if (!image.take_headers())
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

bool ElfImage::take_headers()
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
		const ElfSegment segment{part.p_offset, part.p_vaddr, part.p_filesz, part.p_memsz,
					 (part.p_flags & PF_X) != 0};
		if (part.p_type == PT_LOAD)
			loads_.push_back(segment);
		if (part.p_type == PT_NOTE)
			notes_.push_back(segment);
	}
	// Sections may be missing: then it has segments only.
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
		if (header.sh_name < text.size())
			section.name = text.c_str() + header.sh_name; // ends at a NUL or at the end of `text`
		section.type = header.sh_type;
		section.link = header.sh_link;
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

std::string ElfImage::build_id() const
{
	std::size_t left = max_note_bytes;
	for (const ElfSegment &note : notes_) {
		if (note.file_size > left)
			continue;
		left -= note.file_size;
		std::vector<std::byte> bytes(note.file_size);
		if (!read_(note.offset, bytes))
			continue;
		if (std::string id = build_id_in(bytes); !id.empty())
			return id;
	}
	return {};
}

std::optional<std::uint64_t> ElfImage::address_of(std::uint64_t offset) const
{
	for (const ElfSegment &load : loads_)
		if (offset >= load.offset && offset - load.offset < load.file_size)
			return load.address + (offset - load.offset);
	return {};
}

} // namespace monitor
