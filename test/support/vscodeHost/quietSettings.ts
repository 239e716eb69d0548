/** User settings under which a fresh VS Code shows nothing but what a test does, and asks the network for nothing. */
export const quietSettings: Readonly<Record<string, unknown>> = {
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.reduceMotion": "on",
  "workbench.welcomePage.walkthroughs.openOnInstall": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.enableExperiments": false,
  // a modal editor swallows keys, the palette's included
  "workbench.editor.useModal": "off",
  "window.menuBarVisibility": "classic",
  "chat.disableAIFeatures": true,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "update.showReleaseNotes": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "npm.fetchOnlinePackageInfo": false,
  // else the server looks through every process's sockets all the time
  "remote.autoForwardPorts": false,
  "remote.restoreForwardedPorts": false,
};
