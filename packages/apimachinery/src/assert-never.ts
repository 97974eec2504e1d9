/** Ends an exhaustive switch; reaching it is a programming error. */
export function assertNever(value: never): never {
  throw new TypeError(`unexpected value ${JSON.stringify(value)}`);
}
