// SPDX-License-Identifier: MIT
#include "symbolizer.h"

#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/fd.h"

namespace monitor::symbols {
namespace {

constexpr std::size_t max_list_bytes = 64 << 20;

std::string base_name(const std::string &path)
{
	return path.substr(path.rfind('/') + 1);
}

bool is_hex(const std::string &text)
{
	return text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// The functions of a file, if it is the one that ran.
std::optional<std::vector<Function>> functions_in(const std::string &path, const std::string &build_id, bool &has_all)
{
	const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	struct stat status;
	if (!fd || ::fstat(fd.get(), &status) < 0 || !S_ISREG(status.st_mode))
		return {};
	const std::optional<ElfImage> image = ElfImage::open(fd.get());
	if (!image || image->build_id() != build_id)
		return {};
	return functions_of(*image, has_all);
}

} // namespace

Symbolizer::Symbolizer(const std::string &directory, std::string debug)
    : directory_(directory + "/.monitor"), debug_(std::move(debug))
{
	for (auto &[number, file] : parse_code_files(read_text(directory_ + "/files", max_list_bytes)))
		files_[number].code = std::move(file);
}

Name Symbolizer::intern(FrameName name)
{
	const auto [found, is_new] =
	    by_text_.try_emplace({name.function, name.module}, static_cast<Name>(names_.size()));
	if (is_new)
		names_.push_back(std::move(name));
	return found->second;
}

Name Symbolizer::other(const std::string &text)
{
	return intern({text, "", false});
}

Name Symbolizer::kernel(std::uint64_t address, bool is_return)
{
	if (!kernel_)
		kernel_ = FunctionTable(functions_of_kernel(read_text(directory_ + "/kallsyms", max_list_bytes)));
	const auto known = known_kernel_.find(address - is_return);
	if (known != known_kernel_.end())
		return known->second;
	const Function *function = kernel_->find(address - is_return);
	FrameName name{fmt::format("kernel+{:#x}", address - is_return), "kernel", true};
	if (function) {
		const std::size_t module = function->name.find(" [");
		name.function = function->name.substr(0, module);
		if (module != std::string::npos)
			name.module = function->name.substr(module + 1);
	}
	return known_kernel_[address - is_return] = intern(std::move(name));
}

void Symbolizer::load(File &file)
{
	file.is_loaded = true;
	const CodeFile &code = file.code;
	if (code.path == "[vdso]") {
		const std::string bytes = read_text(directory_ + "/vdso", 1 << 20);
		bool has_all;
		if (const auto image = ElfImage::open(std::as_bytes(std::span(bytes))))
			file.functions = FunctionTable(functions_of(*image, has_all));
		return;
	}
	bool has_all = false;
	std::optional<std::vector<Function>> functions = functions_in(code.path, code.build_id, has_all);
	if (!has_all && code.build_id.size() > 2 && is_hex(code.build_id)) {
		const std::string path = fmt::format("{}/.build-id/{}/{}.debug", debug_, code.build_id.substr(0, 2),
						     code.build_id.substr(2));
		if (auto more = functions_in(path, code.build_id, has_all))
			functions = std::move(more);
	}
	if (!functions)
		missing_.push_back(code.path);
	else
		file.functions = FunctionTable(std::move(*functions));
}

Name Symbolizer::user(std::int32_t process, std::uint64_t time, std::uint64_t address, bool is_return)
{
	const std::optional<CodeMap::Place> place = code_.find(process, time, address - is_return);
	if (!place)
		return intern({"[not mapped]", "", false});
	const auto found = files_.find(place->file);
	if (found == files_.end())
		return intern({"[code in no file]", "", false});
	File &file = found->second;
	if (!file.is_loaded)
		load(file);
	const std::uint64_t at = file.code.address_of(place->offset);
	const auto known = file.known.find(at);
	if (known != file.known.end())
		return known->second;
	const Function *function = file.functions.find(at);
	const std::string module = base_name(file.code.path);
	return file.known[at] =
		   intern({function ? demangled(function->name) : fmt::format("{}+{:#x}", module, at), module, false});
}

} // namespace monitor::symbols
