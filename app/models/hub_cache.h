// SPDX-License-Identifier: MIT
//
// Files that other programs have downloaded into Hugging Face's cache already. It is only read:
// what is taken shares the bytes by reflink or hard link, else it is copied; nothing in the cache
// is written, renamed, locked or deleted. Source: huggingface_hub's cache layout.
#pragma once

#include "app/models/hub_protocol.h"
#include "app/models/model_problem.h"

#include <QProcessEnvironment>
#include <QString>

#include <functional>

namespace firesteel::app {

// $HF_HUB_CACHE, $HUGGINGFACE_HUB_CACHE, $HF_HOME/hub, $XDG_CACHE_HOME/huggingface/hub, else below
// ~/.cache.
QString hubCacheFolder(const QProcessEnvironment &environment, const QString &home);

// Where the cache has a file of this size for the revision; empty when it has none. The content is
// not looked at.
QString cachedFile(const QString &cache, const QString &repository, const QString &revision,
                   const HubFile &file);

// The digest of a file on the disk in the form of `file`. Any thread; `read` is told the bytes so
// far and stops the work by returning false, which gives an empty digest.
ModelResult<QByteArray> digestOf(const QString &path, const HubFile &file,
                                 const std::function<bool(qint64 bytes)> &read);

// Makes `target` from `source`, whose content was verified.
enum class Sharing { Reflink, HardLink, Copy };
ModelResult<Sharing> shareFile(const QString &source, const QString &target);

} // namespace firesteel::app
