// SPDX-License-Identifier: MIT
#include "engine/quantize/calibration.h"

#include "engine/base/printable.h"
#include "engine/checkpoint/safe_tensors_writer.h"
#include "engine/quantize/digest.h"

#include <algorithm>
#include <cstring>
#include <format>
#include <span>
#include <utility>

namespace firesteel::engine {

namespace {

constexpr const char *kInputsName = "inputs"; // HessianInputs

// Finds out, while the first tokens run, which modules read the same values, and sums those once.
class InputCollector
{
public:
    explicit InputCollector(kernels::ThreadPool &pool)
        : m_pool(pool)
    {
    }

    void see(std::string_view module, std::span<const float> x, std::int64_t rows)
    {
        const auto known = m_owners.find(module);
        std::string owner = known != m_owners.end() ? known->second : ownerOf(module, x);
        if (owner != module)
            return;
        auto [sum, isNew] = m_sums.try_emplace(std::move(owner), nullptr);
        if (isNew)
            sum->second = std::make_shared<Hessian>(static_cast<std::int64_t>(x.size()) / rows);
        sum->second->add(x, rows, m_pool);
    }

    void endOfSequence() { m_seen.clear(); }

    Hessians take()
    {
        Hessians result;
        for (const auto &[module, owner] : m_owners)
            result.emplace(module, m_sums.at(owner));
        return result;
    }

private:
    // The first module that read these values since the sequence began, or the module itself. Every
    // module sees the same rows of a call as the others (experts' inputs have their own rows), so
    // what is equal once is equal always.
    std::string ownerOf(std::string_view module, std::span<const float> x)
    {
        Digest digest;
        digest.add(std::as_bytes(x));
        const std::string owner = m_seen.try_emplace(digest.value(), module).first->second;
        m_owners.emplace(module, owner);
        return owner;
    }

    kernels::ThreadPool &m_pool;
    std::map<std::uint64_t, std::string> m_seen;
    std::map<std::string, std::string, std::less<>> m_owners;
    std::map<std::string, std::shared_ptr<Hessian>, std::less<>> m_sums;
};

} // namespace

Result<Hessians> calibrate(Model &model, const std::vector<std::vector<std::int32_t>> &windows,
                           kernels::ThreadPool &pool, const std::function<void(double)> &progress,
                           const CancelToken &cancel)
{
    InputCollector collector(pool);
    model.observeLinears([&](std::string_view module, std::span<const float> x, std::int64_t rows) {
        collector.see(module, x, rows);
    });
    std::size_t total = 0;
    for (const auto &window : windows)
        total += window.size();
    std::size_t done = 0;
    bool isCancelled = false;
    // The head reads what it predicts from: ask for every row's logits, in slices.
    constexpr std::size_t kRows = Model::kPrefillAlignment;
    std::vector<float> logits(kRows * static_cast<std::size_t>(model.shape().vocabularySize));
    for (const auto &window : windows) {
        SequenceState sequence = model.newSequence(static_cast<int>(window.size()));
        for (std::size_t at = 0; at < window.size() && !isCancelled; at += kRows) {
            const auto tokens = std::span(window).subspan(at, std::min(kRows, window.size() - at));
            model.prefill(
                sequence, tokens,
                std::span(logits).first(tokens.size()
                                        * static_cast<std::size_t>(model.shape().vocabularySize)));
            collector.endOfSequence();
            done += tokens.size();
            if (progress)
                progress(static_cast<double>(done) / static_cast<double>(total));
            isCancelled = cancel.isCancelled();
        }
        if (isCancelled)
            break;
    }
    model.observeLinears({});
    if (isCancelled)
        return fail(ErrorCode::Cancelled, "Calibrating was cancelled.");
    return collector.take();
}

Result<void> saveHessians(const std::filesystem::path &file, const Hessians &hessians,
                          const HessianInputs &inputs)
{
    // A Hessian is stored once, under the first of its modules: "M.sums"; each module names it by
    // its number in "M.input".
    std::map<const Hessian *, std::int64_t> numbers;
    std::vector<const Hessian *> order;
    std::vector<TensorHeader> headers;
    for (const auto &[module, hessian] : hessians)
        if (numbers.try_emplace(hessian.get(), static_cast<std::int64_t>(order.size())).second)
            order.push_back(hessian.get());
    for (std::size_t i = 0; i < order.size(); ++i) {
        headers.push_back(
            { std::format("{}.sums", i), TensorType::F64, { order[i]->size(), order[i]->size() } });
        headers.push_back({ std::format("{}.rows", i), TensorType::I64, { 1 } });
    }
    for (const auto &[module, hessian] : hessians)
        headers.push_back({ "input." + module, TensorType::I64, { 1 } });
    headers.push_back({ kInputsName, TensorType::U64, { 2 } });
    auto writer = SafeTensorsWriter::create(file, headers);
    if (!writer)
        return std::unexpected(writer.error());
    const auto write = [&writer](std::span<const std::byte> bytes, Result<void> &result) {
        if (result)
            result = writer->write(bytes);
    };
    Result<void> result;
    for (const Hessian *hessian : order) {
        const std::int64_t rows = hessian->rows();
        write(std::as_bytes(hessian->sums()), result);
        write(std::as_bytes(std::span(&rows, 1)), result);
    }
    for (const auto &[module, hessian] : hessians)
        write(std::as_bytes(std::span(&numbers.at(hessian.get()), 1)), result);
    write(std::as_bytes(std::span(&inputs, 1)), result);
    return result ? writer->finish() : result;
}

Result<Hessians> loadHessians(const std::filesystem::path &file, const HessianInputs &inputs)
{
    const auto opened = SafeTensors::open(file);
    if (!opened)
        return std::unexpected(opened.error());
    const auto damaged = [&file] {
        return fail(ErrorCode::BadCheckpoint,
                    std::format("{}: is no file of Hessians", printable(file.string())));
    };
    const auto integer = [&](const TensorEntry &entry) {
        std::int64_t value = -1;
        if (entry.type == TensorType::I64 && entry.bytes.size() == sizeof value)
            std::memcpy(&value, entry.bytes.data(), sizeof value);
        return value;
    };
    const auto &entries = opened->entries();
    const auto made = entries.find(kInputsName);
    if (made == entries.end() || made->second.bytes.size() != sizeof inputs)
        return damaged();
    HessianInputs then;
    std::memcpy(&then, made->second.bytes.data(), sizeof then);
    if (then.source != inputs.source || then.calibration != inputs.calibration)
        return fail(ErrorCode::BadRequest,
                    std::format("{}: was made with another {}", printable(file.string()),
                                then.source != inputs.source ? "model" : "calibration text"));
    std::map<std::int64_t, std::shared_ptr<const Hessian>> stored;
    Hessians hessians;
    constexpr std::string_view kInput = "input.";
    for (auto item = entries.lower_bound(kInput);
         item != entries.end() && item->first.starts_with(kInput); ++item) {
        const std::int64_t number = integer(item->second);
        auto &hessian = stored[number];
        if (!hessian) {
            const auto sums = entries.find(std::format("{}.sums", number));
            const auto rows = entries.find(std::format("{}.rows", number));
            if (sums == entries.end() || rows == entries.end()
                || sums->second.type != TensorType::F64 || sums->second.shape.size() != 2
                || sums->second.shape[0] != sums->second.shape[1] || integer(rows->second) < 0)
                return damaged();
            std::vector<double> values(sums->second.bytes.size() / sizeof(double));
            std::memcpy(values.data(), sums->second.bytes.data(), sums->second.bytes.size());
            hessian = std::make_shared<Hessian>(
                Hessian::fromSums(sums->second.shape[0], integer(rows->second), std::move(values)));
        }
        hessians.emplace(item->first.substr(kInput.size()), hessian);
    }
    return hessians;
}

} // namespace firesteel::engine
