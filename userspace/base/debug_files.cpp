// SPDX-License-Identifier: MIT
#include "debug_files.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include "load.h"

namespace monitor {
namespace {

constexpr std::size_t max_link_bytes = 8192, max_id_digits = 128;
constexpr std::int64_t max_summed_bytes = 1 << 30;

std::string directory_of(const std::string &path)
{
	return path.substr(0, path.rfind('/') + 1);
}

std::string name_of(const std::string &path)
{
	const std::string name = path.substr(path.rfind('/') + 1);
	return name == "." || name == ".." ? "" : name;
}

bool has_checksum(const OpenedImage &opened, const FileLink &link)
{
	const std::size_t padding = 3 - link.name.size() % 4; // after the NUL
	const std::int64_t bytes = opened.status.st_size;
	if (bytes > max_summed_bytes || link.rest.size() < padding + sizeof(std::uint32_t))
		return false;
	const auto expected = load<std::uint32_t>(link.rest.data() + padding);
	std::array<unsigned char, 1 << 16> part;
	uLong sum = 0;
	std::int64_t at = 0;
	for (ssize_t size; at < bytes && (size = ::pread(opened.fd.get(), part.data(), part.size(), at)) > 0;
	     at += size)
		sum = ::crc32_z(sum, part.data(), static_cast<std::size_t>(size));
	return at == bytes && sum == expected;
}

} // namespace

std::optional<OpenedImage> open_by_id(const std::string &path, const std::string &id, int flags)
{
	OpenedImage opened{Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)), {}, {}};
	if (!opened.fd || ::fstat(opened.fd.get(), &opened.status) < 0 || !S_ISREG(opened.status.st_mode))
		return {};
	opened.image = ElfImage::open(opened.fd.get());
	if (!opened.image || opened.image->build_id() != id)
		return {};
	return opened;
}

bool is_build_id(const std::string &id)
{
	return id.size() > 2 && id.size() <= max_id_digits &&
	       id.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string path_by_id(const std::string &directory, const std::string &id)
{
	return fmt::format("{}/.build-id/{}/{}.debug", directory, id.substr(0, 2), id.substr(2));
}

FileLink link_in(const ElfImage &image, const char *section)
{
	const std::vector<std::byte> content = image.content(section, max_link_bytes);
	const char *text = reinterpret_cast<const char *>(content.data());
	const std::size_t size = ::strnlen(text, content.size());
	if (size == content.size())
		return {};
	return {std::string(text, size),
		std::vector(content.begin() + static_cast<std::ptrdiff_t>(size) + 1, content.end())};
}

std::vector<std::string> debug_file_paths(const Stripped &file, const std::vector<std::string> &directories)
{
	std::vector<std::string> paths;
	const auto add = [&paths](const std::string &path) {
		if (std::ranges::find(paths, path) == paths.end())
			paths.push_back(path);
	};
	const std::string own = name_of(file.path), linked = name_of(file.link.name), beside = directory_of(file.path);
	for (const std::string &directory : is_build_id(file.build_id) ? directories : std::vector<std::string>()) {
		add(path_by_id(directory, file.build_id));
		if (own.empty())
			continue;
		add(fmt::format("{}/{}.debug", directory, own));
		add(fmt::format("{}/{}", directory, own));
	}
	if (linked.empty())
		return paths;
	add(beside + linked);
	add(beside + ".debug/" + linked);
	for (const std::string &directory : directories) {
		add(fmt::format("{}/{}", directory, linked));
		add(directory + beside + linked);
	}
	return paths;
}

std::optional<OpenedImage> open_debug_file(const std::string &path, const Stripped &file)
{
	std::optional<OpenedImage> opened = open_by_id(path, file.build_id);
	if (opened && file.build_id.empty() && !has_checksum(*opened, file.link))
		return {};
	return opened;
}

} // namespace monitor
