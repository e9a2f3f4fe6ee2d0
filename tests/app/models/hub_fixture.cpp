// SPDX-License-Identifier: MIT
#include "tests/app/models/hub_fixture.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStandardPaths>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTest>

#include <algorithm>
#include <random>
#include <utility>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using namespace std::chrono_literals;

namespace {

QByteArray noise(qsizetype size, unsigned seed)
{
    std::mt19937 random(seed);
    QByteArray bytes(size, Qt::Uninitialized);
    for (char &byte : bytes)
        byte = static_cast<char>(random());
    return bytes;
}

void write(const QString &path, const QByteArray &bytes)
{
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
        qFatal("%s cannot be written", qPrintable(path));
}

QByteArray digestOf(const HubFileContent &file)
{
    if (file.isLarge)
        return QCryptographicHash::hash(file.bytes, QCryptographicHash::Sha256).toHex();
    QByteArray blob = "blob " + QByteArray::number(file.bytes.size());
    blob.append('\0');
    return QCryptographicHash::hash(blob + file.bytes, QCryptographicHash::Sha1).toHex();
}

int freePort()
{
    QTcpServer server;
    server.listen(QHostAddress::LocalHost);
    return server.serverPort();
}

QJsonObject treeEntry(const HubFileContent &file)
{
    QJsonObject entry { { u"type"_s, u"file"_s },
                        { u"path"_s, file.path },
                        { u"size"_s, file.bytes.size() },
                        { u"oid"_s, QString::fromLatin1(digestOf(file).left(40)) } };
    if (file.isLarge)
        entry.insert(u"lfs"_s,
                     QJsonObject { { u"oid"_s, QString::fromLatin1(digestOf(file)) },
                                   { u"size"_s, file.bytes.size() },
                                   { u"pointerSize"_s, 130 } });
    return entry;
}

} // namespace

HubFixture::HubFixture(QString repository, QString revision)
    : m_repository(std::move(repository))
    , m_revision(std::move(revision))
{
    m_files = {
        { u"LICENSE"_s, "Do what you like. Keep this notice.\n", false },
        { u"README.md"_s, "---\nlicense: mit\n---\n", false },
        { u"config.json"_s, "{\"architectures\": [\"TestModel\"]}", false },
        { u"empty.txt"_s, "", false },
        { u"sub folder/über#1.json"_s, "{}", false },
        { u"tokens.json"_s, noise(700'000, 1), false },
        { u"small.safetensors"_s, noise(900'000, 2), true },
        { u"weights.safetensors"_s, noise(kWeightsBytes, 3), true },
    };
}

HubFixture::~HubFixture()
{
    for (QProcess *process : { &m_proxy, &m_nginx }) {
        process->terminate();
        process->waitForFinished(5000);
    }
}

QString HubFixture::findNginx()
{
    return QStandardPaths::findExecutable(u"nginx"_s, { u"/usr/sbin"_s, u"/usr/bin"_s });
}

QString HubFixture::start()
{
    m_nginx.setProgram(findNginx());
    writeFiles();
    writeApi();
    if (!startNginx())
        return u"nginx does not start: "_s + QString::fromUtf8(m_nginx.readAllStandardError());
    if (!startProxy())
        return u"fault_proxy.py does not start: "_s
            + QString::fromUtf8(m_proxy.readAllStandardError());
    return {};
}

qint64 HubFixture::totalBytes() const
{
    qint64 sum = 0;
    for (const HubFileContent &file : m_files)
        sum += file.bytes.size();
    return sum;
}

void HubFixture::writeFiles()
{
    for (const HubFileContent &file : m_files)
        write(m_folder.filePath(u"www/blobs/"_s + m_revision + u'/' + file.path), file.bytes);
}

// The file list in two pages, the second behind a Link header.
void HubFixture::writeApi() const
{
    const QString api = m_folder.filePath(u"www/api"_s);
    write(
        api + u"/revision.json"_s,
        QJsonDocument(QJsonObject { { u"sha"_s, m_revision },
                                    { u"gated"_s, false },
                                    { u"cardData"_s, QJsonObject { { u"license"_s, u"mit"_s } } } })
            .toJson());
    QJsonArray first { QJsonObject { { u"type"_s, u"directory"_s },
                                     { u"path"_s, u"sub folder"_s } } };
    QJsonArray second;
    for (std::size_t i = 0; i < m_files.size(); ++i)
        (i < 4 ? first : second).append(treeEntry(m_files[i]));
    write(api + u"/tree1.json"_s, QJsonDocument(first).toJson());
    write(api + u"/tree2.json"_s, QJsonDocument(second).toJson());
}

bool HubFixture::startNginx()
{
    m_nginxPort = freePort();
    const QString root = m_folder.path();
    QString conf = uR"(daemon off; pid @/nginx.pid; error_log @/error.log; worker_processes 1;
events { worker_connections 256; }
http {
  log_format all '$host $status "$request" "$http_authorization"';
  access_log @/access.log all;
  client_body_temp_path @/tmp; proxy_temp_path @/tmp; fastcgi_temp_path @/tmp; uwsgi_temp_path @/tmp; scgi_temp_path @/tmp;
  server {
    listen 127.0.0.1:PORT; root @/www; default_type application/octet-stream;
    location /api/ { default_type application/json; return 404; }
    location = /api/models/REPOSITORY/revision/REVISION { default_type application/json; try_files /api/revision.json =404; }
    location = /api/models/REPOSITORY/tree/REVISION {
      default_type application/json;
      if ($arg_cursor) { rewrite ^ /tree2 last; }
      add_header Link '</api/models/REPOSITORY/tree/REVISION?recursive=1&cursor=2>; rel="next"';
      try_files /api/tree1.json =404;
    }
    location = /tree2 { internal; default_type application/json; try_files /api/tree2.json =404; }
  }
})"_s;
    conf.replace(u"@"_s, root)
        .replace(u"PORT"_s, QString::number(m_nginxPort))
        .replace(u"REVISION"_s, m_revision)
        .replace(u"REPOSITORY"_s, m_repository);
    write(root + u"/nginx.conf"_s, conf.toUtf8());
    // Started by root, the worker is somebody else.
    QFile::setPermissions(root, QFile::Permissions::fromInt(0x7755));
    QStringList arguments { u"-p"_s, root,
                            u"-e"_s, root + u"/error.log"_s,
                            u"-c"_s, root + u"/nginx.conf"_s };
    m_nginx.setArguments(arguments);
    m_nginx.start();
    if (!m_nginx.waitForStarted(5000))
        return false;
    return QTest::qWaitFor(
        [this] {
            QTcpSocket probe;
            probe.connectToHost(QHostAddress::LocalHost, static_cast<quint16>(m_nginxPort));
            return probe.waitForConnected(200);
        },
        5000);
}

bool HubFixture::startProxy()
{
    m_proxy.start(
        u"python3"_s,
        { QStringLiteral(FIRESTEEL_FAULT_PROXY), u"--nginx"_s, QString::number(m_nginxPort) });
    if (!m_proxy.waitForReadyRead(10'000))
        return false;
    const QList<QByteArray> words = m_proxy.readLine().simplified().split(' ');
    if (words.size() != 6)
        return false;
    m_hubPort = words[1].toInt();
    m_controlPort = words[5].toInt();
    return true;
}

QByteArray HubFixture::control(const QByteArray &method, const QByteArray &path,
                               const QByteArray &body)
{
    QTcpSocket socket;
    socket.connectToHost(QHostAddress::LocalHost, static_cast<quint16>(m_controlPort));
    if (!socket.waitForConnected(5000))
        qFatal("fault_proxy.py is gone");
    socket.write(method + ' ' + path + " HTTP/1.0\r\nContent-Length: "
                 + QByteArray::number(body.size()) + "\r\n\r\n" + body);
    QByteArray answer;
    while (socket.waitForReadyRead(5000))
        answer += socket.readAll();
    return answer.mid(answer.indexOf("\r\n\r\n") + 4);
}

void HubFixture::setFaults(const QByteArray &json)
{
    QByteArray text = json;
    control("POST", "/faults", text.replace('\'', '"'));
}

void HubFixture::setLifetime(double seconds)
{
    control("POST", "/settings", "{\"lifetime\": " + QByteArray::number(seconds) + '}');
}

QJsonArray HubFixture::requests()
{
    return QJsonDocument::fromJson(control("GET", "/requests", {})).array();
}

void HubFixture::forgetRequests() { control("POST", "/forget", {}); }

qint64 HubFixture::sentBytes(const QString &path)
{
    qint64 sum = 0;
    const QJsonArray all = requests();
    for (const QJsonValue &value : all) {
        const QJsonObject request = value.toObject();
        if (request.value("side"_L1) == "content"_L1
            && request.value("path"_L1).toString().contains(path))
            sum += request.value("sent"_L1).toInteger();
    }
    return sum;
}

QByteArray HubFixture::nginxLog() const
{
    QFile log(m_folder.filePath(u"access.log"_s));
    return log.open(QIODevice::ReadOnly) ? log.readAll() : QByteArray();
}

QByteArray HubFixture::catalogJson() const
{
    const QJsonObject license {
        { u"id"_s, u"MIT"_s },
        { u"hubId"_s, u"mit"_s },
        { u"name"_s, u"MIT License"_s },
        { u"url"_s, u"https://spdx.org/licenses/MIT.html"_s },
        { u"text"_s, u"MIT.txt"_s },
        { u"sha256"_s,
          QString::fromLatin1(
              QCryptographicHash::hash("mit", QCryptographicHash::Sha256).toHex()) },
        { u"restricted"_s, true }, // so that withdrawing can be tried
    };
    const HubFileContent &weights = m_files.back();
    const QJsonObject model {
        { u"id"_s, u"model"_s },
        { u"name"_s, u"Model"_s },
        { u"creator"_s, u"Owner"_s },
        { u"role"_s, u"drafter"_s },
        { u"repository"_s, m_repository },
        { u"revision"_s, m_revision },
        { u"license"_s, u"MIT"_s },
        { u"bytes"_s, totalBytes() },
        { u"weights"_s,
          QJsonArray { QJsonObject { { u"path"_s, weights.path },
                                     { u"size"_s, weights.bytes.size() },
                                     { u"sha256"_s, QString::fromLatin1(digestOf(weights)) } } } },
    };
    return QJsonDocument(QJsonObject { { u"version"_s, 1 },
                                       { u"licenses"_s, QJsonArray { license } },
                                       { u"models"_s, QJsonArray { model } } })
        .toJson();
}

app::ModelCatalog HubFixture::parseCatalog(const QByteArray &json)
{
    auto parsed = app::ModelCatalog::parse(json, [](const QString &) { return QByteArray("mit"); });
    if (!parsed)
        qFatal("%s", qPrintable(parsed.error().detail));
    return *parsed;
}

DownloadSession::DownloadSession(const app::ModelCatalog &catalog,
                                 app::DownloadManager::Setup setup, const QString &database)
    : m_database(database)
{
    m_manager = new app::DownloadManager(m_database, catalog, std::move(setup));
    m_manager->moveToThread(&m_thread);
    connect(&m_thread, &QThread::finished, m_manager, &QObject::deleteLater);
    connect(m_manager, &app::DownloadManager::loaded, this, [this] { m_isLoaded = true; });
    connect(m_manager, &app::DownloadManager::modelsChanged, this,
            [this](const std::vector<app::ModelStatus> &models) {
                m_models = models;
                if (m_states.empty() || m_states.back() != models.front().state)
                    m_states.push_back(models.front().state);
            });
    connect(m_manager, &app::DownloadManager::termsAnswered, this,
            [this](const app::LicenseTerms &terms) {
                m_terms = terms;
                if (m_isAccepting)
                    call([terms](app::DownloadManager &manager) { manager.accept(terms); });
                m_isAccepting = false;
            });
    connect(m_manager, &app::DownloadManager::termsFailed, this,
            [this](const QString &, const QString &, const app::ModelProblem &problem) {
                m_termsProblem = problem;
            });
    connect(m_manager, &app::DownloadManager::folderRefused, this,
            [this](const QString &, const app::ModelProblem &problem) { m_refusal = problem; });
    connect(m_manager, &app::DownloadManager::modelsFolderChanged, this,
            [this](const QString &path) { m_modelsFolder = path; });
    m_thread.start();
    call([](app::DownloadManager &manager) { manager.load(); });
}

DownloadSession::~DownloadSession()
{
    m_thread.quit();
    m_thread.wait();
}

void DownloadSession::accept()
{
    m_isAccepting = true;
    call([](app::DownloadManager &manager) { manager.inquire(kRepository, kRevision); });
}

app::ModelStatus DownloadSession::status() const
{
    return m_models.empty() ? app::ModelStatus() : m_models.front();
}

app::DownloadManager::Setup quickSetup(const QUrl &endpoint, const QString &folder)
{
    app::DownloadManager::Setup setup;
    setup.hub.endpoint = endpoint;
    setup.hub.stallTimeout = 1500ms;
    setup.job.transfer.rangeBytes = 1'000'000;
    setup.job.transfer.firstPause = 20ms;
    setup.job.transfer.longestPause = 200ms;
    setup.job.transfer.failuresInARow = 4;
    setup.job.disk = { 0, 0, 0 };
    setup.modelsFolder = folder;
    setup.appVersion = u"test"_s;
    return setup;
}

} // namespace firesteel::test
