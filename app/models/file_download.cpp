// SPDX-License-Identifier: MIT
#include "app/models/file_download.h"

#include <QRandomGenerator>

#include <algorithm>
#include <utility>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;
using Kind = ModelProblem::Kind;

constexpr qint64 kReadAtOnce = 1 << 20;
constexpr int kIgnoredRangesBelieved = 3;
constexpr int kExpiriesInARow = 5;

} // namespace

FileDownload::FileDownload(HubClient &client, const TransferSetup &setup, QUrl url, HubFile file,
                           QString partPath, QObject *parent)
    : QObject(parent)
    , m_client(client)
    , m_setup(setup)
    , m_url(std::move(url))
    , m_file(std::move(file))
    , m_partPath(std::move(partPath))
{
    m_pause.setSingleShot(true);
    connect(&m_pause, &QTimer::timeout, this, &FileDownload::pump);
    m_pumpSoon.setSingleShot(true);
    m_pumpSoon.setInterval(0);
    connect(&m_pumpSoon, &QTimer::timeout, this, &FileDownload::pump);
}

FileDownload::~FileDownload() = default;

ModelResult<void> FileDownload::start(const FileProgress &saved)
{
    auto part = PartFile::open(m_partPath, m_file, saved);
    if (!part)
        return std::unexpected(part.error());
    m_part = std::make_unique<PartFile>(std::move(*part));
    m_pumpSoon.start();
    return {};
}

void FileDownload::restart()
{
    m_part->restart();
    m_isOver = false;
    m_pumpSoon.start();
}

ModelResult<FileProgress> FileDownload::checkpoint()
{
    return m_part ? m_part->checkpoint() : FileProgress {};
}

std::chrono::milliseconds FileDownload::pauseLeft() const
{
    return m_pause.isActive() ? m_pause.remainingTimeAsDuration() : std::chrono::milliseconds(0);
}

void FileDownload::pump()
{
    sweep();
    if (m_isOver || m_pause.isActive())
        return;
    if (m_part->isComplete()) {
        m_isOver = true;
        Q_EMIT completed();
        return;
    }
    if (m_isWholeOnly) {
        if (m_fetches.empty())
            begin({ 0, m_file.size }, true);
        return;
    }
    // While the server is in trouble or the signed address is unknown, one request finds out.
    const bool isProbing = m_trouble.has_value() || m_signed.isEmpty();
    const auto limit = static_cast<std::size_t>(isProbing ? 1 : m_setup.rangesPerFile);
    while (m_fetches.size() < limit) {
        const auto range = nextRange();
        if (!range)
            break;
        begin(*range, range->begin == 0 && range->end == m_file.size);
    }
}

// The first bytes that neither are here nor are on their way, inside the window that the hash has
// to catch up with.
std::optional<HubRange> FileDownload::nextRange() const
{
    // Ends at multiples of a range, so that an advancing frontier does not cut ranges small.
    const auto border = [this](qint64 offset) { return offset - offset % m_setup.rangeBytes; };
    const qint64 window = border(m_part->frontier()) + m_setup.rangeBytes * m_setup.rangesPerFile;
    qint64 from = m_part->frontier();
    while (auto range = m_part->gap(from, window)) {
        range->end = std::min(range->end, border(range->begin) + m_setup.rangeBytes);
        bool isFree = true;
        for (const auto &fetch : m_fetches) {
            if (fetch->range.begin <= range->begin && range->begin < fetch->range.end) {
                from = fetch->range.end;
                isFree = false;
                break;
            }
            if (range->begin < fetch->range.begin)
                range->end = std::min(range->end, fetch->range.begin);
        }
        if (isFree)
            return range;
    }
    return std::nullopt;
}

void FileDownload::begin(HubRange range, bool whole)
{
    auto fetch = std::make_unique<Fetch>();
    fetch->range = range;
    const QUrl &url = m_signed.isEmpty() ? m_url : m_signed;
    fetch->request.reset(m_client.get(url, whole ? std::nullopt : std::optional(range)));
    HubRequest *request = fetch->request.get();
    Fetch *raw = fetch.get();
    connect(request, &HubRequest::opened, this, [this, raw] { check(*raw); });
    connect(request, &HubRequest::readable, this, [this, raw] { take(*raw); });
    connect(request, &HubRequest::finished, this, [this, raw] { end(*raw); });
    m_fetches.push_back(std::move(fetch));
}

// Whether the answer is the range that was asked for. Sets isOver where it is not.
bool FileDownload::check(Fetch &fetch)
{
    if (fetch.isOver || fetch.isChecked)
        return fetch.isChecked;
    const HubRequest &request = *fetch.request;
    bool isRight = false;
    if (request.status() == 206) {
        const auto range = parseContentRange(request.header("Content-Range"));
        isRight = range && range->first == fetch.range.begin && range->total == m_file.size
            && range->last < fetch.range.end;
    } else {
        // Everything from the start: what a server without ranges sends.
        isRight = fetch.range.begin == 0 && fetch.range.end == m_file.size;
    }
    if (isRight) {
        m_signed = request.url();
        fetch.isChecked = true;
        return true;
    }
    fetch.isOver = true;
    fetch.request->abort();
    if (request.status() == 200 && ++m_ignoredRanges >= kIgnoredRangesBelieved && !m_isWholeOnly) {
        for (auto &other : m_fetches) {
            other->isOver = true;
            other->request->abort();
        }
        m_isWholeOnly = true; // what is here already is skipped in the stream
    }
    fault({ Kind::RangeIgnored, u"%1: %2"_s.arg(request.url().host(), m_file.path), {} });
    return false;
}

void FileDownload::take(Fetch &fetch)
{
    if (fetch.isOver || !check(fetch))
        return;
    for (;;) {
        const QByteArray bytes = fetch.request->read(kReadAtOnce);
        if (bytes.isEmpty())
            break;
        m_received += bytes.size();
        if (bytes.size() > fetch.range.end - fetch.range.begin) {
            fetch.isOver = true;
            fetch.request->abort();
            fault({ Kind::RangeIgnored, m_file.path, {} });
            return;
        }
        const auto written = m_part->write(fetch.range.begin, bytes);
        if (!written) {
            giveUp(written.error());
            return;
        }
        fetch.range.begin += bytes.size();
        m_failures = 0;
        m_ignoredRanges = 0;
        m_expiries = 0;
        m_trouble.reset();
    }
    m_pumpSoon.start();
}

void FileDownload::end(Fetch &fetch)
{
    if (fetch.isOver)
        return;
    const auto &trouble = fetch.request->problem();
    if (!trouble)
        check(fetch);
    if (fetch.isOver)
        return;
    if (fetch.isChecked)
        take(fetch);
    if (fetch.isOver)
        return;
    fetch.isOver = true;
    if (trouble) {
        const bool isExpired = !fetch.request->isAtEndpoint() && !isTransient(trouble->kind)
            && trouble->kind != Kind::InsecureRedirect;
        if (isExpired && ++m_expiries <= kExpiriesInARow) {
            m_signed.clear();
            m_pumpSoon.start();
        } else {
            fault(*trouble);
        }
        return;
    }
    if (fetch.range.begin < fetch.range.end)
        fault({ Kind::Offline, u"%1: ended early"_s.arg(fetch.request->url().host()), {} });
    else
        m_pumpSoon.start();
}

void FileDownload::fault(ModelProblem problem)
{
    if (m_isOver)
        return;
    // A broken stream may be the signed address's end; the endpoint knows.
    m_signed.clear();
    // Requests that break together are one failure.
    if (isTransient(problem.kind) && m_pause.isActive() && problem.retryAfter <= pauseLeft())
        return;
    if (!isTransient(problem.kind) || ++m_failures > m_setup.failuresInARow) {
        giveUp(problem);
        return;
    }
    const auto doubled = m_setup.firstPause * (1LL << std::min(m_failures - 1, 20));
    auto pause = std::min<std::chrono::milliseconds>(doubled, m_setup.longestPause);
    // Spread, so that many clients do not come back together.
    pause += pause * QRandomGenerator::global()->bounded(250) / 1000;
    pause = std::max<std::chrono::milliseconds>(pause, problem.retryAfter);
    m_trouble = std::move(problem);
    if (pause > pauseLeft())
        m_pause.start(pause);
    m_pumpSoon.start();
}

void FileDownload::giveUp(const ModelProblem &problem)
{
    if (m_isOver)
        return;
    m_isOver = true;
    for (auto &fetch : m_fetches) {
        fetch->isOver = true;
        fetch->request->abort();
    }
    Q_EMIT failed(problem);
}

// Requests end inside their own signals, so they go later.
void FileDownload::sweep()
{
    std::erase_if(m_fetches, [](const auto &fetch) { return fetch->isOver; });
}

} // namespace firesteel::app
