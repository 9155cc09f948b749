// SPDX-License-Identifier: MIT
// A program's card that another recorder takes over: its area is replaced under threads that go on counting losses.
#include <atomic>
#include <thread>

#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/fd.h"
#include "monitor/edc_connect.h"

namespace test_user_area {

TEST_CASE("user area: no loss is missing that was counted while the area was replaced")
{
	const edc_welcome welcome = {EDC_USER_MAGIC, 1, 8 * EDC_BLOCK_SIZE, 2 * EDC_BLOCK_SIZE, 1, 0};
	edc_card card{};
	std::atomic<bool> is_over = false;
	std::uint64_t lost = 0;
	const auto replace = [&] {
		const monitor::Fd memory(::memfd_create("area", MFD_CLOEXEC));
		return ::ftruncate(memory.get(), 8 * EDC_BLOCK_SIZE) == 0 &&
		       edc_map_area_(&card, &welcome, memory.get()) == 0;
	};
	REQUIRE(replace());
	std::thread poster([&] {
		for (; !is_over; ++lost)
			edc_lost_(&card);
	});
	bool is_replaced = true;
	for (int i = 0; i < 2000; ++i)
		is_replaced &= replace();
	is_over = true;
	poster.join();
	CHECK(is_replaced);
	CHECK(card.area->lost_early == lost);
	::munmap(card.area, welcome.area_bytes);
	edc_family_ = nullptr;
}

} // namespace test_user_area
