// SPDX-License-Identifier: MIT
#include "app/about/third_party.h"

#include <QCoreApplication>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <array>
#include <string_view>

namespace firesteel::app {

namespace {

using namespace Qt::Literals::StringLiterals;

// What third-party.json says each part is used for, for translators. Notes and notices are shown as
// they were published.
constexpr auto kUses = std::to_array<std::string_view>({
    QT_TRANSLATE_NOOP("ThirdParty", "Access tokens in the desktop's keychain"),
    QT_TRANSLATE_NOOP("ThirdParty", "Calls of the GPU, in builds with CUDA"),
    QT_TRANSLATE_NOOP("ThirdParty", "Colours in code"),
    QT_TRANSLATE_NOOP("ThirdParty", "Hashes, encrypted connections"),
    QT_TRANSLATE_NOOP("ThirdParty", "Headers of checkpoints"),
    QT_TRANSLATE_NOOP("ThirdParty", "JSON"),
    QT_TRANSLATE_NOOP("ThirdParty", "Markdown"),
    QT_TRANSLATE_NOOP("ThirdParty", "Splitting text for the tokenizer"),
    QT_TRANSLATE_NOOP("ThirdParty", "The C++ standard library"),
    QT_TRANSLATE_NOOP("ThirdParty", "The base of every program on this system"),
    QT_TRANSLATE_NOOP("ThirdParty", "The database of chats"),
    QT_TRANSLATE_NOOP("ThirdParty", "The endpoint for other programs"),
    QT_TRANSLATE_NOOP("ThirdParty", "The font of code"),
    QT_TRANSLATE_NOOP("ThirdParty", "The font of the window"),
    QT_TRANSLATE_NOOP("ThirdParty", "Window, network, database access"),
});

QByteArray resource(const QString &name)
{
    QFile file(":/firesteel/licenses/"_L1 + name);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("%s is not in the program", qPrintable(name));
    return file.readAll();
}

QString translatedUse(const QByteArray &use)
{
    if (!std::ranges::contains(kUses, std::string_view(use.constData())))
        qFatal("third-party.json: \"%s\" is not among the texts to be translated", use.constData());
    return QCoreApplication::translate("ThirdParty", use.constData());
}

QStringList stringsOf(const QJsonValue &value)
{
    QStringList strings;
    for (const auto &entry : value.toArray())
        strings << entry.toString();
    return strings;
}

} // namespace

QString ThirdParty::licenseText() const
{
    QStringList parts { copyright.join(u'\n') };
    if (!note.isEmpty())
        parts << note;
    for (const QString &text : texts)
        parts << QString::fromUtf8(resource(text)).trimmed();
    return parts.join("\n\n"_L1);
}

QList<ThirdParty> readThirdParties()
{
    QList<ThirdParty> parties;
    const QJsonDocument document = QJsonDocument::fromJson(resource(u"third-party.json"_s));
    for (const auto &value : document["parts"_L1].toArray()) {
        const QJsonObject entry = value.toObject();
        ThirdParty party;
        party.name = entry["name"_L1].toString();
        party.use = translatedUse(entry["use"_L1].toString().toUtf8());
        party.license = entry["license"_L1].toString();
        party.copyright = stringsOf(entry["copyright"_L1]);
        party.note = entry["note"_L1].toString();
        party.texts = stringsOf(entry["texts"_L1]);
        party.libraries = stringsOf(entry["libraries"_L1]);
        parties << party;
    }
    return parties;
}

} // namespace firesteel::app
