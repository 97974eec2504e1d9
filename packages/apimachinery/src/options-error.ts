// The error for a setting that cannot be used.

/** Names the option, what was given and what would be accepted. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  readonly code = 'INVALID_OPTION';
  readonly option: string;

  constructor(option: string, value: unknown, expected: string, options: { readonly cause?: unknown } = {}) {
    super(`option ${option} must be ${expected}, got ${describe(value)}`, options);
    this.option = option;
  }
}

function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  if (value === undefined || value === null) return String(value);
  return `${typeof value} ${String(value)}`;
}
