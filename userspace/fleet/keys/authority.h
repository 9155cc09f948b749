// SPDX-License-Identifier: MIT
// The certificate authority of a fleet, by libcrypto: it signs the hub's certificate and one for each host. A cluster's
// hubs have a second authority among themselves, as its certificates make their owners hubs. Certificates are for TLS
// only; commands are signed by another key (fleet/wire/keys.h).
#pragma once

#include <memory>
#include <string>

struct evp_pkey_st; // of libcrypto
struct x509_st;

namespace monitor::fleet {

// As PEM.
struct Certificate {
	std::string certificate, key;
};

class Authority {
public:
	// A new authority. Throws Error, as all here.
	Authority();
	// An existing authority. `where` is for messages.
	Authority(const Certificate &pem, const std::string &where);

	Certificate pem() const;
	// For a client with this DNS name.
	Certificate client(const std::string &name) const;
	// For a server at this name or address.
	Certificate server(const std::string &name) const;
	// For a server that is also a client of others.
	Certificate peer(const std::string &name) const;

private:
	Certificate issue(const std::string &name, const std::string &alternatives, const char *usage) const;

	std::shared_ptr<evp_pkey_st> key_;
	std::shared_ptr<x509_st> certificate_;
};

} // namespace monitor::fleet
