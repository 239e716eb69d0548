import type { LaunchOptions } from "../core/launch/launchOptions";
import type { SectionCostAnswer, SectionCostRequest } from "../core/protocol/serverRequests";
import type { SectionCost } from "../core/preset/sectionCost";

/** Of several presets; the oldest goes first. */
const maxKept = 2000;

/** A section, or a command line elsewhere. */
export interface Costed {
  readonly name: string;
  readonly options: LaunchOptions;
}

/** What sections cost, answered at once from memory; what is not known yet is asked for, then `onNews` is called. */
export class SectionCosts {
  private readonly known = new Map<string, SectionCost | undefined>();

  constructor(
    private readonly ask: (request: SectionCostRequest) => Promise<SectionCostAnswer>,
    private readonly onNews: () => void,
  ) {}

  forget(): void {
    this.known.clear();
  }

  /** `modelPath`: absolute; without it nothing can be said. */
  of({ name, options }: Costed, modelPath: string | undefined): SectionCost | undefined {
    if (modelPath === undefined) return undefined;
    const key = JSON.stringify([modelPath, options]);
    if (!this.known.has(key)) {
      for (const oldest of this.known.size >= maxKept ? this.known.keys() : []) {
        this.known.delete(oldest);
        break;
      }
      this.known.set(key, undefined);
      void this.ask({ section: name, options, modelPath }).then(
        (cost) => {
          if (cost === null || !this.known.has(key)) return;
          this.known.set(key, cost);
          this.onNews();
        },
        () => undefined,
      );
    }
    return this.known.get(key);
  }
}
