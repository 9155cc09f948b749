// SPDX-License-Identifier: MIT
#include "symbol_files.h"

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <utility>

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#ifdef MONITOR_HAS_LZMA
#include <lzma.h>
#endif

#include "base/debug_files.h"
#include "base/encoding.h"

namespace monitor::symbols {
namespace {

constexpr std::size_t max_packed_bytes = 64 << 20, max_unpacked_bytes = 256 << 20;

// Opens the file if it has the build id or, without one, is unmodified.
std::optional<OpenedImage> open_unmodified(const std::string &path, const CodeFile &file)
{
	std::optional<OpenedImage> opened = open_by_id(path, file.build_id);
	if (!opened || !file.build_id.empty())
		return opened;
	const struct stat &status = opened->status;
	if (static_cast<std::uint64_t>(status.st_size) != file.size ||
	    status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec != file.modified_ns)
		return {};
	return opened;
}

std::optional<OpenedImage> open_copy(const CodeFile &file)
{
	return open_by_id(file.copy, file.build_id, O_NOFOLLOW);
}

bool has_content(const ElfImage &image, const char *section)
{
	const ElfSection *found = image.section(section);
	return found && found->type == SHT_PROGBITS && found->size > 0;
}

std::filesystem::path path_of(const Fd &file)
{
	std::array<char, PATH_MAX> path;
	const ssize_t size = ::readlink(fmt::format("/proc/self/fd/{}", file.get()).c_str(), path.data(), path.size());
	return std::string(path.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
}

void find_common(SymbolFile &found, const std::vector<std::string> &directories)
{
	const auto image = ElfImage::open(found.debug_info.get());
	const FileLink link = image ? link_in(*image, ".gnu_debugaltlink") : FileLink();
	const std::string id = to_hex(link.rest);
	if (!is_build_id(id))
		return;
	const std::filesystem::path name = link.name; // relative to the file's directory
	std::vector<std::string> paths = {path_of(found.debug_info).parent_path() / name};
	for (const std::string &directory : directories) {
		paths.push_back(path_by_id(directory, id));
		paths.push_back(std::filesystem::path(directory) / name.filename());
	}
	for (const std::string &path : paths) {
		if (auto opened = open_by_id(path, id)) {
			found.common = std::move(opened->fd);
			return;
		}
	}
	found.tried_paths = std::move(paths);
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
	if (const ElfSection *section = image.section(".gnu_debugdata"))
		return functions_in(unpacked(image.content(*section, max_packed_bytes)));
#endif
	return {};
}

SymbolFile find_symbols(const CodeFile &file, const std::vector<std::string> &debug_directories)
{
	SymbolFile found;
	bool has_all = false;
	Stripped stripped{file.path, file.build_id, {}};
	auto own = open_unmodified(file.path, file);
	if (!own && !file.copy.empty())
		own = open_copy(file);
	if (own) {
		found.is_found = true;
		found.functions = functions_of(*own->image, has_all);
		stripped.link = link_in(*own->image, ".gnu_debuglink");
		if (has_content(*own->image, ".debug_info"))
			found.debug_info = std::move(own->fd);
		if (!has_all) {
			std::vector<Function> more = functions_of_debugdata(*own->image);
			found.functions.insert(found.functions.end(), more.begin(), more.end());
		}
	}
	std::vector<std::string> paths = debug_file_paths(stripped, debug_directories);
	for (const std::string &path : paths) {
		if (has_all && found.debug_info)
			break;
		auto separate = open_debug_file(path, stripped);
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
	else if (!stripped.link.name.empty())
		found.tried_paths = std::move(paths);
	return found;
}

} // namespace monitor::symbols
