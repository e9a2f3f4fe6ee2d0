// SPDX-License-Identifier: MIT
//
// Reads a model's weights from a checkpoint, collecting the first error so that layers can list
// their tensors plainly.
#pragma once

#include "engine/api/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/model/linear_weight.h"
#include "engine/model/weight_store.h"
#include "kernels/common/buffer.h"
#include "kernels/common/tensor.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace firesteel::engine {

// What becomes of EXL3 modules: decoded into float32 when read, 4 bytes a weight, or multiplied
// with as they are stored, which costs decoding them in every step: on the device little.
enum class Exl3Storage { Decoded, Kept };

class WeightReader
{
public:
    // The store must outlive what is read.
    WeightReader(const Checkpoint &checkpoint, WeightStore &store,
                 Exl3Storage exl3 = Exl3Storage::Decoded)
        : WeightReader(checkpoint, checkpoint.shape(), store, exl3)
    {
    }
    // Of a folder that goes with a model of this shape: a drafter.
    WeightReader(const TensorFolder &folder, const ModelShape &shape, WeightStore &store,
                 Exl3Storage exl3)
        : m_folder(folder)
        , m_shape(shape)
        , m_store(store)
        , m_exl3(exl3)
    {
    }

    const ModelShape &shape() const { return m_shape; }

    // Whether the checkpoint has this module, plain or EXL3.
    bool has(const std::string &module) const;

    // The layer M of y = x W^T: M.weight, or the EXL3 group M. After an error nothing.
    LinearWeight linear(const std::string &module, std::int64_t out, std::int64_t in);

    // The same for kernels that need a plain matrix: decoded in any case.
    LinearWeight dense(const std::string &module, std::int64_t out, std::int64_t in);

    // A table whose rows are looked up, under the plain name, as NAME.weight or as an EXL3 group.
    LinearWeight table(const std::string &name, std::int64_t rows, std::int64_t cols);

    // A tensor as it is stored; an empty matrix after an error.
    kernels::Matrix matrix(const std::string &name, std::initializer_list<std::int64_t> shape);

    // Small tensors widened to float32, flattened, one behind the other.
    kernels::Buffer<float> values(std::span<const std::string> names,
                                  std::initializer_list<std::int64_t> shape);
    kernels::Buffer<float> values(const std::string &name,
                                  std::initializer_list<std::int64_t> shape)
    {
        return values(std::span(&name, 1), shape);
    }
    // A table of a launcher.
    template <typename T> kernels::Buffer<T> placed(const std::vector<T> &table)
    {
        return kernels::Buffer<T>::copyOf(table, m_store.stream());
    }

    // What stays EXL3: the launchers need scratch for it.
    const std::vector<kernels::Exl3Matrix> &keptMatrices() const { return m_keptMatrices; }
    const std::vector<kernels::Exl3MoeShape> &keptExperts() const { return m_keptExperts; }
    void noteKeptExperts(const kernels::Exl3MoeShape &shape) { m_keptExperts.push_back(shape); }
    bool hasPlainExperts() const { return m_hasPlainExperts; }
    void notePlainExperts() { m_hasPlainExperts = true; }

    void fail(ErrorCode code, std::string message); // unless an error is there already
    const std::optional<Error> &error() const { return m_error; }
    std::uint64_t parameterCount() const { return m_parameterCount; }

private:
    LinearWeight read(const std::string &module, std::int64_t out, std::int64_t in,
                      Exl3Storage exl3);
    kernels::Matrix mapped(const std::string &name, std::initializer_list<std::int64_t> shape);

    const TensorFolder &m_folder;
    const ModelShape &m_shape;
    WeightStore &m_store;
    Exl3Storage m_exl3;
    std::vector<kernels::Exl3Matrix> m_keptMatrices;
    std::vector<kernels::Exl3MoeShape> m_keptExperts;
    bool m_hasPlainExperts = false;
    std::optional<Error> m_error;
    std::uint64_t m_parameterCount = 0;
};

// Memory that decoding every EXL3 module of the text model takes.
std::uint64_t decodedExl3Bytes(const Checkpoint &checkpoint);

} // namespace firesteel::engine
