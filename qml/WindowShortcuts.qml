// SPDX-License-Identifier: MIT
//
// The keys that work everywhere in the window.
pragma ComponentBehavior: Bound

import QtQuick

Item {
    id: root

    signal newRequested
    signal sidebarToggled
    signal panelToggled
    signal findStarted // in the open chat
    signal searchStarted // over all chats
    signal chatRequested
    signal pageRequested(string page)
    signal actionsRequested
    signal textScaled(real by) // 0: back to normal
    signal closed

    Shortcut {
        sequences: [StandardKey.New]
        onActivated: root.newRequested()
    }
    Shortcut {
        sequence: "Ctrl+B"
        onActivated: root.sidebarToggled()
    }
    Shortcut {
        sequence: "Ctrl+Shift+P"
        onActivated: root.panelToggled()
    }
    Shortcut {
        sequences: [StandardKey.Find]
        onActivated: {
            root.chatRequested();
            root.findStarted();
        }
    }
    Shortcut {
        sequence: "Ctrl+Shift+F"
        onActivated: root.searchStarted()
    }
    Shortcut {
        sequence: "Ctrl+L"
        onActivated: root.chatRequested()
    }
    Shortcut {
        sequence: "Ctrl+Shift+M"
        onActivated: root.pageRequested("models")
    }
    Shortcut {
        sequences: [StandardKey.Preferences, "Ctrl+,"]
        onActivated: root.pageRequested("settings")
    }
    Shortcut {
        sequence: "Ctrl+K"
        onActivated: root.actionsRequested()
    }
    Shortcut {
        sequences: [StandardKey.ZoomIn, "Ctrl+="]
        onActivated: root.textScaled(0.1)
    }
    Shortcut {
        sequences: [StandardKey.ZoomOut]
        onActivated: root.textScaled(-0.1)
    }
    Shortcut {
        sequence: "Ctrl+0"
        onActivated: root.textScaled(0)
    }
    Shortcut {
        sequences: [StandardKey.Quit]
        onActivated: root.closed()
    }
}
