// Which names of a CRD are accepted, given those its group has already.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/controller/status/naming_controller.go
import { goQuote } from '@kube-rx/apimachinery';
import type { Crd, CrdCondition, CrdNames } from './crd.ts';
import { jsonEqual } from './schema/json.ts';

export interface NamesInUse {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

/** The names that CRDs of a group have been given, this one's own included. */
export function namesInUse(crds: Iterable<Crd>, group: string): NamesInUse {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { group: itsGroup, acceptedNames: names } of crds) {
    if (itsGroup !== group) continue;
    for (const name of [names.plural, names.singular, ...names.shortNames]) resources.add(name);
    for (const name of [names.kind, names.listKind]) kinds.add(name);
  }
  return { resources, kinds };
}

export interface NamesDecision {
  readonly acceptedNames: CrdNames;
  readonly namesAccepted: CrdCondition;
  readonly established: CrdCondition;
}

const conflict = (requested: string, accepted: string, used: ReadonlySet<string>): string | undefined =>
  requested === accepted || !used.has(requested) ? undefined : `${goQuote(requested)} is already in use`;

/** Each name by itself; the last conflict found is the one that is told. */
export function decideNames(crd: Crd, used: NamesInUse): NamesDecision {
  const { names: requested, acceptedNames: accepted } = crd;
  let reason = '';
  let message = '';
  const decide = (
    name: 'plural' | 'singular' | 'kind' | 'listKind',
    taken: ReadonlySet<string>,
    label: string,
  ): string => {
    const problem = conflict(requested[name], accepted[name], taken);
    if (problem === undefined) return requested[name];
    reason = `${label}Conflict`;
    message = problem;
    return accepted[name];
  };
  const plural = decide('plural', used.resources, 'Plural');
  const singular = decide('singular', used.resources, 'Singular');
  let shortNames = accepted.shortNames;
  if (!jsonEqual(requested.shortNames, accepted.shortNames)) {
    const problems = requested.shortNames
      .filter((name) => !accepted.shortNames.includes(name))
      .flatMap((name) => conflict(name, '', used.resources) ?? []);
    if (problems.length === 0) shortNames = requested.shortNames;
    else {
      reason = 'ShortNamesConflict';
      message = problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`;
    }
  }
  const kind = decide('kind', used.kinds, 'Kind');
  const listKind = decide('listKind', used.kinds, 'ListKind');
  const acceptedAll = reason === '';
  return {
    acceptedNames: { plural, singular, kind, listKind, shortNames, categories: requested.categories },
    namesAccepted: acceptedAll
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', reason, message },
    established: establishedAfter(crd, acceptedAll),
  };
}

/** Names alone never establish a CRD; that is a step of its own, once the names have been seen. */
function establishedAfter(crd: Crd, acceptedAll: boolean): CrdCondition {
  const old = crd.conditions.find((condition) => condition.type === 'Established');
  if (acceptedAll && old?.status !== 'True') {
    return {
      type: 'Established',
      status: 'False',
      reason: 'Installing',
      message: 'the initial names have been accepted',
    };
  }
  return old ?? { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
}

/** The names as they stand in a status: empty ones are left out, but `plural` and `kind` always show. */
export function namesJson(names: CrdNames): Readonly<Record<string, unknown>> {
  return {
    plural: names.plural,
    ...(names.singular === '' ? {} : { singular: names.singular }),
    ...(names.shortNames.length === 0 ? {} : { shortNames: names.shortNames }),
    kind: names.kind,
    ...(names.listKind === '' ? {} : { listKind: names.listKind }),
    ...(names.categories.length === 0 ? {} : { categories: names.categories }),
  };
}
