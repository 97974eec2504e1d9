// Whether one type may stand where another is wanted, and what that says about type parameters.
// Upstream: github.com/google/cel-go@v0.17.8:checker/types.go, mapping.go
import { type CelType, DYN, isDynOrError, mapParts, partsOf, sameType } from './types.ts';

/** What type parameters stand for, by name. */
export type Substitutions = ReadonlyMap<string, CelType>;

/** The types without parameters; a parameter that stands for nothing stays, or is dyn when `free` says so. */
export function substitute(subs: Substitutions, type: CelType, free: 'keep' | 'dyn'): CelType {
  if (type.kind === 'param') {
    const known = subs.get(type.name);
    if (known !== undefined) return substitute(subs, known, free);
    return free === 'dyn' ? DYN : type;
  }
  return mapParts(type, (part) => substitute(subs, part, free));
}

/** The substitutions under which `from` fits `to`, undefined when none makes it fit. */
export function assignAll(
  subs: Substitutions,
  to: readonly CelType[],
  from: readonly CelType[],
): Substitutions | undefined {
  if (to.length !== from.length) return undefined;
  const unifier = new Unifier(subs);
  return to.every((type, at) => unifier.fits(type, from[at]!)) ? unifier.subs : undefined;
}

class Unifier {
  readonly subs: Map<string, CelType>;

  constructor(subs: Substitutions) {
    this.subs = new Map(subs);
  }

  fits(a: CelType, b: CelType): boolean {
    if (b.kind === 'param') {
      const { valid, known } = this.#bind(a, b);
      if (valid) return true;
      if (known) return false;
    }
    if (a.kind === 'param') return this.#bind(b, a).valid;
    if (isDynOrError(a) || isDynOrError(b)) return true;
    if (a.kind === 'null') return isNullable(b);
    if (b.kind === 'null') return isNullable(a);
    if (a.kind !== b.kind) return false;
    if ('name' in a && 'name' in b && a.name !== b.name) return false;
    const [left, right] = [partsOf(a), partsOf(b)];
    return left.every((part, at) => this.fits(part, right[at]!));
  }

  #bind(type: CelType, param: CelType & { readonly kind: 'param' }): { valid: boolean; known: boolean } {
    if (type.kind === 'param' && type.name === param.name) return { valid: true, known: true };
    const known = this.subs.get(param.name);
    if (known !== undefined) {
      if (!this.fits(type, known)) return { valid: false, known: true };
      const general = moreGeneral(type, known);
      if (!this.#mentions(general, param.name)) this.subs.set(param.name, general);
      return { valid: true, known: true };
    }
    if (this.#mentions(type, param.name)) return { valid: false, known: false };
    this.subs.set(param.name, type);
    return { valid: true, known: false };
  }

  #mentions(type: CelType, param: string): boolean {
    if (type.kind === 'param') {
      if (type.name === param) return true;
      const known = this.subs.get(type.name);
      return known !== undefined && this.#mentions(known, param);
    }
    return partsOf(type).some((part) => this.#mentions(part, param));
  }
}

const isNullable = (type: CelType): boolean =>
  ['null', 'object', 'duration', 'timestamp', 'opaque', 'optional'].includes(type.kind);

/** Of two types that fit each other the one that says less. */
export function moreGeneral(a: CelType, b: CelType): CelType {
  return isEqualOrLessSpecific(a, b) ? a : b;
}

function isEqualOrLessSpecific(a: CelType, b: CelType): boolean {
  if (isDynOrError(a) || a.kind === 'param') return true;
  if (isDynOrError(b) || b.kind === 'param') return false;
  if (a.kind !== b.kind) return false;
  const [left, right] = [partsOf(a), partsOf(b)];
  if (left.length > 0) return left.every((part, at) => isEqualOrLessSpecific(part, right[at]!));
  return sameType(a, b);
}
