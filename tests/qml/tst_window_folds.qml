// SPDX-License-Identifier: MIT
//
// What gives way as the window gets narrower: the panel, then the sidebar, never the chat.
import QtQuick
import QtTest
import Firesteel.Ui

TestCase {
    name: "WindowFolds"

    WindowFolds {
        id: folds
    }

    function test_folds_data() {
        return [
            {
                tag: "first start",
                width: 1280,
                sidebar: true,
                panel: false,
                docked: [true, false]
            },
            {
                tag: "everything",
                width: 1280,
                sidebar: true,
                panel: true,
                docked: [true, true]
            },
            {
                tag: "panel gives way first",
                width: 1000,
                sidebar: true,
                panel: true,
                docked: [true, false]
            },
            {
                tag: "then the sidebar",
                width: 720,
                sidebar: true,
                panel: true,
                docked: [false, false]
            },
            {
                tag: "panel alone fits where both do not",
                width: 900,
                sidebar: false,
                panel: true,
                docked: [false, true]
            },
            {
                tag: "nothing wanted",
                width: 1280,
                sidebar: false,
                panel: false,
                docked: [false, false]
            }
        ];
    }

    function test_folds(row) {
        folds.width = row.width;
        folds.sidebarWanted = row.sidebar;
        folds.panelWanted = row.panel;
        compare([folds.sidebarDocked, folds.panelDocked], row.docked);
        const rest = row.width - (folds.sidebarDocked ? folds.sidebarWidth : 0) - (folds.panelDocked ? folds.panelWidth : 0);
        verify(rest >= folds.chatMinimum);
    }
}
