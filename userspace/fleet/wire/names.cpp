// SPDX-License-Identifier: MIT
#include "names.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "base/encoding.h"

namespace monitor::fleet {
namespace {

constexpr std::size_t max_reply_bytes = 256;

bool has_valid_length_and_start(std::string_view name, std::size_t max_chars)
{
	return !name.empty() && name.size() <= max_chars && name[0] != '.' && name[0] != '-';
}

std::string inbox_prefix(std::string_view host)
{
	std::string prefix = "_INBOX.";
	for (const char c : host)
		prefix += c == '.' ? '_' : c;
	return prefix + '.';
}

// ".B.B.B.B.B.B", with '*' for bits that are not fixed.
std::string bit_tokens(unsigned bits, unsigned fixed)
{
	std::string tokens;
	for (unsigned bit = 0; bit < shard_bits; ++bit)
		tokens.append(".").append(bit >= fixed ? "*" : bits >> bit & 1 ? "1" : "0");
	return tokens;
}

std::optional<unsigned> parse_number(std::string_view text)
{
	unsigned number = 0;
	const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	if (error != std::errc{} || stop != text.data() + text.size())
		return {};
	return number;
}

} // namespace

bool has_only(std::string_view text, std::string_view punctuation)
{
	return std::ranges::all_of(text, [punctuation](char c) {
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		       punctuation.find(c) != std::string_view::npos;
	});
}

bool is_host_name(std::string_view untrusted_name)
{
	return has_valid_length_and_start(untrusted_name, max_host_name) && untrusted_name != "all" &&
	       has_only(untrusted_name, ".-");
}

bool is_run_name(std::string_view untrusted_name)
{
	return has_valid_length_and_start(untrusted_name, 64) && has_only(untrusted_name, "._-");
}

std::string subject_of(std::string_view kind, std::string_view host)
{
	std::string subject = "m.";
	subject.append(kind).append(".").append(host);
	std::replace(subject.begin() + static_cast<std::ptrdiff_t>(subject.size() - host.size()), subject.end(), '.',
		     '_');
	return subject;
}

std::optional<Shard> parse_shard(std::string_view text)
{
	const std::size_t slash = text.find('/');
	if (slash == std::string_view::npos)
		return {};
	const auto number = parse_number(text.substr(0, slash)), count = parse_number(text.substr(slash + 1));
	if (!number || !count || *count == 0 || *count > max_shards || (*count & (*count - 1)) || *number >= *count)
		return {};
	return Shard{*number, *count};
}

std::string shard_text(const Shard &shard)
{
	return fmt::format("{}/{}", shard.number, shard.count);
}

// FNV-1a with a finalizer, so that each character affects each bit.
unsigned shard_hash(std::string_view host)
{
	std::uint64_t hash = 0xcbf29ce484222325u;
	for (const char c : host)
		hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
	hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
	hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53u;
	return static_cast<unsigned>((hash ^ (hash >> 33)) % max_shards);
}

std::string stored_subject_of(std::string_view kind, std::string_view host)
{
	return subject_of(std::string(kind) + bit_tokens(shard_hash(host), shard_bits), host);
}

std::string shard_subject(std::string_view kind, const Shard &shard)
{
	unsigned fixed = 0;
	while (1u << fixed < shard.count)
		++fixed;
	return fmt::format("m.{}{}.*", kind, bit_tokens(shard.number, fixed));
}

std::optional<Subject> parse_subject(std::string_view untrusted_subject)
{
	if (!untrusted_subject.starts_with("m."))
		return {};
	const std::string_view rest = untrusted_subject.substr(2);
	const std::size_t dot = rest.find('.'), last = rest.rfind('.');
	if (dot == 0 || dot == std::string_view::npos || dot > 16)
		return {};
	Subject subject{std::string(rest.substr(0, dot)), std::string(rest.substr(last + 1))};
	std::ranges::replace(subject.host, '_', '.');
	if (!has_only(subject.kind, "") || !is_host_name(subject.host))
		return {};
	if (dot != last && untrusted_subject != stored_subject_of(subject.kind, subject.host))
		return {};
	return subject;
}

std::string make_inbox(std::string_view host)
{
	return inbox_prefix(host) + random_hex(128);
}

bool is_reply_of(std::string_view host, std::string_view untrusted_reply)
{
	const std::string prefix = inbox_prefix(host);
	if (untrusted_reply.size() > max_reply_bytes || !untrusted_reply.starts_with(prefix))
		return false;
	const std::string_view rest = untrusted_reply.substr(prefix.size());
	return !rest.empty() && has_only(rest, ".") && rest.front() != '.' && rest.back() != '.' &&
	       rest.find("..") == std::string_view::npos;
}

} // namespace monitor::fleet
