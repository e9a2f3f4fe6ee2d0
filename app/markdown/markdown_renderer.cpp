// SPDX-License-Identifier: MIT
#include "app/markdown/markdown_renderer.h"

#include "app/markdown/block_builder.h"
#include "app/markdown/math_mask.h"

#include <limits>
#include <string>

namespace firesteel::app {

namespace {

constexpr unsigned kDialect = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS
    | MD_FLAG_PERMISSIVEAUTOLINKS | MD_FLAG_NOHTML | MD_FLAG_LATEXMATHSPANS;

} // namespace

QString codeText(std::string_view utf8)
{
    QString text = QString::fromUtf8(utf8);
    text.replace(QChar(), QChar(QChar::ReplacementCharacter));
    return text;
}

bool isRightToLeft(const QString &text)
{
    for (qsizetype i = 0; i < text.size(); ++i) {
        const bool isPair = text.at(i).isHighSurrogate() && i + 1 < text.size();
        const char32_t c
            = isPair ? QChar::surrogateToUcs4(text.at(i), text.at(i + 1)) : text.at(i).unicode();
        switch (QChar::direction(c)) {
        case QChar::DirL:
            return false;
        case QChar::DirR:
        case QChar::DirAL:
            return true;
        default:
            i += isPair ? 1 : 0;
        }
    }
    return false;
}

std::vector<MarkdownBlock> renderMarkdown(std::string_view text, std::string_view definitions,
                                          std::size_t sourceOffset)
{
    std::string joined;
    std::size_t visibleFrom = 0;
    if (!definitions.empty()) {
        joined.append(definitions).append("\n\n");
        visibleFrom = joined.size();
        joined.append(text);
        text = joined;
    }
    constexpr std::size_t kMostAdded = 2; // by the mask
    if (text.size() > std::numeric_limits<MD_SIZE>::max() - kMostAdded)
        return {};
    const std::string masked = maskMath(text);
    BlockBuilder builder(text, masked, visibleFrom, sourceOffset);
    MD_PARSER parser = {};
    parser.flags = kDialect;
    parser.enter_block = [](MD_BLOCKTYPE type, void *detail, void *into) {
        static_cast<BlockBuilder *>(into)->enterBlock(type, detail);
        return 0;
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void *, void *into) {
        static_cast<BlockBuilder *>(into)->leaveBlock(type);
        return 0;
    };
    parser.enter_span = [](MD_SPANTYPE type, void *detail, void *into) {
        static_cast<BlockBuilder *>(into)->enterSpan(type, detail);
        return 0;
    };
    parser.leave_span = [](MD_SPANTYPE type, void *, void *into) {
        static_cast<BlockBuilder *>(into)->leaveSpan(type);
        return 0;
    };
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR *data, MD_SIZE size, void *into) {
        static_cast<BlockBuilder *>(into)->text(type, std::string_view(data, size));
        return 0;
    };
    md_parse(masked.data(), static_cast<MD_SIZE>(masked.size()), &parser, &builder);
    return builder.take();
}

} // namespace firesteel::app
