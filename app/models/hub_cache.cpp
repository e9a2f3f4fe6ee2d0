// SPDX-License-Identifier: MIT
#include "app/models/hub_cache.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;
using Kind = ModelProblem::Kind;

constexpr qint64 kReadAtOnce = 4 << 20;

class Descriptor
{
public:
    explicit Descriptor(int number)
        : m_number(number)
    {
    }
    ~Descriptor()
    {
        if (m_number >= 0)
            ::close(m_number);
    }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    int number() const { return m_number; }

private:
    int m_number;
};

bool reflink(const QByteArray &source, const QByteArray &target)
{
    const Descriptor from(::open(source.constData(), O_RDONLY | O_CLOEXEC));
    const Descriptor to(::open(target.constData(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (from.number() < 0 || to.number() < 0)
        return false;
    if (::ioctl(to.number(), FICLONE, from.number()) == 0)
        return true;
    ::unlink(target.constData());
    return false;
}

} // namespace

QString hubCacheFolder(const QProcessEnvironment &environment, const QString &home)
{
    for (const auto &name : { u"HF_HUB_CACHE"_s, u"HUGGINGFACE_HUB_CACHE"_s }) {
        if (const QString folder = environment.value(name); !folder.isEmpty())
            return folder;
    }
    if (const QString folder = environment.value(u"HF_HOME"_s); !folder.isEmpty())
        return folder + u"/hub"_s;
    QString cache = environment.value(u"XDG_CACHE_HOME"_s);
    if (cache.isEmpty())
        cache = home + u"/.cache"_s;
    return cache + u"/huggingface/hub"_s;
}

QString cachedFile(const QString &cache, const QString &repository, const QString &revision,
                   const HubFile &file)
{
    if (cache.isEmpty())
        return {};
    const QString folder = cache + u"/models--"_s + QString(repository).replace(u'/', "--"_L1);
    for (const QString &candidate : { folder + u"/blobs/"_s + QString::fromLatin1(file.digest),
                                      folder + u"/snapshots/"_s + revision + u'/' + file.path }) {
        const QFileInfo info(candidate); // follows the snapshot's link to its blob
        if (info.isFile() && info.isReadable() && info.size() == file.size)
            return info.canonicalFilePath();
    }
    return {};
}

ModelResult<QByteArray> digestOf(const QString &path, const HubFile &file,
                                 const std::function<bool(qint64)> &read)
{
    QFile source(path);
    if (!source.open(QIODevice::ReadOnly))
        return problem(Kind::DiskFailed, u"%1: %2"_s.arg(path, source.errorString()));
    ContentHash hash(file.kind, source.size());
    QByteArray buffer(kReadAtOnce, Qt::Uninitialized);
    qint64 bytes = 0;
    for (;;) {
        const qint64 count = source.read(buffer.data(), buffer.size());
        if (count < 0)
            return problem(Kind::DiskFailed, u"%1: %2"_s.arg(path, source.errorString()));
        if (count == 0)
            return hash.hexDigest();
        hash.add(QByteArrayView(buffer).first(count));
        bytes += count;
        if (!read(bytes))
            return QByteArray();
    }
}

ModelResult<Sharing> shareFile(const QString &source, const QString &target)
{
    if (!QDir().mkpath(QFileInfo(target).path()))
        return problem(Kind::DiskFailed, target);
    const QByteArray from = QFile::encodeName(source);
    const QByteArray to = QFile::encodeName(target);
    ::unlink(to.constData());
    if (reflink(from, to))
        return Sharing::Reflink;
    // Firesteel never writes into a finished file, so one inode with two names is safe.
    if (::link(from.constData(), to.constData()) == 0)
        return Sharing::HardLink;
    // Under another name until it is whole, so that a killed copy is no model file.
    const QString partial = target + u".copy"_s;
    QFile::remove(partial);
    QFile copy(source);
    if (!copy.copy(partial)) {
        const bool isFull = errno == ENOSPC || errno == EDQUOT;
        QFile::remove(partial);
        return problem(isFull ? Kind::DiskFull : Kind::DiskFailed,
                       u"%1: %2"_s.arg(target, copy.errorString()));
    }
    QFile::setPermissions(
        partial, QFile::ReadOwner | QFile::WriteOwner | QFile::ReadGroup | QFile::ReadOther);
    if (::rename(QFile::encodeName(partial).constData(), to.constData()) != 0)
        return problem(Kind::DiskFailed,
                       u"%1: %2"_s.arg(target, QString::fromLocal8Bit(std::strerror(errno))));
    return Sharing::Copy;
}

} // namespace firesteel::app
