// SPDX-License-Identifier: MIT
#include "tests/bench/kernel_cases.h"

#include "kernels/exl3/exl3.h"
#include "tests/bench/device_probe.h"
#include "tests/support/random_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>
#include <string_view>

namespace firesteel::bench {

using namespace kernels;

namespace {

// Decode: rotated past any L2 cache (60 MB on an H200, 24 MB on a GB10). Prefill is bound by
// arithmetic and takes its activations through the cache.
constexpr std::size_t workingSet(RowClass rowClass)
{
    return std::size_t { rowClass == RowClass::Decode ? 512U : 64U } << 20;
}

struct LinearShape
{
    const char *name;
    std::int32_t in, out;
    std::uint8_t rate;
};

// docs/model.md, section EXL3: the linears of GLM-5.3-Flash at 2.05 bits per weight.
constexpr LinearShape kLinears[] = {
    { "kda.qkv_proj", 4096, 24576, 4 },    { "kda.o_proj", 8192, 4096, 4 },
    { "mla.q_a_proj", 4096, 1536, 4 },     { "mla.q_b_proj", 1536, 16384, 4 },
    { "mla.kv_a_proj", 4096, 512, 4 },     { "mla.o_proj", 16384, 4096, 4 },
    { "indexer.wq_b", 1536, 4096, 4 },     { "shared.gate_proj", 4096, 2048, 4 },
    { "shared.down_proj", 2048, 4096, 4 }, { "dense.gate_proj", 4096, 12288, 3 },
    { "dense.down_proj", 12288, 4096, 3 }, { "lm_head", 4096, 154880, 5 },
    { "mtp.eh_proj", 8192, 4096, 2 },
};
constexpr std::int64_t kLinearRows[] = { 1, 2, 4, 6, 8, 9, 16, 24, 48, 72 };

constexpr Exl3MoeShape kMoe { .hidden = 4096,
                              .width = 2048,
                              .experts = 288,
                              .expertsPerToken = 8,
                              .swigluLimit = 10,
                              .gateRate = 2,
                              .upRate = 2,
                              .downRate = 2,
                              .codebook = Exl3Codebook::Mul1 };
constexpr std::int64_t kMoeRows[] = { 1, 2, 4, 6, 8, 24, 64 };
constexpr std::int64_t kPrefillRows[] = { 64, 256, 512, 1024, 2048, 4096, 8192 };
constexpr std::int64_t kMaxHeadRows = 512; // logits of long prompts are not wanted

std::uint16_t halfOf(float value) // a normal F16, truncated: only its size matters here
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>(((bits >> 16) & 0x8000U)
                                      | ((((bits >> 23) & 0xFFU) - 112U) << 10)
                                      | ((bits >> 13) & 0x3FFU));
}

std::vector<std::uint16_t> scales(std::size_t count, float size, test::RandomValues &random)
{
    std::vector<std::uint16_t> values(count);
    for (std::uint16_t &value : values)
        value = halfOf((random.bits() & 1U) != 0 ? size : -size);
    return values;
}

template <typename T> DeviceMemory placed(const std::vector<T> &values, Stream &stream)
{
    return toDevice(std::span<const T>(values), stream.cuda());
}

class LinearWorkload : public Workload
{
public:
    LinearWorkload(const Exl3Matrix &shape, std::int64_t rows, RowClass rowClass, Stream &stream)
        : m_stream(stream)
        , m_shape(shape)
        , m_rows(rows)
        , m_class(rowClass)
        , m_copies(static_cast<int>(
              std::max<std::size_t>(2, workingSet(rowClass) / exl3TrellisBytes(shape))))
        , m_trellises(exl3TrellisBytes(shape) * static_cast<std::size_t>(m_copies))
        , m_y(static_cast<std::size_t>(rows * shape.out) * sizeof(float))
        , m_scratch(exl3LinearScratchBytes(shape, rows, rowClass, stream))
    {
        test::RandomValues random(1);
        const auto in = static_cast<std::size_t>(shape.in);
        const auto out = static_cast<std::size_t>(shape.out);
        m_suh = placed(scales(in, 0.02F, random), stream);
        m_svh = placed(scales(out, 1, random), stream);
        m_x = placed(random.uniforms(static_cast<std::size_t>(rows) * in), stream);
        fillRandom(m_trellises, 2, stream.cuda());
        m_shape.suh = m_suh.as<std::uint16_t>().data();
        m_shape.svh = m_svh.as<std::uint16_t>().data();
    }

    int turns() const override { return m_copies; }
    void enqueue(int turn) override
    {
        Exl3Matrix m = m_shape;
        m.trellis = m_trellises.as<std::uint16_t>().data()
            + exl3TrellisBytes(m) / 2 * static_cast<std::size_t>(turn % m_copies);
        launchExl3Linear(m_y.as<float>(), m_x.as<float>(), m, m_rows, m_class,
                         { m_scratch.as<std::byte>() }, m_stream);
    }

private:
    Stream &m_stream;
    Exl3Matrix m_shape;
    std::int64_t m_rows;
    RowClass m_class;
    int m_copies;
    DeviceMemory m_trellises, m_y, m_scratch, m_suh, m_svh, m_x;
};

// Experts of `rows` rows, as many distinct ones as `distinct` says: each row's first choices are
// taken from a shuffled list of that many until all are used, the rest are drawn from it.
std::vector<std::int32_t> chooseExperts(std::int64_t rows, std::int64_t distinct,
                                        test::RandomValues &random)
{
    std::vector<std::int32_t> all(static_cast<std::size_t>(kMoe.experts));
    std::iota(all.begin(), all.end(), 0);
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
        std::swap(all[i],
                  all[static_cast<std::size_t>(
                      random.integer(static_cast<int>(i), static_cast<int>(all.size()) - 1))]);
    all.resize(static_cast<std::size_t>(distinct));
    std::vector<std::int32_t> chosen;
    std::size_t next = 0;
    for (std::int64_t t = 0; t < rows; ++t) {
        // This row's share of the experts nobody chose yet.
        const std::size_t fresh
            = (all.size() * static_cast<std::size_t>(t + 1) + static_cast<std::size_t>(rows) - 1)
                / static_cast<std::size_t>(rows)
            - next;
        std::set<std::int32_t> row;
        for (std::size_t i = 0; i < std::min<std::size_t>(fresh, 8); ++i)
            row.insert(all[next + i]);
        next += row.size();
        while (row.size() < static_cast<std::size_t>(kMoe.expertsPerToken))
            row.insert(
                all[static_cast<std::size_t>(random.integer(0, static_cast<int>(all.size()) - 1))]);
        chosen.insert(chosen.end(), row.begin(), row.end());
    }
    return chosen;
}

class ExpertsWorkload : public Workload
{
public:
    ExpertsWorkload(std::int64_t rows, std::int64_t distinct, RowClass rowClass, Stream &stream)
        : m_stream(stream)
        , m_rows(rows)
        , m_class(rowClass)
        , m_turns(std::clamp(static_cast<int>(2 * kMoe.experts / distinct), 2, 36))
        , m_trellises(3 * kMatrixBytes * static_cast<std::size_t>(kMoe.experts))
        , m_y(static_cast<std::size_t>(rows * kMoe.hidden) * sizeof(float))
        , m_scratch(exl3ExpertsScratchBytes(kMoe, rows, rowClass, stream))
    {
        test::RandomValues random(3);
        fillRandom(m_trellises, 4, stream.cuda());
        m_small = placed(scales(kHidden, 0.02F, random), stream);
        m_large = placed(scales(kHidden, 1, random), stream);
        std::vector<Exl3Expert> table;
        table.reserve(static_cast<std::size_t>(kMoe.experts));
        for (std::size_t e = 0; e < static_cast<std::size_t>(kMoe.experts); ++e)
            table.push_back({ .gate = matrix(3 * e, kMoe.hidden, kMoe.width),
                              .up = matrix(3 * e + 1, kMoe.hidden, kMoe.width),
                              .down = matrix(3 * e + 2, kMoe.width, kMoe.hidden) });
        m_table = placed(table, stream);
        m_x = placed(random.uniforms(static_cast<std::size_t>(rows) * kHidden), stream);
        m_weights = placed(
            random.uniforms(static_cast<std::size_t>(rows * kMoe.expertsPerToken), 0.1F, 0.5F),
            stream);
        std::vector<std::int32_t> ids;
        for (int turn = 0; turn < m_turns; ++turn)
            std::ranges::copy(chooseExperts(rows, distinct, random), std::back_inserter(ids));
        m_ids = placed(ids, stream);
    }

    int turns() const override { return m_turns; }
    void enqueue(int turn) override
    {
        const auto choices = static_cast<std::size_t>(m_rows * kMoe.expertsPerToken);
        launchExl3Experts(m_y.as<float>(), m_x.as<float>(),
                          m_ids.as<const std::int32_t>().subspan(
                              choices * static_cast<std::size_t>(turn % m_turns), choices),
                          m_weights.as<float>(), m_table.as<Exl3Expert>(), kMoe, m_rows, m_class,
                          { m_scratch.as<std::byte>() }, m_stream);
    }

private:
    static constexpr auto kHidden = static_cast<std::size_t>(kMoe.hidden);
    static constexpr auto kMatrixBytes = static_cast<std::size_t>(kMoe.hidden * kMoe.width / 4);

    Exl3Matrix matrix(std::size_t index, std::int64_t in, std::int64_t out) const
    {
        return { .trellis = m_trellises.as<std::uint16_t>().data() + index * (kMatrixBytes / 2),
                 .suh = m_small.as<std::uint16_t>().data(),
                 .svh = m_large.as<std::uint16_t>().data(),
                 .in = static_cast<std::int32_t>(in),
                 .out = static_cast<std::int32_t>(out),
                 .rate = 2,
                 .codebook = Exl3Codebook::Mul1 };
    }

    Stream &m_stream;
    std::int64_t m_rows;
    RowClass m_class;
    int m_turns;
    DeviceMemory m_trellises, m_y, m_scratch, m_small, m_large, m_table, m_x, m_weights, m_ids;
};

KernelCase linearCase(const LinearShape &shape, std::int64_t rows, RowClass rowClass)
{
    const Exl3Matrix m { .in = shape.in, .out = shape.out, .rate = shape.rate };
    const auto weights = static_cast<double>(shape.in) * shape.out;
    return { .name = shape.name,
             .rowClass = rowClass,
             .in = shape.in,
             .out = shape.out,
             .rate = shape.rate,
             .rows = rows,
             .packedBytes = static_cast<double>(exl3TrellisBytes(m)),
             .bytes = static_cast<double>(exl3Bytes(m))
                 + 4.0 * static_cast<double>(rows) * (shape.in + shape.out),
             .flops = 2.0 * static_cast<double>(rows) * weights,
             .prepare = [m, rows, rowClass](Stream &stream) -> std::unique_ptr<Workload> {
                 return std::make_unique<LinearWorkload>(m, rows, rowClass, stream);
             } };
}

KernelCase expertsCase(const char *name, std::int64_t rows, std::int64_t distinct,
                       RowClass rowClass)
{
    const auto weights = 3.0 * static_cast<double>(kMoe.hidden * kMoe.width);
    const auto packed = static_cast<double>(distinct) * weights * kMoe.downRate / 8;
    return { .name = name,
             .rowClass = rowClass,
             .in = kMoe.hidden,
             .out = kMoe.width,
             .rate = kMoe.downRate,
             .rows = rows,
             .distinctExperts = distinct,
             .packedBytes = packed,
             .bytes = packed + static_cast<double>(distinct * 6 * (kMoe.hidden + kMoe.width))
                 + 8.0 * static_cast<double>(rows * kMoe.hidden),
             .flops = 2.0 * static_cast<double>(rows * kMoe.expertsPerToken) * weights,
             .prepare = [rows, distinct, rowClass](Stream &stream) -> std::unique_ptr<Workload> {
                 return std::make_unique<ExpertsWorkload>(rows, distinct, rowClass, stream);
             } };
}

// Distinct experts that rows choose on average when they choose independently.
double independentExperts(std::int64_t rows)
{
    const auto perToken = static_cast<double>(kMoe.expertsPerToken);
    const auto experts = static_cast<double>(kMoe.experts);
    return experts * (1 - std::pow(1 - perToken / experts, static_cast<double>(rows)));
}

} // namespace

std::vector<KernelCase> decodeCases()
{
    std::vector<KernelCase> cases;
    const auto perToken = static_cast<double>(kMoe.expertsPerToken);
    for (const std::int64_t rows : kMoeRows) {
        const double independent = independentExperts(rows);
        cases.push_back(
            expertsCase("experts.independent", rows, std::llround(independent), RowClass::Decode));
        // Neighbouring rows of a text choose 0.6 of the further experts that independent ones
        // would.
        if (rows > 1)
            cases.push_back(expertsCase("experts.overlap0.6", rows,
                                        std::llround(perToken + 0.6 * (independent - perToken)),
                                        RowClass::Decode));
    }
    for (const LinearShape &shape : kLinears)
        for (const std::int64_t rows : kLinearRows)
            cases.push_back(linearCase(shape, rows, RowClass::Decode));
    return cases;
}

std::vector<KernelCase> prefillCases()
{
    std::vector<KernelCase> cases;
    for (const std::int64_t rows : kPrefillRows) {
        cases.push_back(expertsCase("experts.independent", rows,
                                    std::llround(independentExperts(rows)), RowClass::Prefill));
        for (const LinearShape &shape : kLinears)
            if (rows <= kMaxHeadRows || std::string_view(shape.name) != "lm_head")
                cases.push_back(linearCase(shape, rows, RowClass::Prefill));
    }
    return cases;
}

} // namespace firesteel::bench
