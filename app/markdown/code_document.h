// SPDX-License-Identifier: MIT
//
// Fills the document of a read-only TextEdit with code and colours it. Growing code is inserted at
// the end, never set again; only finished lines are coloured, long documents in slices between
// frames. The only user of KSyntaxHighlighting.
//
// QML: TextEdit { id: edit; textFormat: TextEdit.PlainText; readOnly: true }
//      CodeDocument { textDocument: edit.textDocument; language: model.language; code: model.code;
//      dark: Theme.dark }
#pragma once

#include <QObject>
#include <QPointer>
#include <QQuickTextDocument>
#include <QString>
#include <QtQml/qqmlregistration.h>

namespace firesteel::app {

class CodeHighlighter;

class CodeDocument : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QQuickTextDocument *textDocument READ textDocument WRITE setTextDocument NOTIFY
                   textDocumentChanged FINAL)
    Q_PROPERTY(QString language READ language WRITE setLanguage NOTIFY languageChanged FINAL)
    Q_PROPERTY(QString code READ code WRITE setCode NOTIFY codeChanged FINAL)
    Q_PROPERTY(bool open READ isOpen WRITE setOpen NOTIFY openChanged FINAL)
    Q_PROPERTY(bool dark READ isDark WRITE setDark NOTIFY darkChanged FINAL)

public:
    explicit CodeDocument(QObject *parent = nullptr);
    ~CodeDocument() override;

    QQuickTextDocument *textDocument() const { return m_quickDocument; }
    void setTextDocument(QQuickTextDocument *document);
    QString language() const { return m_language; }
    void setLanguage(const QString &language);
    QString code() const { return m_code; }
    void setCode(const QString &code);
    bool isOpen() const { return m_open; } // the last line is still being written
    void setOpen(bool open);
    bool isDark() const { return m_dark; }
    void setDark(bool dark);

    // Loads the language definitions on a worker, so that the first code block does not wait for
    // them.
    static void prepareLanguages();

    // The name people read for a fence's language ("py" -> "Python"); the language itself when
    // unknown.
    static QString languageLabel(const QString &language);

Q_SIGNALS:
    void textDocumentChanged();
    void languageChanged();
    void codeChanged();
    void openChanged();
    void darkChanged();

private:
    void showCode();
    void dropHighlighter();
    void attachHighlighter();

    QPointer<QQuickTextDocument> m_quickDocument;
    QPointer<CodeHighlighter> m_highlighter; // the document's
    QString m_language;
    QString m_code;
    qsizetype m_shown = 0; // characters of m_code in the document
    bool m_open = false;
    bool m_dark = false;
};

} // namespace firesteel::app
