// SPDX-License-Identifier: MIT
#include "app/markdown/code_document.h"

#include <KSyntaxHighlighting/Definition>
#include <KSyntaxHighlighting/Format>
#include <KSyntaxHighlighting/Repository>
#include <KSyntaxHighlighting/SyntaxHighlighter>
#include <KSyntaxHighlighting/Theme>
#include <QElapsedTimer>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QThreadPool>
#include <QTimer>

#include <algorithm>
#include <array>
#include <atomic>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

constexpr qint64 kSliceMilliseconds = 2; // for colouring what is not coloured yet
constexpr int kSlicePause = 8; // ms, so that a frame has room for other work

constexpr int kBuildingMilliseconds
    = 50; // until the languages are asked for again while a worker loads them

// Definitions are parsed at first use, some for many milliseconds: these are parsed ahead.
constexpr std::array kCommonLanguages { "Python"_L1, "Bash"_L1,       "C++"_L1,
                                        "JSON"_L1,   "JavaScript"_L1, "Rust"_L1 };

// Built once, on a worker or by the first user, and kept: it holds every definition loaded so far.
// The library allows one thread at a time, so the worker hands it over when it is done.
class Languages
{
public:
    static Languages &instance()
    {
        static Languages languages;
        return languages;
    }

    // nullptr while the worker builds it.
    KSyntaxHighlighting::Repository *repository()
    {
        if (m_stage == Stage::Building)
            return nullptr;
        if (m_stage == Stage::None)
            build();
        return m_repository.get();
    }

    void prepare()
    {
        Stage expected = Stage::None;
        if (m_stage.compare_exchange_strong(expected, Stage::Building))
            QThreadPool::globalInstance()->start([this] { build(); });
    }

private:
    enum class Stage { None, Building, Built };

    void build()
    {
        auto repository = std::make_unique<KSyntaxHighlighting::Repository>();
        for (const QLatin1StringView name : kCommonLanguages)
            repository->definitionForName(name).formats();
        m_repository = std::move(repository);
        m_stage = Stage::Built;
    }

    std::unique_ptr<KSyntaxHighlighting::Repository> m_repository;
    std::atomic<Stage> m_stage = Stage::None;
};

KSyntaxHighlighting::Theme themeFor(const KSyntaxHighlighting::Repository &repository, bool dark)
{
    const KSyntaxHighlighting::Theme wanted
        = repository.theme(dark ? u"GitHub Dark"_s : u"GitHub Light"_s);
    if (wanted.isValid())
        return wanted;
    return repository.defaultTheme(dark ? KSyntaxHighlighting::Repository::DarkTheme
                                        : KSyntaxHighlighting::Repository::LightTheme);
}

KSyntaxHighlighting::Definition definitionFor(KSyntaxHighlighting::Repository &repository,
                                              const QString &language)
{
    if (language.isEmpty())
        return {};
    KSyntaxHighlighting::Definition named = repository.definitionForName(language);
    if (named.isValid())
        return named;
    return repository.definitionForFileName(u"code."_s + language.toLower());
}

} // namespace

// Colours the blocks below a limit that moves down in slices, and never a line that is still being
// written. Belongs to its document: one that goes before its document takes its colours back, which
// lays out the whole text once more, on the way out of sight or, at the end of the program, without
// the fonts that this needs.
class CodeHighlighter : public KSyntaxHighlighting::SyntaxHighlighter
{
public:
    CodeHighlighter(QTextDocument *document, const KSyntaxHighlighting::Definition &definition,
                    const KSyntaxHighlighting::Theme &theme)
        : KSyntaxHighlighting::SyntaxHighlighter(static_cast<QObject *>(document))
    {
        setTheme(theme);
        KSyntaxHighlighting::SyntaxHighlighter::setDefinition(definition);
        setDocument(document);
        m_slices.setSingleShot(true);
        m_slices.setInterval(kSlicePause);
        QObject::connect(&m_slices, &QTimer::timeout, &m_slices, [this] { colourSlice(); });
    }

    void setLastLineOpen(bool open)
    {
        m_isLastLineOpen = open;
        continueSoon();
    }

    void recolour(const KSyntaxHighlighting::Theme &theme)
    {
        setTheme(theme);
        restart();
    }

    // The document was replaced or looks different now: the first screen at once, so that it does
    // not flicker.
    void restart()
    {
        m_limit = 0;
        colourSlice();
    }

    void continueSoon()
    {
        if (!m_slices.isActive())
            m_slices.start();
    }

protected:
    void highlightBlock(const QString &text) override
    {
        if (m_isColouring && currentBlock().blockNumber() <= m_limit)
            KSyntaxHighlighting::SyntaxHighlighter::highlightBlock(text);
        else
            keepFormats();
    }

private:
    // Qt clears the formats of a block it asks about: what was there stays.
    void keepFormats()
    {
        for (const QTextLayout::FormatRange &range : currentBlock().layout()->formats())
            setFormat(range.start, range.length, range.format);
    }

    int finishedLines() const { return document()->blockCount() - (m_isLastLineOpen ? 1 : 0); }

    void colourSlice()
    {
        if (document() == nullptr)
            return;
        QElapsedTimer clock;
        clock.start();
        m_isColouring = true;
        QTextCursor cursor(document()); // one edit, one layout for all lines of the slice
        cursor.beginEditBlock();
        while (m_limit < finishedLines() && clock.elapsed() < kSliceMilliseconds) {
            rehighlightBlock(document()->findBlockByNumber(m_limit));
            ++m_limit;
        }
        m_isColouring = false;
        cursor.endEditBlock();
        if (m_limit < finishedLines())
            m_slices.start();
    }

    int m_limit = 0; // lines above it are coloured
    bool m_isLastLineOpen = false;
    bool m_isColouring = false;
    QTimer m_slices;
};

CodeDocument::CodeDocument(QObject *parent)
    : QObject(parent)
{
}

CodeDocument::~CodeDocument() = default;

void CodeDocument::prepareLanguages() { Languages::instance().prepare(); }

QString CodeDocument::languageLabel(const QString &language)
{
    KSyntaxHighlighting::Repository *repository = Languages::instance().repository();
    if (repository == nullptr || language.isEmpty())
        return language;
    const KSyntaxHighlighting::Definition definition = definitionFor(*repository, language);
    return definition.isValid() ? definition.translatedName() : language;
}

void CodeDocument::setTextDocument(QQuickTextDocument *document)
{
    if (document == m_quickDocument)
        return;
    dropHighlighter();
    m_quickDocument = document;
    m_shown = 0;
    showCode();
    attachHighlighter();
    Q_EMIT textDocumentChanged();
}

void CodeDocument::setLanguage(const QString &language)
{
    if (language == m_language)
        return;
    m_language = language;
    attachHighlighter();
    Q_EMIT languageChanged();
}

void CodeDocument::setCode(const QString &code)
{
    if (code == m_code)
        return;
    if (m_shown > 0 && !code.startsWith(QStringView(m_code).first(m_shown)))
        m_shown = 0;
    m_code = code;
    showCode();
    Q_EMIT codeChanged();
}

void CodeDocument::setOpen(bool open)
{
    if (open == m_open)
        return;
    m_open = open;
    if (m_highlighter)
        m_highlighter->setLastLineOpen(open);
    Q_EMIT openChanged();
}

void CodeDocument::setDark(bool dark)
{
    if (dark == m_dark)
        return;
    m_dark = dark;
    KSyntaxHighlighting::Repository *repository = Languages::instance().repository();
    if (m_highlighter && repository != nullptr)
        m_highlighter->recolour(themeFor(*repository, m_dark));
    Q_EMIT darkChanged();
}

void CodeDocument::showCode()
{
    QTextDocument *document = m_quickDocument ? m_quickDocument->textDocument() : nullptr;
    if (document == nullptr)
        return;
    document->setUndoRedoEnabled(false);
    QTextCursor cursor(document);
    const bool isNew = m_shown == 0;
    cursor.movePosition(QTextCursor::End,
                        isNew ? QTextCursor::KeepAnchor : QTextCursor::MoveAnchor);
    cursor.insertText(m_code.sliced(m_shown));
    m_shown = m_code.size();
    if (m_highlighter && isNew)
        m_highlighter->restart();
    else if (m_highlighter)
        m_highlighter->continueSoon();
}

void CodeDocument::dropHighlighter()
{
    CodeHighlighter *old = m_highlighter;
    m_highlighter.clear();
    delete old;
}

void CodeDocument::attachHighlighter()
{
    QTextDocument *document = m_quickDocument ? m_quickDocument->textDocument() : nullptr;
    dropHighlighter();
    if (document == nullptr || m_language.isEmpty())
        return;
    KSyntaxHighlighting::Repository *repository = Languages::instance().repository();
    if (repository == nullptr) {
        QTimer::singleShot(kBuildingMilliseconds, this, &CodeDocument::attachHighlighter);
        return;
    }
    const KSyntaxHighlighting::Definition definition = definitionFor(*repository, m_language);
    if (!definition.isValid())
        return;
    m_highlighter = new CodeHighlighter(document, definition, themeFor(*repository, m_dark));
    m_highlighter->setLastLineOpen(m_open);
    m_highlighter->restart();
}

} // namespace firesteel::app
