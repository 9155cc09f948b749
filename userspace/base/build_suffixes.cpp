// SPDX-License-Identifier: MIT
#include "build_suffixes.h"

#include <algorithm>

namespace monitor {
namespace {

constexpr std::string_view digits = "0123456789";

// Of gcc and LLVM, each with a number or without.
constexpr std::string_view suffixes[] = {".cold",     ".constprop", ".isra",        ".llvm",  ".localalias",
					 ".lto_priv", ".part",      ".specialized", ".__uniq"};

std::string_view without_suffix(std::string_view name)
{
	std::string_view rest = name;
	if (const std::size_t dot = name.find_last_not_of(digits); dot != std::string_view::npos && name[dot] == '.')
		rest = name.substr(0, dot);
	for (const std::string_view suffix : suffixes)
		if (rest.ends_with(suffix) && rest.size() > suffix.size())
			return rest.substr(0, rest.size() - suffix.size());
	return name;
}

// The hash of Rust's first encoding.
std::string_view without_hash(std::string_view name)
{
	constexpr std::size_t hash_digits = 16;
	const std::size_t at = name.rfind("::h");
	const bool is_hash = at != std::string_view::npos && at > 0 && name.size() - at - 3 == hash_digits &&
			     name.find_first_not_of("0123456789abcdef", at + 3) == std::string_view::npos;
	return is_hash ? name.substr(0, at) : name;
}

// {lambda(int)#2} of the demangler, {closure#0} of Rust; $_3 of clang.
void remove_numbers(std::string &name)
{
	for (std::size_t at = 0, end; (at = name.find('#', at)) != std::string::npos;) {
		end = name.find_first_not_of(digits, at + 1);
		if (end != std::string::npos && end > at + 1 && name[end] == '}')
			name.erase(at, end - at);
		else
			++at;
	}
	for (std::size_t at = 0; (at = name.find("$_", at)) != std::string::npos;) {
		at += 2;
		name.erase(at, std::min(name.find_first_not_of(digits, at), name.size()) - at);
	}
}

} // namespace

std::string without_build_suffixes(std::string_view name)
{
	std::string text(name);
	for (std::size_t at; (at = text.find(" [clone .")) != std::string::npos;) {
		const std::size_t end = text.find(']', at);
		text.erase(at, end == std::string::npos ? end : end + 1 - at);
	}
	for (std::string_view all = text, rest; (rest = without_suffix(all)).size() < all.size(); all = text)
		text.resize(rest.size());
	text.resize(without_hash(text).size());
	remove_numbers(text);
	return text;
}

} // namespace monitor
