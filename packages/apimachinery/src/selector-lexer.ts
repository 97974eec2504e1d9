// Cuts a label selector into tokens.
// Upstream: apimachinery@v0.30.3:pkg/labels/selector.go#Lexer

export type SelectorTokenKind = 'end' | 'word' | '(' | ')' | ',' | '!' | '=' | '==' | '!=' | '>' | '<' | 'in' | 'notin';

export interface SelectorToken {
  readonly kind: SelectorTokenKind;
  /** As written; '' for the end. */
  readonly text: string;
}

const END: SelectorToken = { kind: 'end', text: '' };

// One token per match: space, a symbol (the longer one first), a word.
const TOKEN = /[ \t\r\n]+|==|!=|[=!(),<>]|[^ \t\r\n=!(),<>\0]+/y;

/**
 * All tokens; the last one is the end. Every text has tokens, so this never fails. As upstream, a NUL directly after a
 * token is skipped, and any other NUL ends the selector, whatever follows.
 */
export function lexSelector(text: string): readonly SelectorToken[] {
  const tokens: SelectorToken[] = [];
  TOKEN.lastIndex = 0;
  for (;;) {
    const start = TOKEN.lastIndex;
    const found = TOKEN.exec(text)?.[0];
    // A failed match resets lastIndex: both the end of the text and a NUL arrive here.
    if (found === undefined) break;
    if (isSpace(found)) continue;
    tokens.push({ kind: kindOf(found), text: found });
    const end = start + found.length;
    if (text.charCodeAt(end) === 0) TOKEN.lastIndex = end + 1;
  }
  tokens.push(END);
  return tokens;
}

function isSpace(found: string): boolean {
  return found[0] === ' ' || found[0] === '\t' || found[0] === '\r' || found[0] === '\n';
}

function kindOf(found: string): SelectorTokenKind {
  switch (found) {
    case '(':
    case ')':
    case ',':
    case '!':
    case '=':
    case '==':
    case '!=':
    case '>':
    case '<':
    case 'in':
    case 'notin':
      return found;
    default:
      return 'word';
  }
}
