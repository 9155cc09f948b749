// SPDX-License-Identifier: MIT
// Reads certificates: the names in one, and whether a key belongs to it.
#pragma once

#include <string>
#include <vector>

namespace monitor::fleet {

// The DNS names among the subject's alternative names. `where` is for messages. Throws Error if this is no certificate.
std::vector<std::string> dns_names_of(const std::string &pem, const std::string &where);

// Throws Error unless they belong together. `where` is the key's file.
void expect_key_of(const std::string &certificate_pem, const std::string &key_pem, const std::string &where);

} // namespace monitor::fleet
