// SPDX-License-Identifier: MIT
#include "tests/app/models/download_test.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTest>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;

void DownloadTest::initTestCase()
{
    if (HubFixture::findNginx().isEmpty())
        QSKIP("nginx is not installed"); // CTest reports the whole suite as skipped
    const QString problem = m_hub.start();
    QVERIFY2(problem.isEmpty(), qPrintable(problem));
    m_catalog = m_hub.catalog();
}

void DownloadTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_hub.setFaults("[]");
    m_hub.setLifetime(3600);
    m_hub.forgetRequests();
}

void DownloadTest::cleanup()
{
    m_session.reset();
    m_folder.reset();
}

void DownloadTest::open(app::DownloadManager::Setup setup)
{
    m_session.reset();
    m_session = std::make_unique<DownloadSession>(m_catalog, std::move(setup),
                                                  m_folder->filePath(u"firesteel.db"_s));
}

bool DownloadTest::reach(app::ModelStatus::State state, int milliseconds)
{
    const bool reached
        = QTest::qWaitFor([&] { return m_session->status().state == state; }, milliseconds);
    if (!reached) {
        const app::ModelStatus status = m_session->status();
        qWarning("state %d after %lld of %lld bytes: %s %s", int(status.state), status.bytes,
                 status.totalBytes, qPrintable(problemText(status.problem.kind)),
                 qPrintable(status.problem.detail));
    }
    return reached;
}

bool DownloadTest::isWhole() const
{
    for (const HubFileContent &expected : m_hub.files()) {
        QFile file(modelFolder() + u'/' + expected.path);
        if (!file.open(QIODevice::ReadOnly) || file.readAll() != expected.bytes) {
            qWarning("%s is not as it should be", qPrintable(expected.path));
            return false;
        }
    }
    return QDir(modelFolder()).entryList(QDir::Files).size() == qsizetype(m_hub.files().size()) - 1
        && !QFileInfo::exists(app::DownloadJob::partialFolder(modelFolder()));
}

} // namespace firesteel::test
