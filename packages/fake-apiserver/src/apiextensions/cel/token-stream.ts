// The tokens of an expression, and what is said when an expected one is not there.
// Upstream: github.com/antlr/antlr4/runtime/Go/antlr/v4@v4.0.0-20230305170008-8188dc5388df:error_strategy.go#DefaultErrorStrategy
import type { Token } from './lexer.ts';
import type { Issue } from './source.ts';

export const RELATIONS: ReadonlySet<string> = new Set(['<', '<=', '>=', '>', '==', '!=', 'in']);
const AFTER_OPERAND: ReadonlySet<string> = new Set([...RELATIONS, '+', '-', '*', '/', '%', '&&', '||', '?', '.', '[']);
const OPERAND_STARTS: ReadonlySet<string> = new Set(['[', '{', '(', '.', '-', '!']);

const isToken = ({ kind, text }: Token, wanted: string): boolean =>
  (kind === 'operator' || kind === 'ident') && text === wanted;

export const startsOperand = (token: Token): boolean =>
  token.kind === 'operator' ? OPERAND_STARTS.has(token.text) : token.kind !== 'eof' && !isToken(token, 'in');

const BINARY: ReadonlySet<string> = new Set([...RELATIONS, '+', '*', '/', '%', '&&', '||', '?']);

/** An operator between two operands, which is no operand's beginning. */
export const isBinary = ({ kind, text }: Token): boolean => (kind === 'operator' || text === 'in') && BINARY.has(text);

/** The rest of the text cannot be made sense of; what is wrong was reported. */
export class SyntaxStop extends Error {}

export class TokenStream {
  readonly #tokens: readonly Token[];
  readonly #issues: Issue[];
  #next = 0;
  /** Brackets around the current place, without the one that is about to be closed. */
  #open = 0;

  constructor(tokens: readonly Token[], issues: Issue[]) {
    this.#tokens = tokens;
    this.#issues = issues;
  }

  get peek(): Token {
    return this.#tokens[this.#next]!;
  }

  get second(): Token {
    return this.#tokens[this.#next + 1] ?? this.#tokens.at(-1)!;
  }

  is(text: string): boolean {
    return isToken(this.peek, text);
  }

  take(): Token {
    const token = this.peek;
    if (token.kind !== 'eof') this.#next += 1;
    return token;
  }

  accept(text: string): Token | undefined {
    return this.is(text) ? this.take() : undefined;
  }

  /** As upstream, a token too many is passed over, and a single one that lacks is taken as read. */
  expect(text: string): Token {
    const token = this.accept(text);
    if (token !== undefined) return token;
    const { at, text: found } = this.peek;
    if (isToken(this.second, text)) {
      this.report(at, `Syntax error: extraneous input '${found}' expecting '${text}'`);
      this.take();
      return this.take();
    }
    if (!this.#mayFollow(text)) this.stop(`mismatched input '${found}' expecting '${text}'`);
    this.report(at, `Syntax error: missing '${text}' at '${found}'`);
    return this.peek;
  }

  #mayFollow(text: string): boolean {
    if (text === ':') return startsOperand(this.peek);
    return AFTER_OPERAND.has(this.peek.text) || (this.#open === 0 && this.peek.kind === 'eof');
  }

  stop(message: string): never {
    this.#issues.push({ at: this.peek.at, message: `Syntax error: ${message}` });
    throw new SyntaxStop();
  }

  report(at: number, message: string): void {
    this.#issues.push({ at, message });
  }

  within<T>(parse: () => T): T {
    this.#open += 1;
    const parsed = parse();
    this.#open -= 1;
    return parsed;
  }
}
