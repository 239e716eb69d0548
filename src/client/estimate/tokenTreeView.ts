import {
  EventEmitter,
  ThemeColor,
  ThemeIcon,
  TreeItemCheckboxState,
  TreeItemCollapsibleState,
  Uri,
  window,
  type TreeDataProvider,
  type TreeItem,
  type TreeView,
} from "vscode";
import { reportOf } from "../../core/report/gaugeState";
import { crashRiskName, crashRiskText, riskyFiles } from "../../core/report/crashRisk";
import type { GaugeReport } from "../../core/report/gaugeReport";
import { nothingShown, shownName, together } from "../../core/shown";
import { count, percent, say, type Text } from "../../core/text";
import type { SkippedFile } from "../../core/files/files";
import { tokenTree, type TokenNode } from "../../core/tokens/tokenTree";
import type { Gauge } from "./gauge";
import { DisposableStore, type Disposable } from "../editor/lifecycle";
import { describeView, treeItem } from "../editor/screen";
import { localized } from "../editor/vscodeText";
import { skipReasonText, fileKindName } from "../../core/report/names";

type Row =
  | { readonly kind: "node"; readonly node: TokenNode }
  | { readonly kind: "skippedGroup"; readonly skipped: readonly SkippedFile[] }
  | { readonly kind: "skipped"; readonly skipped: SkippedFile };

const warningIcon = new ThemeIcon("warning", new ThemeColor("list.warningForeground"));

/** The view "Tokens" in the Explorer: files by tokens, largest first, then what was left out and why. */
export class TokenTreeView implements TreeDataProvider<Row>, Disposable {
  private readonly store = new DisposableStore();
  private readonly changes = this.store.add(new EventEmitter<Row | undefined>());
  private readonly view: TreeView<Row>;
  private report: GaugeReport | undefined;
  private top: TokenNode | undefined;
  private leftOut: ReadonlySet<string> = new Set();

  readonly onDidChangeTreeData = this.changes.event;

  constructor(private readonly gauge: Gauge) {
    this.view = this.store.add(
      window.createTreeView("llamaGauge.tokens", {
        treeDataProvider: this,
        showCollapseAll: true,
        manageCheckboxStateManually: true,
      }),
    );
    this.store.add(
      this.view.onDidChangeCheckboxState(({ items }) => {
        for (const [row, state] of items) {
          if (row.kind === "node") this.check(row.node, state === TreeItemCheckboxState.Checked);
        }
      }),
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

  /** Whether somebody can see the tree. */
  get visible(): boolean {
    return this.view.visible;
  }

  dispose(): void {
    this.store.dispose();
  }

  private update(): void {
    const report = reportOf(this.gauge.state);
    if (report === this.report) return;
    if (report?.tokens !== this.report?.tokens) this.top = report && tokenTree(report.tokens.files);
    this.report = report;
    this.leftOut = new Set(report?.leftOut);
    describeView(this.view, report === undefined ? nothingShown : localized(inPrompt(report)));
    this.changes.fire(undefined);
  }

  /** Takes a file, or all files of a folder, into the prompt or out of it. */
  private check(node: TokenNode, wanted: boolean): void {
    const leftOut = new Set(this.leftOut);
    for (const path of pathsOf(node)) {
      if (wanted) leftOut.delete(path);
      else leftOut.add(path);
    }
    this.gauge.choose([...leftOut]);
  }

  private nodeItem(node: TokenNode): TreeItem {
    const folder = node.file === undefined;
    const share = percent((100 * node.tokens) / Math.max(1, this.top?.tokens ?? 0));
    const mark = node.file?.mark;
    const figures =
      mark === undefined
        ? say`${count(node.tokens)} · ${share}`
        : say`${count(node.tokens)} · ${share} · ${fileKindName(mark.kind)}`;
    const [risky] = riskyFiles({ tokens: { files: node.file === undefined ? [] : [node.file] } });
    const about = folder
      ? say`${node.label}: ${count(node.tokens)} token[s] in ${count(node.files)} file[s], ${share} of the total`
      : say`${node.label}: ${count(node.tokens)} token[s], ${share} of the total`;
    const tooltip = together(
      [
        localized(about),
        mark === undefined ? nothingShown : localized(say`${fileKindName(mark.kind)}: ${mark.evidence}`),
        risky === undefined ? nothingShown : localized(crashRiskText(risky)),
      ],
      "\n",
    );
    const item = treeItem(
      {
        label: shownName(node.name),
        description: together(
          [localized(figures), risky === undefined ? nothingShown : localized(crashRiskName)],
          " · ",
        ),
        tooltip,
        spoken: tooltip,
      },
      folder ? TreeItemCollapsibleState.Collapsed : TreeItemCollapsibleState.None,
    );
    item.id = `${folder ? "folder" : "file"} ${node.label}`;
    item.checkboxState = {
      state: pathsOf(node).every((path) => this.leftOut.has(path))
        ? TreeItemCheckboxState.Unchecked
        : TreeItemCheckboxState.Checked,
      accessibilityInformation: { label: localized(say`Include ${node.label} in the prompt`) },
    };
    item.contextValue = folder ? "folder" : "file";
    if (node.file === undefined) {
      item.iconPath = ThemeIcon.Folder;
    } else {
      item.resourceUri = Uri.file(node.file.file.path);
      item.iconPath = risky === undefined ? ThemeIcon.File : warningIcon;
      item.command = { command: "vscode.open", title: localized(say`Open`), arguments: [item.resourceUri] };
    }
    return item;
  }
}

/** Of the files at or below a node. */
function pathsOf({ file, children }: TokenNode): string[] {
  return file === undefined ? children.flatMap(pathsOf) : [file.file.path];
}

function inPrompt({ acceptance, tokens, leftOut }: GaugeReport): Text {
  if (leftOut === undefined) return say`${count(tokens.tokens)} token[s]`;
  return say`${count(acceptance.parts.files)} of ${count(tokens.tokens)} token[s]`;
}

const nodeRows = (node: TokenNode): Row[] => node.children.map((child) => ({ kind: "node", node: child }));

function skippedGroupItem(length: number): TreeItem {
  const item = treeItem(
    { label: localized(say`Not counted`), description: localized(say`${count(length)}`) },
    TreeItemCollapsibleState.Collapsed,
  );
  item.id = "skipped";
  item.iconPath = new ThemeIcon("circle-slash");
  item.contextValue = "skippedGroup";
  return item;
}

function skippedItem(skipped: SkippedFile): TreeItem {
  const label = shownName(skipped.label);
  const reason = localized(skipReasonText(skipped));
  const item = treeItem(
    {
      label,
      description: reason,
      tooltip: together([shownName(skipped.path), reason], "\n"),
      spoken: together([label, reason], ", "),
    },
    TreeItemCollapsibleState.None,
  );
  item.iconPath = skipped.folder ? ThemeIcon.Folder : ThemeIcon.File;
  item.contextValue = "skipped";
  return item;
}
