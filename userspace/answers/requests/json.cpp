// SPDX-License-Identifier: MIT
#include "json.h"

#include "base/json.h"
#include "step_tables.h"

namespace monitor::requests {
namespace {

using Json = nlohmann::ordered_json;

void add_time(Json &json, const Elapsed &time)
{
	json["time_ns"] = time.is_known() ? Json(time.ns) : Json(nullptr);
	json["bound_ns"] = or_null(time.bound_ns);
	json["exact"] = time.is_exact;
}

Json step_json(const Answer &answer, const Step &step)
{
	const Point &from = answer.points[step.from], &to = answer.points[step.to];
	Json json = {{"from_host", answer.hosts[from.machine]},
		     {"from_event", from.event},
		     {"to_host", answer.hosts[to.machine]},
		     {"to_event", to.event}};
	add_time(json, step.time);
	json["sure_ns"] = step.sure_ns;
	json["order"] = step.is_order_known ? "known" : "unknown";
	return json;
}

Json largest_json(const Answer &answer, const Path &path)
{
	if (!path.largest)
		return nullptr;
	const Step &step = path.steps[*path.largest];
	Json json = step_json(answer, step);
	const bool has_share = path.total.is_known() && path.total.ns > 0;
	json["share_percent"] = has_share
				    ? Json(static_cast<double>(step.time.ns) / static_cast<double>(path.total.ns) * 100)
				    : Json(nullptr);
	json["sure"] = path.is_largest_sure;
	return json;
}

Json request_json(const Answer &answer, const SlowRequest &request)
{
	Json json = {{"key", request.key}};
	add_time(json, request.path.total);
	json["order"] = request.path.is_order_known ? "known" : "unknown";
	json["largest"] = largest_json(answer, request.path);
	json["steps"] = Json::array();
	for (const Step &step : request.path.steps)
		json["steps"].push_back(step_json(answer, step));
	return json;
}

Json backwards_json(const Answer &answer)
{
	Json all = Json::array();
	for (const Backwards &step : answer.backwards) {
		const Point &from = answer.points[step.from], &to = answer.points[step.to];
		all.push_back({{"from_host", answer.hosts[from.machine]},
			       {"from_event", from.event},
			       {"to_host", answer.hosts[to.machine]},
			       {"to_event", to.event},
			       {"forward", step.forward},
			       {"backward_requests", step.requests}});
	}
	return all;
}

Json summary_json(const Answer &answer)
{
	const Collected &out = answer.left_out;
	return {{"key", answer.key},
		{"hosts", hosts_of(answer)},
		{"requests", answer.requests},
		{"events", answer.events},
		{"total_ns", static_cast<double>(answer.total_ns)},
		{"unknown_time", answer.unknown_time},
		{"single_event_keys", answer.single},
		{"first_event_again", answer.again},
		{"other_events", out.other_events},
		{"long_key_events", out.long_events},
		{"crowded_keys", out.crowded_keys},
		{"crowded_key_events", out.crowded_events},
		{"steps_left_out", answer.steps_left_out},
		{"lost", or_null(out.losses.total_lost())}};
}

} // namespace

std::string json_text(const Answer &answer, const report::Table &rows)
{
	Json json;
	json["rows"] = report::rows_json(rows);
	json["slowest"] = Json::array();
	for (const SlowRequest &request : answer.slowest)
		json["slowest"].push_back(request_json(answer, request));
	json["backwards"] = backwards_json(answer);
	json["summary"] = summary_json(answer);
	return json_dump(json, 1);
}

} // namespace monitor::requests
