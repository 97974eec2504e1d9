// Worst-case costs of the functions that Kubernetes adds.
// Upstream: apiserver@v0.30.3:pkg/cel/library/cost.go#EstimateCallCost

import { type Estimate, fixed, MAX_UINT64, plus, scale, times, UNKNOWN } from './cost-estimate.ts';
import type { CallEstimate, CostNode, DeclaredSizes } from './cost-node.ts';
import { REGEX_LENGTH, STRING_TRAVERSAL } from './runtime-cost.ts';

/** The elements of a list, as far as the schema knows them. */
function elementsOf(list: CostNode): CostNode | undefined {
  if (list.type?.kind !== 'list') return undefined;
  const path = list.path === undefined ? undefined : [...list.path, '@items'];
  return { expr: undefined, type: list.type.element, path, size: undefined };
}

function replaced(text: Estimate, from: Estimate, to: Estimate): Estimate {
  // An empty text is found before every character and at the end.
  const most =
    from.min === 0
      ? { count: Math.min(text.max + 1, MAX_UINT64), kept: text.max }
      : to.max <= from.min
        ? { count: 0, kept: text.max }
        : { count: Math.ceil(text.max / from.min), kept: 0 };
  const least =
    from.max === 0
      ? { count: text.min + 1, kept: text.min }
      : from.max <= to.min
        ? { count: 0, kept: text.min }
        : { count: Math.ceil(text.min / from.max), kept: 0 };
  return plus(times({ min: least.count, max: most.count }, to), { min: least.kept, max: most.kept });
}

/** Undefined for a function that is not of these libraries. */
export function libraryCallCost(
  coster: DeclaredSizes,
  name: string,
  target: CostNode | undefined,
  args: readonly CostNode[],
): CallEstimate | undefined {
  // These libraries do not take a size from the type alone.
  const size = (node: CostNode): Estimate => node.size ?? coster.declared(node.path) ?? UNKNOWN;
  switch (name) {
    case 'isSorted':
    case 'sum':
    case 'max':
    case 'min':
    case 'indexOf':
    case 'lastIndexOf': {
      if (target === undefined) return undefined;
      const element = elementsOf(target);
      if (element === undefined) return { cost: scale(size(target), STRING_TRAVERSAL) };
      const kind = element.type?.kind;
      const long = kind === 'string' || kind === 'bytes';
      const each = long ? plus(fixed(1), scale(size(element), STRING_TRAVERSAL)) : fixed(1);
      return { cost: times(size(target), each) };
    }
    case 'url':
    case 'quantity':
    case 'isQuantity':
      return args.length === 1 ? { cost: scale(size(args[0]!), STRING_TRAVERSAL) } : undefined;
    case 'sets.contains':
    case 'sets.intersects':
      return { cost: plus(times(size(args[0]!), size(args[1]!)), fixed(1)) };
    case 'sets.equivalent':
      return { cost: plus(scale(times(size(args[0]!), size(args[1]!)), 2), fixed(1)) };
    case 'lowerAscii':
    case 'upperAscii':
    case 'substring':
    case 'trim': {
      if (target === undefined) return undefined;
      const of = size(target);
      return { cost: scale(of, STRING_TRAVERSAL), resultSize: of };
    }
    case 'replace': {
      if (target === undefined || args.length < 2) return undefined;
      const of = size(target);
      return { cost: scale(of, 2 * STRING_TRAVERSAL), resultSize: replaced(of, size(args[0]!), size(args[1]!)) };
    }
    case 'split': {
      if (target === undefined) return undefined;
      const of = size(target);
      const limit = args[1]?.expr;
      const bounded =
        limit?.kind === 'constant' && limit.constant.type === 'int' ? Number(limit.constant.value) : of.max;
      return { cost: scale(of, 2 * STRING_TRAVERSAL), resultSize: { min: 0, max: bounded < 0 ? MAX_UINT64 : bounded } };
    }
    case 'join': {
      if (target === undefined) return undefined;
      const list = size(target);
      const element = elementsOf(target);
      let total = element === undefined ? fixed(0) : times(list, size(element));
      if (args.length > 0) {
        const separators = { min: Math.max(0, list.min - 1), max: Math.max(0, list.max - 1) };
        total = plus(total, times(size(args[0]!), separators));
      }
      return { cost: scale(total, STRING_TRAVERSAL), resultSize: total };
    }
    case 'find':
    case 'findAll': {
      if (target === undefined || args.length === 0) return undefined;
      const of = size(target);
      const text = scale(plus(of, fixed(1)), STRING_TRAVERSAL);
      return { cost: times(text, scale(size(args[0]!), REGEX_LENGTH)), resultSize: { min: 0, max: of.max } };
    }
    case 'sign':
    case 'asInteger':
    case 'isInteger':
    case 'asApproximateFloat':
    case 'isGreaterThan':
    case 'isLessThan':
    case 'compareTo':
    case 'add':
    case 'sub':
      return { cost: fixed(1) };
    default:
      return undefined;
  }
}
