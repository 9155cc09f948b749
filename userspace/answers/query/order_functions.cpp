// SPDX-License-Identifier: MIT
#include "order_functions.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "reading/events/event_order.h"

namespace monitor::query {
namespace {

using trace::EventOrder;

class Order {
public:
	explicit Order(const trace::Trace &trace) : trace_(trace), order_(trace) {}

	void before(sqlite3_context *context, sqlite3_value **values) const
	{
		if (std::any_of(values, values + 4,
				[](sqlite3_value *value) { return sqlite3_value_type(value) == SQLITE_NULL; }))
			return; // the result is NULL
		EventOrder::Instant a, b;
		if (!read(context, values, a) || !read(context, values + 2, b))
			return;
		if (const std::optional<bool> is_before = order_.is_before(a, b))
			sqlite3_result_int(context, *is_before);
	}

	void bound(sqlite3_context *context, sqlite3_value **values) const
	{
		EventOrder::Instant at;
		if (sqlite3_value_type(values[0]) == SQLITE_NULL || sqlite3_value_type(values[1]) == SQLITE_NULL ||
		    !read(context, values, at))
			return;
		constexpr auto max_result = static_cast<std::uint64_t>(std::numeric_limits<sqlite3_int64>::max());
		if (const trace::ClockBoundNs bound = trace_.machine_clocks()[at.machine].bound_at(at.time))
			sqlite3_result_int64(context, static_cast<sqlite3_int64>(std::min(*bound, max_result)));
	}

private:
	// A time and a host. False: the result is an error.
	bool read(sqlite3_context *context, sqlite3_value **values, EventOrder::Instant &instant) const
	{
		instant.time = trace_.from_begin_ns(sqlite3_value_int64(values[0]));
		const auto *text = reinterpret_cast<const char *>(sqlite3_value_text(values[1]));
		const std::string host(text ? text : "");
		const auto found = std::find(trace_.machines().begin(), trace_.machines().end(), host);
		if (found == trace_.machines().end()) {
			const std::string why = "the trace has no host " + host;
			sqlite3_result_error(context, why.c_str(), static_cast<int>(why.size()));
			return false;
		}
		instant.machine = static_cast<std::uint32_t>(found - trace_.machines().begin());
		return true;
	}

	const trace::Trace &trace_;
	EventOrder order_;
};

void call_before(sqlite3_context *context, int, sqlite3_value **values)
{
	try {
		static_cast<const Order *>(sqlite3_user_data(context))->before(context, values);
	} catch (const std::bad_alloc &) {
		sqlite3_result_error_nomem(context);
	}
}

void call_bound(sqlite3_context *context, int, sqlite3_value **values)
{
	try {
		static_cast<const Order *>(sqlite3_user_data(context))->bound(context, values);
	} catch (const std::bad_alloc &) {
		sqlite3_result_error_nomem(context);
	}
}

} // namespace

bool add_order_functions(sqlite3 *handle, const trace::Trace &trace)
{
	const auto add = [&](const char *name, int arguments, auto *call) {
		return sqlite3_create_function_v2(handle, name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
						  new Order(trace), call, nullptr, nullptr,
						  [](void *made) { delete static_cast<Order *>(made); }) == SQLITE_OK;
	};
	return add("before", 4, call_before) && add("clock_bound_ns", 2, call_bound);
}

} // namespace monitor::query
