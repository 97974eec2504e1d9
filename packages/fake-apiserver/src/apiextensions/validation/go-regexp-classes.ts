// Character classes of Go's regular expressions in JavaScript's spelling.
// Upstream: Go's regexp/syntax/perl_groups.go

export const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};
// Go's \s has no \v, and \w, \d are ASCII.
export const PERL_CLASSES: Readonly<Record<string, readonly [inside: string, negated: string]>> = {
  d: ['0-9', '[^0-9]'],
  w: ['0-9A-Za-z_', '[^0-9A-Za-z_]'],
  s: ['\\t\\n\\f\\r ', '[^\\t\\n\\f\\r ]'],
};
export const CONTROL_ESCAPES: Readonly<Record<string, string>> = {
  a: '\\x07',
  f: '\\f',
  t: '\\t',
  n: '\\n',
  r: '\\r',
  v: '\\v',
};
