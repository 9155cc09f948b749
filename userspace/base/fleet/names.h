// SPDX-License-Identifier: MIT
// Names of hosts, and the subjects of the messages that belong to them: m.KIND.HOST.
//
// Called by everything that sends or receives for the fleet, on both sides of the network. The server binds a subject
// to a certificate (its permissions are subjects), so the host that a subject names is the host that sent it.
// Invariant: a host name that passed is_host_name() is one component of a path and one token of a subject, and the two
// spellings map onto each other exactly.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace monitor::fleet {

inline constexpr std::size_t max_host_name = 63;

// What `hostname` says: letters, digits, '.' and '-', starting with neither of these two. "all" means every host.
bool is_host_name(std::string_view untrusted_name);
// Of a run: letters, digits, '.', '_' and '-', 1 to 64, not starting with '.' or '-'.
bool is_run_name(std::string_view untrusted_name);

// "m.KIND.HOST"; a '.' of the host name is written '_'.
std::string subject_of(std::string_view kind, std::string_view host);

struct Subject {
	std::string kind, host;
};
// nullopt: none of ours.
std::optional<Subject> parse_subject(std::string_view untrusted_subject);

// "_INBOX.HOST.RANDOM": what only this host may subscribe to. A message's number follows after a '.'.
std::string make_inbox(std::string_view host);
// Is it below an inbox of this host? Who may publish everywhere answers nowhere else: otherwise a host would choose the
// subject, and with it as whom it speaks.
bool is_reply_of(std::string_view host, std::string_view untrusted_reply);

// `bits` (a multiple of 8) of the kernel's random number generator, as hexadecimal digits. Throws Error.
std::string random_hex(unsigned bits);

} // namespace monitor::fleet
