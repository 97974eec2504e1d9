// Gives every node of an expression its type, or says why there is none.
// Upstream: github.com/google/cel-go@v0.17.8:checker/checker.go, errors.go
import { assignAll, moreGeneral, type Substitutions, substitute } from './assignability.ts';
import { type CallExpr, type ComprehensionExpr, type Expr, qualifiedName, type SelectExpr } from './ast.ts';
import { type Overload, overloadsOf, TYPE_NAMES } from './declarations.ts';
import { literalIssues } from './literal-checks.ts';
import { CelIssues, type Issue } from './source.ts';
import {
  BOOL,
  type CelType,
  CONSTANT_TYPES,
  DYN,
  ERROR,
  formatType,
  listOf,
  mapOf,
  optionalOf,
  sameType,
  TYPE,
} from './types.ts';

/** Annotates `expr`. Throws {@link CelIssues}. */
export function check(source: string, expr: Expr, variables: ReadonlyMap<string, CelType>): void {
  const checker = new Checker(variables);
  checker.run(expr);
  const issues = checker.issues.length > 0 ? checker.issues : literalIssues(expr);
  if (issues.length > 0) throw new CelIssues(source, issues);
}

class Checker {
  readonly issues: Issue[] = [];
  #subs: Substitutions = new Map();
  #fresh = 0;
  readonly #scopes: Map<string, CelType>[];
  readonly #seen = new Set<Expr>();

  constructor(variables: ReadonlyMap<string, CelType>) {
    this.#scopes = [new Map(variables)];
  }

  run(expr: Expr): void {
    this.#check(expr);
    for (const seen of this.#seen) seen.type = substitute(this.#subs, seen.type ?? DYN, 'dyn');
  }

  #report(at: number, message: string): void {
    this.issues.push({ at, message });
  }

  #variable(): CelType {
    return { kind: 'param', name: `_var${this.#fresh++}` };
  }

  #assignable(to: CelType, from: CelType): boolean {
    const subs = assignAll(this.#subs, [to], [from]);
    if (subs !== undefined) this.#subs = subs;
    return subs !== undefined;
  }

  #show(type: CelType): string {
    return formatType(substitute(this.#subs, type, 'keep'));
  }

  #check(expr: Expr): CelType {
    const type = this.#typeOf(expr);
    expr.type = type;
    this.#seen.add(expr);
    return type;
  }

  #typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case 'folded':
        return DYN;
      case 'constant':
        return CONSTANT_TYPES[expr.constant.type]!;
      case 'ident': {
        const type = this.#lookup(expr.name.replace(/^\./, ''));
        if (type !== undefined) return type;
        this.#report(expr.at, `undeclared reference to '${expr.name}' (in container '')`);
        return ERROR;
      }
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return listOf(this.#join(expr.elements, expr.optional));
      case 'map': {
        const optional = new Set(expr.entries.flatMap((entry, at) => (entry.optional ? [at] : [])));
        const key = this.#join(expr.entries.map((entry) => entry.key));
        return mapOf(
          key,
          this.#join(
            expr.entries.map((entry) => entry.value),
            optional,
          ),
        );
      }
      case 'struct':
        this.#report(expr.at, `undeclared reference to '${expr.name}' (in container '')`);
        return ERROR;
      case 'comprehension':
        return this.#comprehension(expr);
    }
  }

  #lookup(name: string): CelType | undefined {
    for (let at = this.#scopes.length - 1; at >= 0; at--) {
      const type = this.#scopes[at]!.get(name);
      if (type !== undefined) return type;
    }
    return TYPE_NAMES.has(name) ? TYPE : undefined;
  }

  /** The type elements have in common; a free one for none. */
  #join(elements: readonly Expr[], optional?: ReadonlySet<number>): CelType {
    let joined: CelType | undefined;
    for (const [at, element] of elements.entries()) {
      let type = this.#check(element);
      if (optional?.has(at)) type = this.#unwrapOptional(element, type);
      if (joined === undefined) joined = type;
      else joined = this.#assignable(joined, type) ? moreGeneral(joined, type) : DYN;
    }
    return joined ?? this.#variable();
  }

  #unwrapOptional(element: Expr, type: CelType): CelType {
    if (type.kind === 'optional') return type.of;
    if (type.kind !== 'dyn' && type.kind !== 'error') {
      this.#report(element.at, `expected type '${formatType(optionalOf(type))}' but found '${this.#show(type)}'`);
    }
    return type;
  }

  #select(expr: SelectExpr): CelType {
    const name = qualifiedName(expr);
    if (name !== undefined && TYPE_NAMES.has(name)) return TYPE;
    const type = this.#field(expr.at, this.#check(expr.operand), expr.field);
    return expr.testOnly ? BOOL : type;
  }

  #field(at: number, operand: CelType, field: string): CelType {
    const target = substitute(this.#subs, operand, 'keep');
    switch (target.kind) {
      case 'error':
        return ERROR;
      case 'dyn':
        return DYN;
      case 'param':
        this.#assignable(target, DYN);
        return DYN;
      case 'map':
        return target.value;
      case 'optional':
        return optionalOf(this.#field(at, target.of, field));
      case 'object': {
        const decl = target.decl.fields?.get(field);
        if (decl !== undefined) return decl.type;
        this.#report(at, `undefined field '${field}'`);
        return ERROR;
      }
      default:
        this.#report(at, `type '${this.#show(target)}' does not support field selection`);
        return ERROR;
    }
  }

  #call(expr: CallExpr): CelType {
    const { target } = expr;
    if (expr.name === '_?._') return this.#optionalSelect(expr);
    if (target !== undefined) {
      // `optional.of(x)` is one name, not a call on a value.
      const prefix = qualifiedName(target);
      const full = prefix === undefined ? undefined : `${prefix}.${expr.name}`;
      if (full !== undefined && this.#lookup(prefix!.split('.')[0]!) === undefined && overloadsOf(full) !== undefined) {
        expr.name = full;
        expr.target = undefined;
        return this.#resolve(
          expr,
          expr.args.map((arg) => this.#check(arg)),
        );
      }
    }
    const args = expr.args.map((arg) => this.#check(arg));
    if (target === undefined) return this.#resolve(expr, args);
    return this.#resolve(expr, [this.#check(target), ...args]);
  }

  #optionalSelect(expr: CallExpr): CelType {
    const [operand, field] = expr.args;
    const type = this.#check(operand!);
    this.#check(field!);
    expr.overloads = ['select_optional_field'];
    const name = field?.kind === 'constant' && field.constant.type === 'string' ? field.constant.value : '';
    const found = this.#field(expr.at, type, name);
    return found.kind === 'optional' ? found : optionalOf(found);
  }

  #resolve(expr: CallExpr, args: readonly CelType[]): CelType {
    const declared = overloadsOf(expr.name);
    if (declared === undefined) {
      this.#report(expr.at, `undeclared reference to '${expr.name}' (in container '')`);
      return ERROR;
    }
    if (expr.name === '_&&_' || expr.name === '_||_') return this.#logical(expr, args);
    const member = expr.target !== undefined;
    let result: CelType | undefined;
    const fitting: string[] = [];
    for (const overload of declared) {
      if (overload.member !== member) continue;
      const fresh = this.#instance(overload);
      const subs = assignAll(this.#subs, args, fresh.args);
      if (subs === undefined) continue;
      this.#subs = subs;
      fitting.push(overload.id);
      const type = substitute(subs, fresh.result, 'keep');
      if (result === undefined) result = type;
      else if (!sameType(result, type)) result = DYN;
    }
    if (result !== undefined) {
      expr.overloads = fitting;
      return result;
    }
    const shown = args.map((arg) => formatType(substitute(this.#subs, arg, 'dyn')));
    const signature = member ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`;
    this.#report(expr.at, `found no matching overload for '${expr.name}' applied to '${signature}'`);
    return ERROR;
  }

  #logical(expr: CallExpr, args: readonly CelType[]): CelType {
    expr.overloads = [expr.name === '_&&_' ? 'logical_and' : 'logical_or'];
    const wrong = args.flatMap((type, at) => (this.#assignable(type, BOOL) ? [] : [{ type, at }]));
    for (const { type, at } of wrong) {
      this.#report(expr.args[at]!.at, `expected type 'bool' but found '${this.#show(type)}'`);
    }
    return wrong.length === 0 ? BOOL : ERROR;
  }

  /** The overload with type parameters of its own. */
  #instance(overload: Overload): { readonly args: readonly CelType[]; readonly result: CelType } {
    const [a, b] = [this.#variable(), this.#variable()];
    const subs = new Map([
      ['A', a],
      ['B', b],
    ]);
    return {
      args: overload.args.map((arg) => substitute(subs, arg, 'keep')),
      result: substitute(subs, overload.result, 'keep'),
    };
  }

  #comprehension(expr: ComprehensionExpr): CelType {
    const range = substitute(this.#subs, this.#check(expr.range), 'keep');
    const accumulator = this.#check(expr.init);
    let variable: CelType = ERROR;
    if (range.kind === 'list') variable = range.element;
    else if (range.kind === 'map') variable = range.key;
    else if (range.kind === 'dyn' || range.kind === 'error') variable = DYN;
    else if (range.kind === 'param') {
      this.#assignable(range, DYN);
      variable = DYN;
    } else {
      const shown = this.#show(range);
      this.#report(
        expr.range.at,
        `expression of type '${shown}' cannot be range of a comprehension (must be list, map, or dynamic)`,
      );
    }
    this.#scopes.push(new Map([[expr.accumulator, accumulator]]));
    this.#scopes.push(new Map([[expr.variable, variable]]));
    this.#check(expr.condition);
    this.#expect(expr.condition, BOOL);
    this.#check(expr.step);
    this.#expect(expr.step, accumulator);
    this.#scopes.pop();
    const result = this.#check(expr.result);
    this.#scopes.pop();
    return result;
  }

  #expect(expr: Expr, type: CelType): void {
    const found = expr.type ?? ERROR;
    if (this.#assignable(type, found)) return;
    this.#report(expr.at, `expected type '${this.#show(type)}' but found '${this.#show(found)}'`);
  }
}
