// Characters as JavaScript's expressions want them written.

export const literal = (char: string): string => char.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');

export const inClass = (char: string): string => char.replace(/[\\\]^[-]/, '\\$&');

export function codeOf(inside: string): number {
  const unicode = /^\\u\{([0-9A-Fa-f]+)\}$/.exec(inside);
  if (unicode !== null) return Number.parseInt(unicode[1]!, 16);
  return inside.codePointAt(inside.startsWith('\\') ? 1 : 0)!;
}
