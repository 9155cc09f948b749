// SPDX-License-Identifier: MIT
// Names of hosts, and the subjects of their messages: m.KIND.HOST, or m.KIND.B.B.B.B.B.B.HOST for what a collector
// stores. The bits B are of a hash of the host's name: a subject with wildcards selects the hosts of one of 2, 4, ...
// 64 collectors, and the server sends each only those.
//
// The server binds subjects to a certificate, as its permissions are subjects: so the host that a subject names is the
// sender. Invariant: a host name that passed is_host_name() is one component of a path and one token of a subject, and
// the two spellings map onto each other exactly.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace monitor::fleet {

inline constexpr std::size_t max_host_name = 63;

// Whether it has only letters, digits and these characters.
bool has_only(std::string_view text, std::string_view punctuation);

// As from `hostname`: letters, digits, '.' and '-', starting with neither of the latter. "all" is reserved for all
// hosts.
bool is_host_name(std::string_view untrusted_name);
// A run's name: letters, digits, '.', '_' and '-', 1 to 64, not starting with '.' or '-'.
bool is_run_name(std::string_view untrusted_name);

// All kinds of messages that hosts send to the operator and the collectors, by form of subject. The hub's configuration
// permits only these (fleet/keys/).
inline constexpr std::array host_kinds = {"hello", "answer", "clock", "froze"};
inline constexpr std::array stored_kinds = {"data", "file"};

// "m.KIND.HOST"; a '.' of the host name is written '_'.
std::string subject_of(std::string_view kind, std::string_view host);

// Hosts are divided by a hash of their names: shard `number` of `count` has those whose hash modulo `count` equals
// `number`.
inline constexpr unsigned shard_bits = 6, max_shards = 1u << shard_bits;
struct Shard {
	unsigned number = 0, count = 1;

	bool is_whole() const { return count == 1; }
};
// "K/N": nullopt unless N is a power of two up to max_shards, and K below it.
std::optional<Shard> parse_shard(std::string_view text);
std::string shard_text(const Shard &shard);
// Below max_shards, the same in all versions.
unsigned shard_hash(std::string_view host);
// For a kind in stored_kinds: "m.KIND.B.B.B.B.B.B.HOST", the lowest bit first.
std::string stored_subject_of(std::string_view kind, std::string_view host);
// Matches all such subjects of a shard, with wildcards.
std::string shard_subject(std::string_view kind, const Shard &shard);

struct Subject {
	std::string kind, host;
};
// Parses both forms. nullopt: neither.
std::optional<Subject> parse_subject(std::string_view untrusted_subject);

// "_INBOX.HOST.RANDOM": only this host may subscribe to it. A message's number follows after a '.'.
std::string make_inbox(std::string_view host);
// Whether it is below an inbox of this host. Processes that may publish anywhere must only answer there: otherwise a
// host could choose the subject, and so impersonate another one.
bool is_reply_of(std::string_view host, std::string_view untrusted_reply);

} // namespace monitor::fleet
