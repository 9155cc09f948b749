// SPDX-License-Identifier: MIT
#include "symbol_files.h"

#include <utility>

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#ifdef MONITOR_HAS_LZMA
#include <lzma.h>
#endif

namespace monitor::symbols {
namespace {

constexpr std::size_t max_packed_bytes = 64 << 20, max_unpacked_bytes = 256 << 20;

struct Opened {
	Fd fd;
	std::optional<ElfImage> image;
};

// The file at `path` if it has the build id of `file`.
std::optional<Opened> open_by_id(const std::string &path, const CodeFile &file, struct stat &status, int flags = 0)
{
	Opened opened{Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)), {}};
	if (!opened.fd || ::fstat(opened.fd.get(), &status) < 0 || !S_ISREG(status.st_mode))
		return {};
	opened.image = ElfImage::open(opened.fd.get());
	if (!opened.image || opened.image->build_id() != file.build_id)
		return {};
	return opened;
}

// What has no build id, if nobody changed it since.
std::optional<Opened> open_same(const std::string &path, const CodeFile &file)
{
	struct stat status;
	std::optional<Opened> opened = open_by_id(path, file, status);
	if (opened && file.build_id.empty() &&
	    (static_cast<std::uint64_t>(status.st_size) != file.size ||
	     status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec != file.modified_ns))
		return {};
	return opened;
}

std::optional<Opened> open_copy(const CodeFile &file)
{
	struct stat status;
	return open_by_id(file.copy, file, status, O_NOFOLLOW);
}

bool has_content(const ElfImage &image, const char *section)
{
	const ElfSection *found = image.section(section);
	return found && found->type == SHT_PROGBITS && found->size > 0;
}

std::vector<std::string> paths_of_debug_file(const CodeFile &file, const std::vector<std::string> &directories)
{
	const std::string &id = file.build_id;
	if (id.size() <= 2 || id.find_first_not_of("0123456789abcdef") != std::string::npos)
		return {};
	const std::string name = file.path.substr(file.path.rfind('/') + 1);
	std::vector<std::string> paths;
	for (const std::string &directory : directories) {
		paths.push_back(fmt::format("{}/.build-id/{}/{}.debug", directory, id.substr(0, 2), id.substr(2)));
		if (name.empty() || name == "..")
			continue;
		paths.push_back(fmt::format("{}/{}.debug", directory, name));
		paths.push_back(fmt::format("{}/{}", directory, name));
	}
	return paths;
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
	auto own = open_same(file.path, file);
	if (!own && !file.copy.empty())
		own = open_copy(file);
	if (own) {
		found.is_found = true;
		found.functions = functions_of(*own->image, has_all);
		if (has_content(*own->image, ".debug_info"))
			found.debug_info = std::move(own->fd);
		if (!has_all) {
			std::vector<Function> more = functions_of_debugdata(*own->image);
			found.functions.insert(found.functions.end(), more.begin(), more.end());
		}
	}
	for (const std::string &path : paths_of_debug_file(file, debug_directories)) {
		if (has_all && found.debug_info)
			break;
		auto separate = open_same(path, file);
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
	return found;
}

} // namespace monitor::symbols
