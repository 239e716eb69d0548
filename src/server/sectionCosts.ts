import type { PresetModel } from "../core/preset/presetModels";
import type { SectionCost, SectionCostAnswer, SectionCostRequest } from "../core/protocol/serverRequests";

const maxKept = 1000;

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
  of({ name, options }: PresetModel, modelPath: string | undefined): SectionCost | undefined {
    if (modelPath === undefined) return undefined;
    const key = JSON.stringify([modelPath, options]);
    if (!this.known.has(key)) {
      if (this.known.size >= maxKept) this.known.clear();
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
