// SPDX-License-Identifier: MIT
// CPUs that go offline, by the kernel's list of those that are not.
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fcntl.h>

#include "base/fd.h"
#include "recording/session/online_cpus.h"
#include "scratch.h"

namespace test_online_cpus {

using monitor::record::OfflineCpus;
using Cpus = std::vector<std::uint32_t>;

TEST_CASE("online cpus: one is offline that two looks found so, once until it comes back; the list stays open")
{
	const Scratch directory;
	const std::string list = directory.path() + "/online";
	const auto write = [&](const std::string &text) {
		const monitor::Fd file = monitor::open_file(list, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		monitor::write_all(file.get(), std::as_bytes(std::span(text)), list);
	};
	write("0-3,6\n");
	OfflineCpus offline(7, list.c_str());
	CHECK(offline.poll() == Cpus{4, 5});
	CHECK(offline.at_start() == Cpus{4, 5});
	CHECK(offline.poll().empty());
	write("0,2-9\n"); // more than the recording has
	CHECK(offline.poll().empty());
	CHECK(offline.poll() == Cpus{1});
	CHECK(offline.poll().empty());
	write("0-1\n");
	CHECK(offline.poll().empty());
	CHECK(offline.poll() == Cpus{2, 3, 4, 5, 6});
	write("");
	CHECK(offline.poll().empty()); // not known
	write("0-6\n");
	CHECK(offline.poll().empty());
	CHECK(offline.at_start() == Cpus{4, 5});
}

} // namespace test_online_cpus
