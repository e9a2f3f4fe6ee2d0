// SPDX-License-Identifier: MIT
#include "engine/quantize/matrix_quantizer.h"

#include "engine/quantize/block_ldl.h"
#include "engine/quantize/rotation.h"
#include "engine/quantize/tile_search.h"
#include "kernels/common/simd.h"
#include "kernels/exl3/exl3_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace firesteel::engine {

namespace {

using kernels::Exl3Codebook;
using kernels::kExl3Tile;
using kernels::kExl3TileSize;
using kernels::Vec8;

constexpr std::int64_t kColumns = 64; // of one part of parallel work

// Root mean square that tiles should have, over that of the codebook, by rate: where the mean
// squared error of Gaussian tiles is least (docs/quantization.md). Flat up to rate 4; above, the
// largest values decide, and the search around it matters.
constexpr std::array<double, kernels::kExl3MaxRate> kScales { 1.04, 0.99, 0.97, 0.92,
                                                              0.85, 0.77, 0.75, 0.75 };
constexpr std::array<double, 3> kScaleSteps { 0.9, 1.0, 1.1 };
constexpr std::size_t kLeastSample = 32; // tiles whose errors choose the scale
constexpr std::size_t kMostSample = 64;
constexpr std::size_t kSamplePart = 16; // otherwise a sixteenth of the tiles

std::uint16_t halfBits(double value)
{
    return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}
float widened(std::uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }

double codebookSpread(Exl3Codebook codebook)
{
    double sum = 0;
    const std::span<const float> values = kernels::exl3FloatValues(codebook);
    for (const float value : values)
        sum += static_cast<double>(value) * static_cast<double>(value);
    return std::sqrt(sum / static_cast<double>(values.size()));
}

// Signs from a name: the same on every machine and in every run.
class Signs
{
public:
    Signs(std::string_view name, std::string_view part)
    {
        for (const std::string_view text : { name, part })
            for (const char character : text)
                m_state = (m_state ^ static_cast<unsigned char>(character)) * 0x100000001B3U;
    }
    double next()
    {
        m_state += 0x9E3779B97F4A7C15U; // SplitMix64
        std::uint64_t z = m_state;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
        z = (z ^ z >> 27) * 0x94D049BB133111EBU;
        return (z ^ z >> 31) >> 63 != 0 ? -1 : 1;
    }

private:
    std::uint64_t m_state = 0xCBF29CE484222325U; // FNV-1a
};

// One matrix on its way, in row-major [in, out].
struct Work
{
    std::int64_t in = 0;
    std::int64_t out = 0;
    std::vector<float> weight; // diag(1 / svh) and H applied on the output side; later diag(1 /
                               // suh) and H on the input side; at the end Q's error
    std::vector<float> ldl; // [in, in]; empty: no feedback
    std::vector<double> rowSpread; // [in], root mean square
    std::vector<double> inputSign; // [in]
    double scale = 0;
    QuantizedMatrix result;

    std::size_t tiles() const { return static_cast<std::size_t>(in * out) / kExl3TileSize; }
    std::size_t rowTiles() const { return static_cast<std::size_t>(out / kExl3Tile); }
};

void gatherTile(float *tile, const float *rows, std::int64_t stride)
{
    for (int t = 0; t < kExl3TileSize; ++t)
        tile[t] = rows[kernels::exl3StepRow(t) * stride + kernels::exl3StepColumn(t)];
}

// Output signs and scales, the rotation of the output side, and what the input side needs.
void prepareOutputs(Work &w, const MatrixToQuantize &matrix)
{
    const auto in = static_cast<std::size_t>(w.in);
    const auto out = static_cast<std::size_t>(w.out);
    std::vector<double> spread(out);
    double sum = 0;
    for (std::size_t n = 0; n < out; ++n) {
        double squares = 0;
        for (std::size_t k = 0; k < in; ++k) {
            const auto value = static_cast<double>(matrix.weight[n * in + k]);
            squares += value * value;
        }
        spread[n] = std::sqrt(squares / static_cast<double>(in));
        sum += spread[n];
    }
    const double mean = sum / static_cast<double>(out);
    Signs signs(matrix.name, "svh");
    w.result.svh.resize(out);
    w.weight.assign(in * out, 0);
    for (std::size_t n = 0; n < out; ++n) {
        const double sign = signs.next();
        // Rounded before it divides, so that the search makes up for the rounding. A column of
        // zeros, or of next to nothing, becomes one of zeros.
        const std::uint16_t scale = mean > 0 ? halfBits(sign * spread[n] / mean) : 0;
        const float divisor = widened(scale);
        w.result.svh[n] = scale;
        if (divisor == 0)
            continue;
        for (std::size_t k = 0; k < in; ++k)
            w.weight[k * out + n] = matrix.weight[n * in + k] / divisor;
    }
    rotateRows(w.weight);

    Signs inputSigns(matrix.name, "suh");
    w.rowSpread.resize(in);
    w.inputSign.resize(in);
    double total = 0;
    for (std::size_t k = 0; k < in; ++k) {
        double squares = 0;
        for (std::size_t n = 0; n < out; ++n) {
            const auto value = static_cast<double>(w.weight[k * out + n]);
            squares += value * value;
        }
        w.rowSpread[k] = std::sqrt(squares / static_cast<double>(out));
        w.inputSign[k] = inputSigns.next();
        total += w.rowSpread[k];
    }
    // A row of next to nothing keeps a scale that F16 can hold.
    const double least = total > 0 ? total / static_cast<double>(in) * 0x1p-10 : 1;
    for (double &value : w.rowSpread)
        value = std::max(value, least);
}

// diag(sign / (spread / scale)) and H on the input side.
std::vector<float> inner(const Work &w, std::span<const float> inputScales)
{
    std::vector<float> m = w.weight;
    for (std::size_t k = 0; k < inputScales.size(); ++k) {
        float *row = m.data() + k * static_cast<std::size_t>(w.out);
        for (std::int64_t n = 0; n < w.out; ++n)
            row[n] /= inputScales[k];
    }
    rotateColumns(m, w.out);
    return m;
}

// The scale at which a sample of each matrix's tiles is coded best: three tries, a parabola.
void chooseScales(std::span<Work> works, int rate, Exl3Codebook codebook, TileSearch &search)
{
    const double spread = codebookSpread(codebook);
    const double usual = kScales.at(static_cast<std::size_t>(rate - 1));
    std::vector<float> samples; // of all matrices, root mean square about 1
    std::vector<std::size_t> counts;
    for (const Work &w : works) {
        std::vector<float> scales(static_cast<std::size_t>(w.in));
        for (std::size_t k = 0; k < scales.size(); ++k)
            scales[k] = static_cast<float>(w.inputSign[k] * w.rowSpread[k]);
        const std::vector<float> m = inner(w, scales);
        const std::size_t count
            = std::min(w.tiles(), std::clamp(w.tiles() / kSamplePart, kLeastSample, kMostSample));
        counts.push_back(count);
        const std::size_t width = std::max<std::size_t>(1, w.rowTiles());
        for (std::size_t i = 0; i < count; ++i) {
            // Evenly over the tiles, which follow each other along rows.
            const std::size_t tile = i * w.tiles() / count + i % 7 % (w.tiles() / count);
            const std::size_t at = tile / width * kExl3Tile * static_cast<std::size_t>(w.out)
                + tile % width * kExl3Tile;
            samples.resize(samples.size() + kExl3TileSize);
            gatherTile(&*(samples.end() - kExl3TileSize), m.data() + at, w.out);
        }
    }
    const std::span<const float> values = kernels::exl3FloatValues(codebook);
    std::vector<std::array<double, kScaleSteps.size()>> errors(works.size());
    std::vector<float> scaled(samples.size());
    std::vector<std::uint16_t> states(samples.size());
    for (std::size_t step = 0; step < kScaleSteps.size(); ++step) {
        const auto factor = static_cast<float>(kScaleSteps.at(step) * usual * spread);
        std::ranges::transform(samples, scaled.begin(), [&](float v) { return v * factor; });
        search.run(states, scaled);
        std::size_t at = 0;
        for (std::size_t i = 0; i < works.size(); ++i)
            for (const std::size_t end = at + counts[i] * kExl3TileSize; at < end; ++at) {
                const double d = static_cast<double>(values[states[at]] - scaled[at])
                    / static_cast<double>(factor);
                errors[i].at(step) += d * d;
            }
    }
    for (std::size_t i = 0; i < works.size(); ++i) {
        const auto [low, middle, high] = errors[i];
        const double bend = low - 2 * middle + high;
        const double shift = bend > 0 ? (low - high) / (2 * bend) : (low < high ? -1.0 : 1.0);
        const double step = kScaleSteps[1] - kScaleSteps[0];
        // The minimum of a sample is about as far off as matrices differ: go half the way.
        const double move = step * std::clamp(shift, -1.0, 1.0) / 2;
        works[i].scale = usual * (1 + move);
    }
}

// Input scales; the weight and its Hessian's factor in the basis that is coded.
void prepareInputs(Work &w, const MatrixToQuantize &matrix, Exl3Codebook codebook,
                   kernels::ThreadPool &pool)
{
    const auto in = static_cast<std::size_t>(w.in);
    const double spread = codebookSpread(codebook);
    std::vector<float> scales(in);
    w.result.suh.resize(in);
    for (std::size_t k = 0; k < in; ++k) {
        std::uint16_t bits = halfBits(w.inputSign[k] * w.rowSpread[k] / (w.scale * spread));
        if ((bits & 0x7FFFU) == 0)
            bits |= 1; // the smallest: the matrix is next to nothing
        w.result.suh[k] = bits;
        scales[k] = widened(bits);
    }
    w.weight = inner(w, scales);
    if (matrix.hessian == nullptr || matrix.hessian->isEmpty())
        return;
    // Of an error in the coded basis: H diag(suh) Hessian diag(suh) H.
    std::vector<double> h = matrix.hessian->regularised(kHessianRegularisation);
    for (std::size_t i = 0; i < in; ++i)
        for (std::size_t j = 0; j < in; ++j)
            h[i * in + j] *= static_cast<double>(scales[i]) * static_cast<double>(scales[j]);
    rotateRows(h);
    rotateColumns(h, w.in);
    w.ldl = blockLdl(std::move(h), w.in, pool);
}

// target [16, out] += sum over rows j from `below` on of l[j, 0..16)^T error[j, :), for 8 columns.
// l points at column 0 of the block, error at column 0 of the eight.
FIRESTEEL_SIMD_CLONES void addFeedback(float *target, const float *l, const float *error,
                                       std::int64_t in, std::int64_t out, std::int64_t below)
{
    constexpr int kRows = 8; // sums in registers
    for (int first = 0; first < kExl3Tile; first += kRows) {
        Vec8 sums[kRows] = {};
        for (std::int64_t j = below; j < in; ++j) {
            const Vec8 e = kernels::load8(error + j * out);
            for (int r = 0; r < kRows; ++r)
                sums[r] += kernels::splat(l[j * in + first + r]) * e;
        }
        for (int r = 0; r < kRows; ++r) {
            float *row = target + (first + r) * out;
            kernels::store8(row, kernels::load8(row) + sums[r]);
        }
    }
}

// What the tiles of row block `block` should be: the weight and the feedback of the rows below.
// tiles: those of the matrix, [out / 16, 256].
void targetTiles(float *tiles, const Work &w, std::int64_t block, kernels::ThreadPool &pool)
{
    const std::int64_t row = block * kExl3Tile;
    std::vector<float> target(w.weight.begin() + row * w.out,
                              w.weight.begin() + (row + kExl3Tile) * w.out);
    pool.parallelFor(w.out, kColumns, [&](std::int64_t first, std::int64_t last) {
        if (!w.ldl.empty())
            for (std::int64_t c = first; c < last; c += 8)
                addFeedback(target.data() + c, w.ldl.data() + row, w.weight.data() + c, w.in, w.out,
                            row + kExl3Tile);
        for (std::int64_t c = first; c < last; c += kExl3Tile)
            gatherTile(tiles + c / kExl3Tile * kExl3TileSize, target.data() + c, w.out);
    });
}

// Packs the chosen states and leaves the block's error in place of its weights.
void keepTiles(Work &w, std::int64_t block, std::span<const std::uint16_t> states,
               std::span<const float> values)
{
    const int rate = w.result.rate;
    const std::size_t words = static_cast<std::size_t>(kExl3Tile) * static_cast<std::size_t>(rate);
    for (std::size_t tile = 0; tile < w.rowTiles(); ++tile) {
        const auto path = states.subspan(tile * kExl3TileSize).first<kExl3TileSize>();
        const std::size_t at = static_cast<std::size_t>(block) * w.rowTiles() + tile;
        kernels::exl3PackTile(w.result.trellis.data() + at * words, path, rate);
        float *corner = w.weight.data() + block * kExl3Tile * w.out
            + static_cast<std::int64_t>(tile) * kExl3Tile;
        for (int t = 0; t < kExl3TileSize; ++t)
            corner[kernels::exl3StepRow(t) * w.out + kernels::exl3StepColumn(t)]
                -= values[path[static_cast<std::size_t>(t)]];
    }
}

// tr(m^T H m), m [in, out] row-major; without a Hessian the sum of squares.
double quadraticForm(std::span<const float> m, std::int64_t in, const std::vector<double> &hessian,
                     kernels::ThreadPool &pool)
{
    const std::int64_t out = static_cast<std::int64_t>(m.size()) / in;
    std::vector<double> sums(static_cast<std::size_t>(in));
    pool.parallelFor(in, 8, [&](std::int64_t first, std::int64_t last) {
        std::vector<float> product(static_cast<std::size_t>(out));
        for (std::int64_t i = first; i < last; ++i) {
            const float *row = m.data() + i * out;
            double sum = 0;
            if (hessian.empty()) {
                for (std::int64_t n = 0; n < out; ++n)
                    sum += static_cast<double>(row[n]) * static_cast<double>(row[n]);
            } else {
                std::ranges::fill(product, 0.0F);
                for (std::int64_t k = 0; k < in; ++k) {
                    const auto factor
                        = static_cast<float>(hessian[static_cast<std::size_t>(i * in + k)]);
                    for (std::int64_t n = 0; n < out; ++n)
                        product[static_cast<std::size_t>(n)]
                            += factor * m[static_cast<std::size_t>(k * out + n)];
                }
                for (std::int64_t n = 0; n < out; ++n)
                    sum += static_cast<double>(row[n])
                        * static_cast<double>(product[static_cast<std::size_t>(n)]);
            }
            sums[static_cast<std::size_t>(i)] = sum;
        }
    });
    double sum = 0;
    for (const double part : sums)
        sum += part;
    return sum;
}

MatrixErrors errorsOf(std::span<const float> error, const MatrixToQuantize &matrix,
                      kernels::ThreadPool &pool)
{
    const auto in = static_cast<std::size_t>(matrix.in);
    const auto out = static_cast<std::size_t>(matrix.out);
    std::vector<float> weight(in * out);
    for (std::size_t n = 0; n < out; ++n)
        for (std::size_t k = 0; k < in; ++k)
            weight[k * out + n] = matrix.weight[n * in + k];
    const std::vector<double> none;
    const bool isKnown = matrix.hessian != nullptr && !matrix.hessian->isEmpty();
    const std::vector<double> h
        = isKnown ? matrix.hessian->regularised(kHessianRegularisation) : none;
    const auto ratio = [](double a, double b) { return b > 0 ? a / b : 0; };
    return { .proxy = ratio(quadraticForm(error, matrix.in, h, pool),
                            quadraticForm(weight, matrix.in, h, pool)),
             .normalised = ratio(quadraticForm(error, matrix.in, none, pool),
                                 quadraticForm(weight, matrix.in, none, pool)) };
}

// The error left in the coded basis, brought back to the matrix's own.
void measure(Work &w, const MatrixToQuantize &matrix, kernels::ThreadPool &pool)
{
    const auto out = static_cast<std::size_t>(w.out);
    rotateColumns(w.weight, w.out);
    for (std::size_t k = 0; k < w.result.suh.size(); ++k)
        for (std::size_t n = 0; n < out; ++n)
            w.weight[k * out + n] *= widened(w.result.suh[k]);
    rotateRows(w.weight);
    for (std::size_t k = 0; k < w.result.suh.size(); ++k)
        for (std::size_t n = 0; n < out; ++n) {
            float &error = w.weight[k * out + n];
            error = (w.result.svh[n] & 0x7FFFU) == 0 ? matrix.weight[n * w.result.suh.size() + k]
                                                     : error * widened(w.result.svh[n]);
        }
    const MatrixErrors errors = errorsOf(w.weight, matrix, pool);
    w.result.proxyError = errors.proxy;
    w.result.normalisedError = errors.normalised;
    w.result.scale = w.scale;
}

} // namespace

kernels::Exl3Matrix QuantizedMatrix::view() const
{
    return { .trellis = trellis.data(),
             .suh = suh.data(),
             .svh = svh.data(),
             .bias = nullptr,
             .in = in,
             .out = out,
             .rate = rate,
             .codebook = codebook };
}

MatrixErrors matrixErrors(std::span<const float> approximate, const MatrixToQuantize &matrix,
                          kernels::ThreadPool &pool)
{
    const auto in = static_cast<std::size_t>(matrix.in);
    const auto out = static_cast<std::size_t>(matrix.out);
    std::vector<float> error(in * out);
    for (std::size_t n = 0; n < out; ++n)
        for (std::size_t k = 0; k < in; ++k)
            error[k * out + n] = matrix.weight[n * in + k] - approximate[n * in + k];
    return errorsOf(error, matrix, pool);
}

Result<std::vector<QuantizedMatrix>> quantizeMatrices(std::span<const MatrixToQuantize> matrices,
                                                      int rate, Exl3Codebook codebook,
                                                      kernels::Stream &stream,
                                                      const CancelToken &cancel)
{
    if (matrices.empty())
        return std::vector<QuantizedMatrix> {};
    const std::int32_t in = matrices.front().in;
    std::vector<Work> works(matrices.size());
    std::size_t rowTiles = 0; // of all matrices
    for (std::size_t i = 0; i < works.size(); ++i) {
        const MatrixToQuantize &matrix = matrices[i];
        if (matrix.in != in || in % kernels::kExl3Block != 0
            || matrix.out % kernels::kExl3Block != 0
            || matrix.weight.size()
                != static_cast<std::size_t>(in) * static_cast<std::size_t>(matrix.out))
            throw std::logic_error("quantizeMatrices: a matrix has another size");
        Work &w = works[i];
        w.in = matrix.in;
        w.out = matrix.out;
        w.result.in = matrix.in;
        w.result.out = matrix.out;
        w.result.rate = static_cast<std::uint8_t>(rate);
        w.result.codebook = codebook;
        w.result.trellis.resize(w.tiles() * static_cast<std::size_t>(kExl3Tile * rate));
        rowTiles += w.rowTiles();
    }
    kernels::ThreadPool &pool = stream.pool();
    const auto forWorks = [&](const auto &body) {
        pool.parallelFor(
            static_cast<std::int64_t>(works.size()), 1, [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t i = first; i < last; ++i)
                    body(works[static_cast<std::size_t>(i)], matrices[static_cast<std::size_t>(i)]);
            });
    };
    forWorks([](Work &w, const MatrixToQuantize &matrix) { prepareOutputs(w, matrix); });
    TileSearch search(rate, codebook, stream);
    chooseScales(works, rate, codebook, search);
    for (std::size_t i = 0; i < works.size(); ++i) {
        if (cancel.isCancelled())
            return fail(ErrorCode::Cancelled, "Quantizing was cancelled.");
        prepareInputs(works[i], matrices[i], codebook, pool);
    }

    const std::span<const float> values = kernels::exl3FloatValues(codebook);
    std::vector<float> tiles(rowTiles * kExl3TileSize);
    std::vector<std::uint16_t> states(tiles.size());
    for (std::int64_t block = in / kExl3Tile - 1; block >= 0; --block) {
        if (cancel.isCancelled())
            return fail(ErrorCode::Cancelled, "Quantizing was cancelled.");
        std::size_t at = 0;
        for (const Work &w : works) {
            targetTiles(tiles.data() + at, w, block, pool);
            at += w.rowTiles() * kExl3TileSize;
        }
        search.run(states, tiles);
        at = 0;
        for (Work &w : works) {
            keepTiles(w, block, std::span(states).subspan(at, w.rowTiles() * kExl3TileSize),
                      values);
            at += w.rowTiles() * kExl3TileSize;
        }
    }
    std::vector<QuantizedMatrix> results;
    for (std::size_t i = 0; i < works.size(); ++i) {
        measure(works[i], matrices[i], pool);
        results.push_back(std::move(works[i].result));
    }
    return results;
}

} // namespace firesteel::engine
