// SPDX-License-Identifier: MIT
// Whether a file has what was stripped from a program: by the build id, or by the checksum of .gnu_debuglink.
#include <catch2/catch.hpp>

#include <cstring>
#include <string>

#include <elf.h>
#include <sys/mman.h>

#include "base/debug_files.h"

namespace test_debug_files {

using namespace monitor;

TEST_CASE("debug files: without a build id the checksum of the link decides")
{
	Elf64_Ehdr head{};
	std::memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = ELFDATA2LSB;
	head.e_phentsize = sizeof(Elf64_Phdr);
	constexpr std::uint32_t checksum = 0xe6dc7658; // CRC-32, by zlib
	const auto is_of_program = [&](const std::string &name, std::uint32_t sum, std::size_t padding) {
		const Fd file(::memfd_create("debug", MFD_CLOEXEC));
		write_all(file.get(), std::as_bytes(std::span(&head, 1)), "");
		Stripped stripped{"program", "", {name, std::vector<std::byte>(padding + sizeof sum)}};
		std::memcpy(stripped.link.rest.data() + padding, &sum, sizeof sum);
		return open_debug_file("/proc/self/fd/" + std::to_string(file.get()), stripped).has_value();
	};
	CHECK(is_of_program("a.debug", checksum, 0));
	CHECK(is_of_program("ab.debug", checksum, 3));
	CHECK_FALSE(is_of_program("ab.debug", checksum, 2));
	CHECK_FALSE(is_of_program("a.debug", checksum + 1, 0));
	head.e_flags = 1; // of another program
	CHECK_FALSE(is_of_program("a.debug", checksum, 0));
}

} // namespace test_debug_files
