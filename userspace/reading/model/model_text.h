// SPDX-License-Identifier: MIT
// Models as text, which users read, edit or write, and their samples, which are in a file of their own.
//
//     # monitor model 1: 5 recordings, 1.313 s
//     cpus 2; latency 24us 36us 61us; wakecost 7.8us; fixed 12ms
//     distribution service exponential 120us
//     role reader 1: loop 800 { cpu check; put workers }
//     role workers pool 2 capacity 8: { take; cpu squeeze; signal writer }
//     role writer 1 in order: loop 800 { await squeeze; lock table { cpu store of service }; branch 0.1 { sleep 2ms } }
//     because squeeze follows check of the same item: 800 of 800
//
// Both texts are untrusted. Invariant: a model that was read is consistent (roles, blocks, columns), so that a replay
// need not check it; a printed model can be read and is the same then.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model.h"

namespace monitor::model {

inline constexpr std::size_t max_text_bytes = 1u << 22, max_samples_bytes = 1u << 30, max_depth = 32;
inline constexpr std::size_t max_operations = 10'000, max_roles = 1000, max_threads = 100'000;

// Whether a file that begins with this is a model.
bool is_model(std::string_view text);

// `name` is for messages: "NAME, line 3: ...". Throw Error.
Model parse_model(std::string_view untrusted_text, const std::string &name);
// Replaces the sample sets.
void parse_samples(std::string_view untrusted_text, const std::string &name, Model &model);

std::string model_text(const Model &model);
std::string samples_text(const Model &model);

// With PATH.samples, if there is one. Throw Error.
Model load_model(const std::string &path);
void save_model(const Model &model, const std::string &path);

// "cpu", "fork"
const char *keyword_of(Kind kind);
// In quotes, unless it is a plain word.
std::string name_text(std::string_view name);
// "7.8us": exact.
std::string duration_text(std::uint64_t ns);

} // namespace monitor::model
