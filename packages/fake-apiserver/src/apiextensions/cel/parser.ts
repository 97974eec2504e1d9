// CEL text into an expression, macros expanded.
// Upstream: github.com/google/cel-go@v0.17.8:parser/parser.go
import { type CallExpr, call, constant, type Expr, ident, type MapEntry } from './ast.ts';
import { type Token, tokenize } from './lexer.ts';
import { expandMacro } from './macros.ts';
import { CelIssues, type Issue } from './source.ts';
import { isBinary, RELATIONS, SyntaxStop, startsOperand, TokenStream } from './token-stream.ts';

const OPERAND =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
const RESERVED: ReadonlySet<string> = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
);
const MAX_DEPTH = 250;
const MAX_INT = 2n ** 63n;

/** Parses an expression. Throws {@link CelIssues} with everything that is wrong with the text. */
export function parse(source: string): Expr {
  const issues: Issue[] = [];
  const tokens = tokenize(source, issues);
  const parser = new Parser(tokens, issues);
  const expr = parser.parse();
  if (issues.length > 0 || expr === undefined) throw new CelIssues(source, issues);
  return expr;
}

class Parser extends TokenStream {
  #depth = 0;

  parse(): Expr | undefined {
    try {
      const expr = this.#expr();
      if (this.peek.kind !== 'eof') {
        const kind = this.second.kind === 'eof' ? 'extraneous' : 'mismatched';
        this.stop(`${kind} input '${this.peek.text}' expecting <EOF>`);
      }
      return expr;
    } catch (error) {
      if (error instanceof SyntaxStop) return undefined;
      throw error;
    }
  }

  #expr(): Expr {
    if (++this.#depth > MAX_DEPTH) this.stop(`expression recursion limit exceeded: ${MAX_DEPTH}`);
    try {
      const condition = this.#logical('||', '_||_', () => this.#logical('&&', '_&&_', () => this.#relation()));
      const question = this.accept('?');
      if (question === undefined) return condition;
      const yes = this.#logical('||', '_||_', () => this.#logical('&&', '_&&_', () => this.#relation()));
      this.expect(':');
      const no = this.#expr();
      return call(question.at, '_?_:_', [condition, yes, no]);
    } finally {
      this.#depth -= 1;
    }
  }

  /** Chains of the same operator become a balanced tree, as upstream, so that depth stays small. */
  #logical(operator: string, name: string, operand: () => Expr): Expr {
    const terms = [operand()];
    const places: number[] = [];
    for (let token = this.accept(operator); token !== undefined; token = this.accept(operator)) {
      places.push(token.at);
      terms.push(operand());
    }
    const balance = (low: number, high: number): Expr => {
      const middle = Math.floor((low + high + 1) / 2);
      const left = middle === low ? terms[middle]! : balance(low, middle - 1);
      const right = middle === high ? terms[middle + 1]! : balance(middle + 1, high);
      return call(places[middle]!, name, [left, right]);
    };
    return terms.length === 1 ? terms[0]! : balance(0, places.length - 1);
  }

  #relation(): Expr {
    let left = this.#sum();
    while (RELATIONS.has(this.peek.text) && this.peek.kind !== 'string' && this.peek.kind !== 'bytes') {
      const operator = this.take();
      const name = operator.text === 'in' ? '@in' : `_${operator.text}_`;
      left = call(operator.at, name, [left, this.#sum()]);
    }
    return left;
  }

  #sum(): Expr {
    let left = this.#product();
    while (this.is('+') || this.is('-')) {
      const operator = this.take();
      left = call(operator.at, `_${operator.text}_`, [left, this.#product()]);
    }
    return left;
  }

  #product(): Expr {
    let left = this.#unary();
    while (this.is('*') || this.is('/') || this.is('%')) {
      const operator = this.take();
      left = call(operator.at, `_${operator.text}_`, [left, this.#unary()]);
    }
    return left;
  }

  #unary(): Expr {
    const first = this.peek;
    if (!this.is('!') && !this.is('-')) return this.#member();
    const operator = first.text;
    let count = 0;
    while (this.is(operator)) {
      const following = this.second;
      // A minus before a number belongs to the literal.
      if (operator === '-' && (following.kind === 'int' || following.kind === 'float')) break;
      this.take();
      count += 1;
    }
    const operand = this.#member();
    return count % 2 === 0 ? operand : call(first.at, operator === '!' ? '!_' : '-_', [operand]);
  }

  #member(): Expr {
    let expr = this.#primary();
    for (;;) {
      const dot = this.accept('.');
      if (dot !== undefined) expr = this.#selection(expr, dot);
      else if (this.is('[')) expr = this.#index(expr);
      else if (this.is('{') && (expr.kind === 'ident' || expr.kind === 'select')) expr = this.#message(expr);
      else return expr;
    }
  }

  #selection(operand: Expr, dot: Token): Expr {
    const optional = this.accept('?') !== undefined;
    const field = this.peek;
    if (field.kind !== 'ident' || ['true', 'false', 'null', 'in'].includes(field.text)) {
      this.stop(`no viable alternative at input '.${field.kind === 'eof' ? '' : field.text}'`);
    }
    this.take();
    if (optional) return call(dot.at, '_?._', [operand, constant(field.at, { type: 'string', value: field.text })]);
    const open = this.accept('(');
    if (open === undefined) return { kind: 'select', at: dot.at, operand, field: field.text, testOnly: false };
    return this.#expand(call(open.at, field.text, this.#arguments(), operand));
  }

  #index(operand: Expr): Expr {
    const open = this.take();
    const optional = this.accept('?') !== undefined;
    const index = this.within(() => this.#expr());
    this.expect(']');
    return call(open.at, optional ? '_[?_]' : '_[_]', [operand, index]);
  }

  #message(expr: Expr): Expr {
    const open = this.take();
    while (!this.is('}') && this.peek.kind !== 'eof') this.take();
    this.expect('}');
    const name = (function nameOf(of: Expr): string {
      return of.kind === 'ident' ? of.name : of.kind === 'select' ? `${nameOf(of.operand)}.${of.field}` : '';
    })(expr);
    return { kind: 'struct', at: open.at, name };
  }

  #arguments(): readonly Expr[] {
    const args: Expr[] = [];
    if (this.accept(')') !== undefined) return args;
    do args.push(this.within(() => this.#expr()));
    while (this.accept(',') !== undefined);
    this.expect(')');
    return args;
  }

  #expand(made: CallExpr): Expr {
    return expandMacro(made, (at, message) => this.report(at, message)) ?? made;
  }

  #primary(): Expr {
    const token = this.peek;
    if (this.accept('(') !== undefined) {
      const inside = this.within(() => this.#expr());
      this.expect(')');
      return inside;
    }
    if (this.is('[')) return this.#list();
    if (this.is('{')) return this.#map();
    if (token.kind === 'string' || token.kind === 'bytes') {
      this.take();
      const value = token.value!;
      return constant(token.at, typeof value === 'string' ? { type: 'string', value } : { type: 'bytes', value });
    }
    if (this.is('-') || ['int', 'uint', 'float'].includes(token.kind)) return this.#number();
    if (token.kind === 'ident' || this.is('.')) return this.#identifier();
    const problem = `mismatched input '${token.text}' expecting ${OPERAND}`;
    if (!startsOperand(this.second)) {
      if (!isBinary(token)) return this.stop(problem);
      // What may stand behind an operand is read as if there had been one.
      this.report(token.at, `Syntax error: ${problem}`);
      return ident(token.at, '');
    }
    this.report(token.at, `Syntax error: extraneous input '${token.text}' expecting ${OPERAND}`);
    this.take();
    return this.#primary();
  }

  #number(): Expr {
    const start = this.peek.at;
    const negative = this.accept('-') !== undefined;
    const { kind, text } = this.take();
    const sign = negative ? '-' : '';
    if (kind === 'float') return constant(start, { type: 'double', value: Number(sign + text) });
    const digits = BigInt(text.replace(/[uU]$/, ''));
    const value = negative ? -digits : digits;
    if (kind === 'uint') {
      if (value >= 2n * MAX_INT) this.report(start, 'invalid uint literal');
      return constant(start, { type: 'uint', value });
    }
    if (value >= MAX_INT || value < -MAX_INT) this.report(start, 'invalid int literal');
    return constant(start, { type: 'int', value });
  }

  #identifier(): Expr {
    const dot = this.accept('.');
    const token = this.peek;
    if (token.kind !== 'ident') this.stop(`mismatched input '${token.text}' expecting IDENTIFIER`);
    this.take();
    const name = `${dot === undefined ? '' : '.'}${token.text}`;
    if (dot === undefined && (name === 'true' || name === 'false')) {
      return constant(token.at, { type: 'bool', value: name === 'true' });
    }
    if (dot === undefined && name === 'null') return constant(token.at, { type: 'null', value: null });
    if (RESERVED.has(token.text)) this.report(token.at, `reserved identifier: ${token.text}`);
    const open = this.accept('(');
    if (open === undefined) return ident(token.at, name);
    return this.#expand(call(open.at, name, this.#arguments()));
  }

  #list(): Expr {
    const open = this.take();
    const elements: Expr[] = [];
    const optional = new Set<number>();
    while (!this.is(']')) {
      if (this.accept('?') !== undefined) optional.add(elements.length);
      elements.push(this.within(() => this.#expr()));
      if (this.accept(',') === undefined) break;
    }
    this.expect(']');
    return { kind: 'list', at: open.at, elements, optional };
  }

  #map(): Expr {
    const open = this.take();
    const entries: MapEntry[] = [];
    while (!this.is('}')) {
      const optional = this.accept('?') !== undefined;
      const key = this.#expr();
      const colon = this.expect(':');
      entries.push({ at: colon.at, key, value: this.#expr(), optional });
      if (this.accept(',') === undefined) break;
    }
    this.expect('}');
    return { kind: 'map', at: open.at, entries };
  }
}
