// SPDX-License-Identifier: MIT
#include "app/api/message_content.h"

#include <algorithm>
#include <array>
#include <format>
#include <utility>

namespace firesteel::app {

namespace {

constexpr std::array<std::string_view, 5> kImageTypes { "png", "jpeg", "webp", "gif", "bmp" };

bool isBase64(std::string_view text)
{
    const auto isDigit = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
            || c == '+' || c == '/';
    };
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    return !text.empty() && text.size() % 4 == 0
        && std::ranges::all_of(text.substr(0, text.size() - padding), isDigit);
}

std::string imageProblem(std::string_view type, std::string_view data)
{
    if (!std::ranges::contains(kImageTypes, type))
        return std::format("images of type \"{}\" are not read; png, jpeg, webp, gif and bmp are",
                           type);
    return isBase64(data) ? "" : "its data is not base64";
}

// The URL of a part of OpenAI's: a string, or an object with one.
std::string urlOf(Fields &part)
{
    const Json *image = part.any("image_url");
    if (image == nullptr)
        return {};
    if (image->is_string())
        return image->get<std::string>();
    Fields inner(*image, part.pathOf("image_url"), part.problem());
    inner.ignore({ "detail" });
    return inner.string("url").value_or("");
}

// Anthropic's: {"type":"base64","media_type":"image/png","data":...} or {"type":"url","url":...}.
std::string sourceProblem(Fields &part)
{
    const Json *source = part.object("source");
    if (source == nullptr)
        return "it has no source";
    Fields inner(*source, part.pathOf("source"), part.problem());
    if (inner.string("type") == "url")
        return imageUrlProblem(inner.string("url").value_or(""));
    const std::string type = inner.string("media_type").value_or("");
    if (!type.starts_with("image/"))
        return "its media_type is none of an image";
    return imageProblem(type.substr(6), inner.string("data").value_or(""));
}

void refuseImage(const std::string &path, const std::string &what, Problem &problem)
{
    if (what.empty())
        problem.report(
            { .code = "no_vision",
              .param = path,
              .message = std::format("{}: this model has no vision; it reads text only.", path) });
    else
        problem.report(badRequest(path, std::format("{} cannot be read: {}.", path, what)));
}

} // namespace

std::string imageUrlProblem(std::string_view url)
{
    if (url.starts_with("http://") || url.starts_with("https://"))
        return "addresses are not fetched; send the image as a data URL";
    constexpr std::string_view kPrefix = "data:image/";
    constexpr std::string_view kEncoding = ";base64,";
    const std::size_t comma = url.find(kEncoding);
    if (!url.starts_with(kPrefix) || comma == std::string_view::npos)
        return "it must be data:image/TYPE;base64,DATA";
    return imageProblem(url.substr(kPrefix.size(), comma - kPrefix.size()),
                        url.substr(comma + kEncoding.size()));
}

void readPart(const Json &json, const std::string &path, std::vector<engine::ContentPart> &parts,
              Problem &problem)
{
    using Kind = engine::ContentPart::Kind;
    Fields part(json, path, problem);
    const std::string type = part.string("type").value_or("");
    if (type == "text" || type == "input_text" || type == "output_text") {
        const auto text = part.string("text");
        if (!text)
            problem.report(badRequest(part.pathOf("text"),
                                      std::format("{} is missing.", part.pathOf("text"))));
        parts.push_back({ Kind::Text, text.value_or("") });
    } else if (type == "image_url" || type == "input_image") {
        refuseImage(path, imageUrlProblem(urlOf(part)), problem);
    } else if (type == "image") {
        refuseImage(path, sourceProblem(part), problem);
    } else {
        problem.report(badRequest(
            part.pathOf("type"),
            std::format("{} is \"{}\"; parts of text are read.", part.pathOf("type"), type)));
    }
}

std::vector<engine::ContentPart> readContent(const Json &content, const std::string &path,
                                             Problem &problem)
{
    std::vector<engine::ContentPart> parts;
    if (content.is_null())
        return parts;
    if (content.is_string()) {
        parts.push_back({ engine::ContentPart::Kind::Text, content.get<std::string>() });
        return parts;
    }
    if (!content.is_array()) {
        problem.report(badRequest(path,
                                  std::format("{} must be a string or an array of parts, not {}.",
                                              path, content.type_name())));
        return parts;
    }
    for (std::size_t i = 0; i < content.size(); ++i)
        readPart(content[i], std::format("{}[{}]", path, i), parts, problem);
    return parts;
}

} // namespace firesteel::app
