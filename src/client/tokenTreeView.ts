import {
  EventEmitter,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  Uri,
  window,
  type TreeDataProvider,
  type TreeView,
} from "vscode";
import { reportOf } from "../core/protocol/panelMessages";
import type { GaugeReport } from "../core/report/gaugeReport";
import { skipReasonText } from "../core/report/skipReasonText";
import { visibleName } from "../core/report/visibleName";
import { count, percent, say } from "../core/text";
import type { SkippedFile } from "../core/tokens/files";
import { tokenTree, type TokenNode } from "../core/tokens/tokenTree";
import type { Gauge } from "./gauge";
import { DisposableStore, type Disposable } from "./lifecycle";
import { localized } from "./vscodeText";

type Row =
  | { readonly kind: "node"; readonly node: TokenNode }
  | { readonly kind: "skippedGroup"; readonly skipped: readonly SkippedFile[] }
  | { readonly kind: "skipped"; readonly skipped: SkippedFile };

/** The view "Tokens" in the Explorer: files by tokens, largest first, then what was left out and why. */
export class TokenTreeView implements TreeDataProvider<Row>, Disposable {
  private readonly store = new DisposableStore();
  private readonly changes = this.store.add(new EventEmitter<Row | undefined>());
  private readonly view: TreeView<Row>;
  private report: GaugeReport | undefined;
  private top: TokenNode | undefined;

  readonly onDidChangeTreeData = this.changes.event;

  constructor(private readonly gauge: Gauge) {
    this.view = this.store.add(
      window.createTreeView("llamaGauge.tokens", { treeDataProvider: this, showCollapseAll: true }),
    );
    this.store.add(gauge.onDidChange(() => this.update()));
    this.update();
  }

  getTreeItem(row: Row): TreeItem {
    switch (row.kind) {
      case "node":
        return this.nodeItem(row.node);
      case "skippedGroup":
        return skippedGroupItem(row.skipped.length);
      case "skipped":
        return skippedItem(row.skipped);
    }
  }

  getChildren(row?: Row): Row[] {
    if (row === undefined) {
      if (this.report === undefined || this.top === undefined) return [];
      const skipped = this.report.tokens.skipped;
      return [
        ...nodeRows(this.top),
        ...(skipped.length === 0 ? [] : [{ kind: "skippedGroup", skipped } as const]),
      ];
    }
    if (row.kind === "node") return nodeRows(row.node);
    return row.kind === "skippedGroup"
      ? row.skipped.map((skipped) => ({ kind: "skipped", skipped }) as const)
      : [];
  }

  dispose(): void {
    this.store.dispose();
  }

  private update(): void {
    const report = reportOf(this.gauge.state);
    if (report === this.report) return;
    this.report = report;
    this.top = report && tokenTree(report.tokens.files);
    this.view.description = report === undefined ? "" : localized(say`${count(report.tokens.tokens)} tokens`);
    this.changes.fire(undefined);
  }

  private nodeItem(node: TokenNode): TreeItem {
    const folder = node.file === undefined;
    const name = visibleName(node.name);
    const item = new TreeItem(
      name,
      folder ? TreeItemCollapsibleState.Collapsed : TreeItemCollapsibleState.None,
    );
    const share = percent((100 * node.tokens) / Math.max(1, this.top?.tokens ?? 0));
    item.id = `${folder ? "folder" : "file"} ${node.label}`;
    item.description = localized(say`${count(node.tokens)} · ${share}`);
    item.tooltip = localized(
      folder
        ? say`${visibleName(node.label)}: ${count(node.tokens)} tokens in ${count(node.files)} files, ${share} of all`
        : say`${visibleName(node.label)}: ${count(node.tokens)} tokens, ${share} of all`,
    );
    item.accessibilityInformation = { label: item.tooltip };
    item.contextValue = folder ? "folder" : "file";
    if (node.file === undefined) {
      item.iconPath = ThemeIcon.Folder;
    } else {
      item.resourceUri = Uri.file(node.file.file.path);
      item.iconPath = ThemeIcon.File;
      item.command = { command: "vscode.open", title: localized(say`Open`), arguments: [item.resourceUri] };
    }
    return item;
  }
}

const nodeRows = (node: TokenNode): Row[] => node.children.map((child) => ({ kind: "node", node: child }));

function skippedGroupItem(length: number): TreeItem {
  const item = new TreeItem(localized(say`Not counted`), TreeItemCollapsibleState.Collapsed);
  item.id = "skipped";
  item.description = localized(say`${count(length)}`);
  item.iconPath = new ThemeIcon("circle-slash");
  item.contextValue = "skippedGroup";
  return item;
}

function skippedItem(skipped: SkippedFile): TreeItem {
  const item = new TreeItem(visibleName(skipped.label), TreeItemCollapsibleState.None);
  const reason = localized(skipReasonText(skipped));
  item.description = reason;
  item.tooltip = `${visibleName(skipped.path)}\n${reason}`;
  item.accessibilityInformation = { label: `${visibleName(skipped.label)}, ${reason}` };
  item.iconPath = skipped.folder ? ThemeIcon.Folder : ThemeIcon.File;
  item.contextValue = "skipped";
  return item;
}
