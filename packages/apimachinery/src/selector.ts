// What both kinds of selectors promise; the grammars are in labels.ts and fields.ts.

/** Labels of an object, or the selectable fields of a kind. */
export type StringSet = Readonly<Record<string, string>>;

export type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'gt' | 'lt' | 'exists' | '!';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

export interface LabelSelector {
  /** True when everything matches. */
  readonly empty: boolean;
  readonly requirements: readonly LabelRequirement[];
  matches(labels: StringSet | undefined): boolean;
  /** The one value an equality requirement pins the key to, else undefined. */
  requiresExactMatch(key: string): string | undefined;
  /** Canonical form: requirements sorted by key. */
  toString(): string;
}

export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

export interface FieldSelector {
  readonly empty: boolean;
  readonly requirements: readonly FieldRequirement[];
  /** A field that is not in the set counts as the empty string. */
  matches(fields: StringSet): boolean;
  requiresExactMatch(field: string): string | undefined;
  /** A new selector with each requirement mapped; `map` may throw to refuse a field. */
  transform(
    map: (field: string, value: string) => { readonly field: string; readonly value: string } | undefined,
  ): FieldSelector;
  toString(): string;
}

/** A selector that cannot be read. The message is what the API server answers; `code` is for programs. */
export class SelectorParseError extends Error {
  override readonly name = 'SelectorParseError';
  readonly code = 'INVALID_SELECTOR';
  /** The text as it was given, where there was one. */
  readonly selector: string;

  constructor(message: string, selector: string) {
    super(message);
    this.selector = selector;
  }
}
