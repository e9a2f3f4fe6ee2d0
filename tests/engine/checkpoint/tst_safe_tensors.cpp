// SPDX-License-Identifier: MIT
//
// What is accepted and refused matches the reference reader (safetensors 0.8.0, tried case by
// case), with two exceptions that are noted: a name listed twice with equal offsets, and element
// types no part of this engine knows.
#include "engine/checkpoint/safe_tensors.h"

#include <doctest/doctest.h>
#include <string>

using namespace firesteel::engine;

namespace {

std::string image(std::string_view header, std::size_t dataBytes, std::uint64_t declared)
{
    std::string file;
    for (unsigned i = 0; i < 8; ++i)
        file += static_cast<char>(declared >> 8 * i & 0xFF);
    file += header;
    for (std::size_t i = 0; i < dataBytes; ++i)
        file += static_cast<char>(i);
    return file;
}

std::string image(std::string_view header, std::size_t dataBytes)
{
    return image(header, dataBytes, header.size());
}

auto parse(std::string_view file)
{
    return SafeTensors::parse(std::as_bytes(std::span(file)), "x.safetensors");
}

struct Case
{
    std::string_view header;
    std::size_t dataBytes;
    std::string_view message; // empty: accepted
};

constexpr std::string_view kF32x2 = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";

} // namespace

TEST_CASE("a directory gives type, shape and bytes")
{
    const std::string file = image(
        R"({"__metadata__":{"format":"pt"},"m.w":{"dtype":"BF16","shape":[2,3],"data_offsets":[4,16]},)"
        R"("s":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}   )",
        16);
    const auto entries = parse(file);
    REQUIRE(entries);
    REQUIRE(entries->size() == 2);
    const TensorEntry &weight = entries->at("m.w");
    CHECK(weight.type == TensorType::BF16);
    CHECK(weight.shape == std::vector<std::int64_t> { 2, 3 });
    REQUIRE(weight.bytes.size() == 12);
    CHECK(std::to_integer<int>(weight.bytes.front()) == 4);
    CHECK(entries->at("s").shape.empty());
    CHECK(entries->at("s").bytes.size() == 4);
}

TEST_CASE("every type has the name and the size that the format gives it")
{
    const std::pair<std::string_view, std::size_t> types[]
        = { { "BOOL", 1 }, { "U8", 1 },   { "I8", 1 },  { "I16", 2 },     { "U16", 2 },
            { "F16", 2 },  { "BF16", 2 }, { "I32", 4 }, { "U32", 4 },     { "F32", 4 },
            { "I64", 8 },  { "U64", 8 },  { "F64", 8 }, { "F8_E4M3", 1 }, { "F8_E5M2", 1 } };
    for (const auto &[name, bytes] : types) {
        CAPTURE(name);
        const std::string header = R"({"a":{"dtype":")" + std::string(name)
            + R"(","shape":[3],"data_offsets":[0,)" + std::to_string(3 * bytes) + "]}}";
        const auto entries = parse(image(header, 3 * bytes));
        REQUIRE(entries);
        CHECK(tensorTypeName(entries->at("a").type) == name);
        CHECK(tensorTypeBytes(entries->at("a").type) == bytes);
    }
}

TEST_CASE("headers are accepted and refused as by the reference")
{
    const Case cases[] = {
        { kF32x2, 8, "" },
        { R"({})", 0, "" },
        { R"({"__metadata__":{"a":"b"}})", 0, "" },
        { R"({"__metadata__":null})", 0, "" },
        { R"(  {"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8, "" },
        { R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1}})", 8, "" },
        { R"({"a":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]}})", 0, "" },
        { R"({"z":{"dtype":"F32","shape":[0],"data_offsets":[8,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
          8, "" },
        { R"({"":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8, "" },

        { R"({"__metadata__":{"a":1}})", 0, "\"__metadata__\" does not map strings to strings" },
        { R"({"__metadata__":[]})", 0, "\"__metadata__\" does not map" },
        { R"({"__metadata__":{},"__metadata__":{}})", 0, "\"__metadata__\" is there twice" },
        { kF32x2, 9, "the last 1 bytes belong to no tensor" },
        { kF32x2, 7, "tensor \"a\" lies at bytes 0..8 of 7 bytes of data" },
        { R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12,
          "bytes 0..4 before tensor \"a\" belong to no tensor" },
        { R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[12,20]}})",
          20, "bytes 8..12 before tensor \"b\"" },
        { R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
          12, "tensor \"b\" overlaps tensor \"a\"" },
        { R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
          8, "tensor \"b\" overlaps tensor \"a\"" },
        { R"({"z":{"dtype":"F32","shape":[0],"data_offsets":[4,4]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
          8, "tensor \"z\" overlaps tensor \"a\"" },
        { R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8,
          "tensor \"a\" lies at bytes 8..0" },
        { R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8,
          "tensor \"a\" has 8 bytes of data where its shape and dtype F32 need 12" },
        { R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8,
          "tensor \"a\" has a \"shape\" with -2, not a size" },
        { R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8,
          "tensor \"a\" has a \"shape\" with 2.0" },
        { R"({"a":{"dtype":"F32","shape":"2","data_offsets":[0,8]}})", 8,
          "tensor \"a\" has a \"shape\" that is not an array" },
        { R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
          "tensor \"a\" has a \"shape\" whose size in bytes overflows" },
        { R"({"a":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,8]}})", 8,
          "the header is not JSON" },
        { R"({"a":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}})", 8,
          "tensor \"a\" has the unknown dtype \"F33\"" },
        { R"({"a":{"dtype":7,"shape":[2],"data_offsets":[0,8]}})", 8,
          "tensor \"a\" has a \"dtype\" that is not a string" },
        { R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", 8, "tensor \"a\" lacks \"shape\"" },
        { R"({"a":{"shape":[2],"data_offsets":[0,8]}})", 8, "tensor \"a\" lacks \"dtype\"" },
        { R"({"a":{"dtype":"F32","shape":[2]}})", 8, "tensor \"a\" lacks \"data_offsets\"" },
        { R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8,
          "tensor \"a\" has \"dtype\" twice" },
        { R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,9]}})", 9,
          "tensor \"a\" has \"data_offsets\" that are not two numbers" },
        { R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}})", 8,
          "tensor \"a\" has \"data_offsets\" that are not two numbers" },
        { R"({"a":[]})", 0, "tensor \"a\" is not described by a JSON object" },
        { R"([])", 0, "the header is not a JSON object" },
        { "", 0, "the header is not JSON" },
        { "{", 0, "the header is not JSON" },
        { "{\"\xFF\":1}", 0, "the header is not JSON" },
        { "\xEF\xBB\xBF{}", 0, "the header starts with a byte order mark" },
        { R"({"a\nb":{"dtype":"F32","shape":[2]}})", 0, "tensor \"a\\x0Ab\" lacks" },

        // Stricter than the reference, which lets the last one win: which of two is meant is
        // anybody's guess.
        { R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
          8, "tensor \"a\" is listed twice" },
        // Known to the reference, to nothing here.
        { R"({"a":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})", 8, "unknown dtype \"C64\"" },
    };
    for (const Case &item : cases) {
        CAPTURE(item.header);
        const auto entries = parse(image(item.header, item.dataBytes));
        CHECK(entries.has_value() == item.message.empty());
        if (entries)
            continue;
        CAPTURE(entries.error().message);
        CHECK(entries.error().code == ErrorCode::BadCheckpoint);
        CHECK(entries.error().message.starts_with("x.safetensors: "));
        CHECK(entries.error().message.contains(item.message));
        CHECK_FALSE(entries.error().message.contains('\n'));
    }
}

TEST_CASE("header lengths are checked against the file and the format's limit")
{
    const auto check = [](std::string_view file, std::string_view why) {
        const auto entries = parse(file);
        REQUIRE_FALSE(entries);
        CAPTURE(entries.error().message);
        CHECK(entries.error().message.contains(why));
    };
    check("", "has 0 bytes");
    check("1234567", "has 7 bytes");
    check(image("{}", 0, 3), "declares a header of 3 bytes, 2 follow");
    check(image("{}", 0, 100'000'001), "safetensors allows 100000000");
    check(image("{}", 0, ~0ULL), "declares a header of 18446744073709551615 bytes");
    check(image(std::string(kF32x2) + '\0', 8), "the header is not JSON");
    std::string deep = R"({"a":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
    check(image(deep, 0), "the header is not JSON");
}

TEST_CASE("every truncation of a file is refused")
{
    const std::string file = image(kF32x2, 8);
    for (std::size_t size = 0; size < file.size(); ++size)
        CHECK_FALSE(parse(std::string_view(file).substr(0, size)));
}
