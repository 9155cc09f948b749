// SPDX-License-Identifier: MIT
#include "symbol_files.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <utility>

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <zlib.h>
#ifdef MONITOR_HAS_LZMA
#include <lzma.h>
#endif

#include "base/encoding.h"

namespace monitor::symbols {
namespace {

constexpr std::size_t max_packed_bytes = 64 << 20, max_unpacked_bytes = 256 << 20, max_link_bytes = 8192,
		      max_id_digits = 128;
constexpr std::int64_t max_summed_bytes = 1 << 30;

struct Opened {
	Fd fd;
	std::optional<ElfImage> image;
};

// The file at `path` if it has this build id.
std::optional<Opened> open_by_id(const std::string &path, const std::string &id, struct stat &status, int flags = 0)
{
	Opened opened{Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)), {}};
	if (!opened.fd || ::fstat(opened.fd.get(), &status) < 0 || !S_ISREG(status.st_mode))
		return {};
	opened.image = ElfImage::open(opened.fd.get());
	if (!opened.image || opened.image->build_id() != id)
		return {};
	return opened;
}

// What has no build id, if nobody changed it since.
std::optional<Opened> open_same(const std::string &path, const CodeFile &file)
{
	struct stat status;
	std::optional<Opened> opened = open_by_id(path, file.build_id, status);
	if (opened && file.build_id.empty() &&
	    (static_cast<std::uint64_t>(status.st_size) != file.size ||
	     status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec != file.modified_ns))
		return {};
	return opened;
}

std::optional<Opened> open_copy(const CodeFile &file)
{
	struct stat status;
	return open_by_id(file.copy, file.build_id, status, O_NOFOLLOW);
}

bool has_content(const ElfImage &image, const char *section)
{
	const ElfSection *found = image.section(section);
	return found && found->type == SHT_PROGBITS && found->size > 0;
}

std::string directory_of(const std::string &path)
{
	return path.substr(0, path.rfind('/') + 1);
}

std::string name_of(const std::string &path)
{
	return path.substr(path.rfind('/') + 1);
}

// .gnu_debuglink: a name and the CRC-32 of the file; .gnu_debugaltlink: a name and its build id.
struct Link {
	std::string name; // empty: there is none
	std::vector<std::byte> rest;
};

Link link_in(const ElfImage &image, const char *section)
{
	const ElfSection *found = image.section(section);
	if (!found)
		return {};
	const std::vector<std::byte> content = image.content(*found, max_link_bytes);
	const char *text = reinterpret_cast<const char *>(content.data());
	const std::size_t size = ::strnlen(text, content.size());
	if (size == content.size())
		return {};
	return {std::string(text, size),
		std::vector(content.begin() + static_cast<std::ptrdiff_t>(size) + 1, content.end())};
}

std::string path_by_id(const std::string &directory, const std::string &id)
{
	return fmt::format("{}/.build-id/{}/{}.debug", directory, id.substr(0, 2), id.substr(2));
}

bool is_id(const std::string &id)
{
	return id.size() > 2 && id.size() <= max_id_digits &&
	       id.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::vector<std::string> paths_of_debug_file(const CodeFile &file, const std::vector<std::string> &directories)
{
	if (!is_id(file.build_id))
		return {};
	const std::string name = name_of(file.path);
	std::vector<std::string> paths;
	for (const std::string &directory : directories) {
		paths.push_back(path_by_id(directory, file.build_id));
		if (name.empty() || name == "..")
			continue;
		paths.push_back(fmt::format("{}/{}.debug", directory, name));
		paths.push_back(fmt::format("{}/{}", directory, name));
	}
	return paths;
}

std::vector<std::string> paths_of_link(const CodeFile &file, const Link &link,
				       const std::vector<std::string> &directories)
{
	const std::string name = name_of(link.name), beside = directory_of(file.path);
	if (name.empty() || name == "." || name == "..")
		return {};
	std::vector<std::string> paths = {beside + name, beside + ".debug/" + name};
	for (const std::string &directory : directories) {
		paths.push_back(fmt::format("{}/{}", directory, name));
		paths.push_back(directory + beside + name);
	}
	return paths;
}

bool has_checksum(const Opened &opened, const struct stat &status, const Link &link)
{
	const std::size_t padding = 3 - link.name.size() % 4; // after the NUL
	std::uint32_t expected;
	if (status.st_size > max_summed_bytes || link.rest.size() < padding + sizeof expected)
		return false;
	std::memcpy(&expected, link.rest.data() + padding, sizeof expected);
	std::array<unsigned char, 1 << 16> part;
	uLong sum = 0;
	std::int64_t at = 0;
	for (ssize_t size; at < status.st_size && (size = ::pread(opened.fd.get(), part.data(), part.size(), at)) > 0;
	     at += size)
		sum = ::crc32_z(sum, part.data(), static_cast<std::size_t>(size));
	return at == status.st_size && sum == expected;
}

std::optional<Opened> open_linked(const std::string &path, const CodeFile &file, const Link &link)
{
	struct stat status;
	std::optional<Opened> opened = open_by_id(path, file.build_id, status);
	if (opened && file.build_id.empty() && !has_checksum(*opened, status, link))
		return {};
	return opened;
}

std::string path_of(const Fd &file)
{
	std::array<char, PATH_MAX> path;
	const ssize_t size = ::readlink(fmt::format("/proc/self/fd/{}", file.get()).c_str(), path.data(), path.size());
	return {path.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

void find_common(SymbolFile &found, const std::vector<std::string> &directories)
{
	const auto image = ElfImage::open(found.debug_info.get());
	const Link link = image ? link_in(*image, ".gnu_debugaltlink") : Link();
	const std::string id = to_hex(link.rest);
	if (!is_id(id))
		return;
	std::vector<std::string> paths = {
	    link.name.starts_with('/') ? link.name : directory_of(path_of(found.debug_info)) + link.name};
	for (const std::string &directory : directories) {
		paths.push_back(path_by_id(directory, id));
		paths.push_back(fmt::format("{}/{}", directory, name_of(link.name)));
	}
	for (const std::string &path : paths) {
		struct stat status;
		if (auto opened = open_by_id(path, id, status)) {
			found.common = std::move(opened->fd);
			return;
		}
	}
	found.sought = std::move(paths);
}

#ifdef MONITOR_HAS_LZMA
std::vector<std::byte> unpacked(std::span<const std::byte> packed)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	if (lzma_stream_decoder(&stream, max_unpacked_bytes, 0) != LZMA_OK)
		return {};
	stream.next_in = reinterpret_cast<const std::uint8_t *>(packed.data());
	stream.avail_in = packed.size();
	std::vector<std::byte> bytes;
	lzma_ret result = LZMA_OK;
	while (result == LZMA_OK && bytes.size() < max_unpacked_bytes) {
		const std::size_t before = bytes.size();
		bytes.resize(before + (1 << 20));
		stream.next_out = reinterpret_cast<std::uint8_t *>(bytes.data()) + before;
		stream.avail_out = 1 << 20;
		result = lzma_code(&stream, LZMA_FINISH);
		bytes.resize(bytes.size() - stream.avail_out);
	}
	lzma_end(&stream);
	return result == LZMA_STREAM_END ? bytes : std::vector<std::byte>{};
}
#endif

} // namespace

std::vector<Function> functions_of_debugdata([[maybe_unused]] const ElfImage &image)
{
#ifdef MONITOR_HAS_LZMA
	if (const ElfSection *section = image.section(".gnu_debugdata")) {
		const std::vector<std::byte> bytes = unpacked(image.content(*section, max_packed_bytes));
		bool has_all;
		if (const auto inner = ElfImage::open(std::span(bytes)))
			return functions_of(*inner, has_all);
	}
#endif
	return {};
}

SymbolFile find_symbols(const CodeFile &file, const std::vector<std::string> &debug_directories)
{
	SymbolFile found;
	bool has_all = false;
	Link link;
	auto own = open_same(file.path, file);
	if (!own && !file.copy.empty())
		own = open_copy(file);
	if (own) {
		found.is_found = true;
		found.functions = functions_of(*own->image, has_all);
		link = link_in(*own->image, ".gnu_debuglink");
		if (has_content(*own->image, ".debug_info"))
			found.debug_info = std::move(own->fd);
		if (!has_all) {
			std::vector<Function> more = functions_of_debugdata(*own->image);
			found.functions.insert(found.functions.end(), more.begin(), more.end());
		}
	}
	std::vector<std::string> paths = paths_of_debug_file(file, debug_directories);
	const std::vector<std::string> linked = paths_of_link(file, link, debug_directories);
	paths.insert(paths.end(), linked.begin(), linked.end());
	for (const std::string &path : paths) {
		if (has_all && found.debug_info)
			break;
		auto separate = open_linked(path, file, link);
		if (!separate)
			continue;
		bool separate_has_all;
		std::vector<Function> functions = functions_of(*separate->image, separate_has_all);
		found.is_found = true;
		if (!has_all && separate_has_all) {
			found.functions = std::move(functions);
			has_all = true;
		}
		if (!found.debug_info && has_content(*separate->image, ".debug_info"))
			found.debug_info = std::move(separate->fd);
	}
	if (found.debug_info)
		find_common(found, debug_directories);
	else if (!linked.empty())
		found.sought = std::move(paths);
	return found;
}

} // namespace monitor::symbols
