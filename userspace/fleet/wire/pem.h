// SPDX-License-Identifier: MIT
// PEM texts by libcrypto: what its functions read from and write to.
#pragma once

#include <memory>
#include <string>

#include <openssl/pem.h>

#include "base/error.h"

namespace monitor::fleet {

using Bio = std::unique_ptr<BIO, decltype(&::BIO_free_all)>;

inline Bio pem_reader(const std::string &text)
{
	return {::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), ::BIO_free_all};
}

// What a function writes to a BIO; 1: it has. Throws Error.
template <class Write> std::string pem_by(Write &&write)
{
	const Bio bio(::BIO_new(::BIO_s_mem()), ::BIO_free_all);
	if (!bio || write(bio.get()) != 1)
		throw Error("libcrypto cannot write PEM");
	char *data = nullptr;
	const long size = BIO_get_mem_data(bio.get(), &data);
	return {data, static_cast<std::size_t>(size)};
}

// For a key without a passphrase: never asks at the terminal.
inline int no_passphrase(char *, int, int, void *)
{
	return -1;
}

} // namespace monitor::fleet
