// SPDX-License-Identifier: MIT
//
// What kernel_bench measures: one table of cases, an entry per kernel, shape and number of rows.
#pragma once

#include "kernels/common/row_class.h"
#include "kernels/common/stream.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace firesteel::bench {

// A case ready to run: its memory, and launches that take turns through more weights than a cache
// holds.
class Workload
{
public:
    Workload() = default;
    Workload(const Workload &) = delete;
    Workload &operator=(const Workload &) = delete;
    virtual ~Workload() = default;
    virtual void enqueue(int turn) = 0; // one launch of what is measured
    virtual int turns() const = 0; // launches that touch all of its memory once
};

struct KernelCase
{
    std::string name; // "kda.qkv_proj"
    kernels::RowClass rowClass {};
    std::int64_t in = 0, out = 0; // of the matrix; hidden and width of experts
    int rate = 0;
    std::int64_t rows = 0;
    std::int64_t distinctExperts = 0; // 0: not an expert layer; else the mean of a launch
    double packedBytes = 0; // trellises read by a launch
    double bytes = 0; // all that a launch must move
    double flops = 0;
    std::function<std::unique_ptr<Workload>(kernels::Stream &)> prepare;
};

// Every EXL3 shape and rate of GLM-5.3-Flash.
std::vector<KernelCase> decodeCases();
std::vector<KernelCase> prefillCases();

} // namespace firesteel::bench
