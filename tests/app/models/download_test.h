// SPDX-License-Identifier: MIT
//
// What tests of downloads share: a hub for all cases of a suite, a folder and a session for each.
#pragma once

#include "tests/app/models/hub_fixture.h"

#include <memory>

namespace firesteel::test {

class DownloadTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();

protected:
    app::DownloadManager::Setup setup() const
    {
        return quickSetup(m_hub.endpoint(), modelsFolder());
    }
    QString modelsFolder() const { return m_folder->filePath(QStringLiteral("models")); }
    QString modelFolder() const
    {
        return app::DownloadManager::folderOf(modelsFolder(), kRepository, kRevision);
    }
    void open() { open(setup()); } // again: as after a restart
    void open(app::DownloadManager::Setup setup);
    bool reach(app::ModelStatus::State state, int milliseconds = 20'000);
    bool isWhole() const; // every file with its content, and nothing else

    HubFixture m_hub;
    app::ModelCatalog m_catalog = app::ModelCatalog::shipped();
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<DownloadSession> m_session;
};

} // namespace firesteel::test
