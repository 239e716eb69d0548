import type { LaunchOptions } from "../../launch/launchOptions";
import type { Model } from "../../model/model";
import { contextTable, type ContextTable } from "./contextTable";
import type { MemoryDevice } from "../devices/memoryDevice";
import { largestContext, maxContext, type MaxContext } from "./maxContext";
import { memoryBudget } from "./memoryBudget";
import type { BudgetSettings } from "./breakdown";
import type { LoggedBudget, MemoryReport, MemoryWarning } from "./memoryReport";
import { probedBudget, type ProbeCorrection } from "./fitParams";

/** Budgets of one model on one machine for any launch options; nobody is asked. */
export interface Budgets {
  of(launch: LaunchOptions): MemoryReport;
  table(launch: LaunchOptions): ContextTable;
  /** The largest `-c` that fits, also by KV types. */
  largest(launch: LaunchOptions): MaxContext;
  /** The largest `-c` that fits with these options; 0: none. */
  largestContext(launch: LaunchOptions): number;
}

export interface BudgetBasis {
  readonly model: Model;
  readonly devices: readonly MemoryDevice[];
  readonly settings: BudgetSettings;
  /** What llama.cpp's own probe said about the launch `holds` is true for. */
  readonly probed?: {
    readonly correction: ProbeCorrection;
    /** Whether it holds for these options, too: it does for any context and number of slots. */
    readonly holds: (launch: LaunchOptions) => boolean;
  };
  /** What the server wrote into its log when it was started with exactly these options. */
  readonly logged?: { readonly launch: LaunchOptions; readonly rows: readonly LoggedBudget[] };
  /** What went wrong on the way to these figures. */
  readonly warnings?: readonly MemoryWarning[];
}

export function budgets({ model, devices, settings, probed, logged, warnings = [] }: BudgetBasis): Budgets {
  return {
    of: (launch) => {
      const computed = memoryBudget(model, launch, devices, settings);
      const report: MemoryReport =
        probed?.holds(launch) === true
          ? { ...probedBudget(model, launch, devices, probed.correction, settings), computed }
          : computed;
      return {
        ...report,
        ...(logged?.launch === launch && { logged: logged.rows }),
        warnings: [...report.warnings, ...warnings],
      };
    },
    table: (launch) => contextTable(model, launch, devices, settings),
    largest: (launch) => maxContext(model, launch, devices, settings),
    largestContext: (launch) => largestContext(model, launch, devices, settings).nCtx,
  };
}
