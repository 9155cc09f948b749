// SPDX-License-Identifier: MIT
// The kernel module as a source of rings for instrumented programs (monitor/user_device.h): which processes have rings,
// their memory, and the ids of classes. A program's memory is as untrusted here as memory that the recorder gave it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "monitor/user_device.h"

namespace monitor::card {

struct DeclaredClass {
	std::uint16_t id;
	std::string name, fields;
};

class UserModule {
public:
	// Null if no module is loaded, or this process may not read other processes' rings. Throws Error if another
	// recorder reads them.
	static std::unique_ptr<UserModule> open();

	// Readable when take_arrived() has something.
	int fd() const { return device_.get(); }
	// The processes that got rings since the last call; the first call returns all that have rings.
	std::vector<edc_device_process> take_arrived();
	// The area of a process; empty if it cannot be mapped.
	Mapping map(const edc_device_process &process) const;

	// The id of a class, which all programs and recorders share; 0 if none is left.
	std::uint16_t id_of(std::string_view name, std::string_view fields);
	// The next declared class, in the order of declaration.
	std::optional<DeclaredClass> next_class();

	// Requests for rings that got no memory since open().
	std::uint64_t refused() const;

private:
	explicit UserModule(Fd device);

	Fd device_;
	std::uint64_t last_class_ = 0;
	std::uint32_t refused_before_ = 0;
};

} // namespace monitor::card
