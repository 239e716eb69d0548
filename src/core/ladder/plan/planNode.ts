/** A value of a plan file and the line it stands in, whatever the file's language is. */
export type PlanNode =
  | { readonly kind: "scalar"; readonly line: number; readonly value: string | number | boolean | null }
  | { readonly kind: "list"; readonly line: number; readonly items: readonly PlanNode[] }
  | { readonly kind: "map"; readonly line: number; readonly fields: readonly PlanField[] };

export interface PlanField {
  readonly name: string;
  /** Of the name. */
  readonly line: number;
  readonly node: PlanNode;
}
