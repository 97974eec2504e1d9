// The text of an expression, and errors that point into it.
// Upstream: github.com/google/cel-go@v0.17.8:common/error.go, errors.go

export interface Issue {
  /** Offset in code points. */
  readonly at: number;
  readonly message: string;
}

/** Errors of one expression, in the order of the text. */
export class CelIssues extends Error {
  override readonly name = 'CelIssues';
  readonly issues: readonly Issue[];

  constructor(source: string, issues: readonly Issue[]) {
    super(display(source, issues));
    this.issues = issues;
  }
}

const MAX_SHOWN = 100;

function display(source: string, issues: readonly Issue[]): string {
  const sorted = [...issues].sort((a, b) => a.at - b.at);
  const more = sorted.length - MAX_SHOWN;
  const shown = sorted.slice(0, MAX_SHOWN).map((issue) => displayOne(source, issue));
  return [...shown, ...(more > 0 ? [`${more} more errors were truncated`] : [])].join('\n');
}

function displayOne(source: string, { at, message }: Issue): string {
  const before = [...source].slice(0, at).join('');
  const line = before.split('\n').length;
  const column = [...before.slice(before.lastIndexOf('\n') + 1)].length;
  const head = `ERROR: <input>:${line}:${column + 1}: ${message}`;
  const snippet = source.split('\n')[line - 1];
  if (snippet === undefined) return head;
  const chars = [...snippet.replaceAll('\t', ' ')];
  const wide = (char: string | undefined): boolean => char !== undefined && Buffer.byteLength(char) > 1;
  const dots = chars.slice(0, column).map((char) => (wide(char) ? '\uff0e' : '.'));
  return `${head}\n | ${chars.join('')}\n | ${dots.join('')}${wide(chars[column]) ? '\uff3e' : '^'}`;
}
