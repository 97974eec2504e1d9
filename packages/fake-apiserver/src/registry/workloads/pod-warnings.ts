// What is likely a mistake in a pod, of its own or in a template: told, not refused.
// Upstream: kubernetes@v1.30.3:pkg/api/pod/warnings.go, pkg/api/node/util.go, pkg/api/job/warnings.go
import { goQuote, isDNS1123Label } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, entries, get, has, num, str } from '../draft.ts';
import type { Strategy } from '../strategy.ts';
import { type FieldPath, path } from '../validation/field-errors.ts';
import { metadata } from '../validation/object-meta.ts';
import { quantities } from '../validation/values.ts';
import { visitContainers } from '../validation/windows-pod.ts';

const instead = (since: string, label: string): string => `deprecated since ${since}; use "${label}" instead`;
const NODE_LABELS: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', instead('v1.14', 'kubernetes.io/arch')],
  ['beta.kubernetes.io/os', instead('v1.14', 'kubernetes.io/os')],
  ['failure-domain.beta.kubernetes.io/region', instead('v1.17', 'topology.kubernetes.io/region')],
  ['failure-domain.beta.kubernetes.io/zone', instead('v1.17', 'topology.kubernetes.io/zone')],
  ['beta.kubernetes.io/instance-type', instead('v1.17', 'node.kubernetes.io/instance-type')],
]);
const SYSCTLS = 'non-functional in v1.11+; use the "sysctls" field instead';
const ANNOTATIONS = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', SYSCTLS],
  ['security.alpha.kubernetes.io/unsafe-sysctls', SYSCTLS],
] as const;
const VOLUMES = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
] as const;
const SECCOMP_FIELD = 'non-functional in v1.27+; use the "seccompProfile" field instead';
const NO_POD = 'a null labelSelector results in matching no pod';

class Warnings {
  readonly all: string[] = [];
  add(at: FieldPath, text: string): void {
    this.all.push(`${at.text}: ${text}`);
  }
}

function nodeTerm(term: Draft | undefined, at: FieldPath, out: Warnings): void {
  dicts(term, 'matchExpressions').forEach((expression, index) => {
    const label = str(expression, 'key');
    const text = NODE_LABELS.get(label);
    if (text !== undefined) out.add(at.child('matchExpressions').index(index).child('key'), `${label} is ${text}`);
  });
}

function nodeLabels(spec: Draft, at: FieldPath, out: Warnings): void {
  for (const [label] of entries(spec, 'nodeSelector')) {
    const text = NODE_LABELS.get(label);
    if (text !== undefined) out.add(at.child('nodeSelector').key(label), text);
  }
  const affinity = dict(spec, 'affinity', 'nodeAffinity');
  const here = at.child('affinity', 'nodeAffinity');
  const [must, may] = [
    'requiredDuringSchedulingIgnoredDuringExecution',
    'preferredDuringSchedulingIgnoredDuringExecution',
  ];
  dicts(dict(affinity, must!), 'nodeSelectorTerms').forEach((term, index) => {
    nodeTerm(term, here.child(must!, 'nodeSelectorTerms').index(index), out);
  });
  dicts(affinity, may!).forEach((term, index) => {
    nodeTerm(dict(term, 'preference'), here.child(may!).index(index).child('preference'), out);
  });
  dicts(spec, 'topologySpreadConstraints').forEach((constraint, index) => {
    const there = at.child('topologySpreadConstraints').index(index);
    const label = str(constraint, 'topologyKey');
    const text = NODE_LABELS.get(label);
    if (text !== undefined) out.add(there.child('topologyKey'), `${label} is ${text}`);
    if (!has(constraint, 'labelSelector')) out.add(there.child('labelSelector'), NO_POD);
  });
}

function fractional(
  parent: Draft | undefined,
  field: string,
  names: readonly string[],
  at: FieldPath,
  out: Warnings,
): void {
  for (const wanted of names) {
    for (const [name, value] of quantities(parent, field)) {
      if (name === wanted && value.value(-3) % 1000n !== 0n)
        out.add(at.key(name), `fractional byte value ${goQuote(value.toString())} is invalid, must be an integer`);
    }
  }
}

function volumes(spec: Draft, at: FieldPath, out: Warnings): void {
  dicts(spec, 'volumes').forEach((volume, index) => {
    const here = at.child('volumes').index(index);
    for (const [type, text] of VOLUMES.slice(0, 7)) if (has(volume, type)) out.add(here.child(pathOf(type)), text);
    const claim = dict(volume, 'ephemeral', 'volumeClaimTemplate', 'spec', 'resources');
    const there = here.child('ephemeral', 'volumeClaimTemplate', 'spec', 'resources');
    for (const field of ['requests', 'limits']) fractional(claim, field, ['storage'], there.child(field), out);
    for (const [type, text] of VOLUMES.slice(7)) if (has(volume, type)) out.add(here.child(type), text);
  });
}

const pathOf = (type: string): string => (type === 'storageos' ? 'storageOS' : type);

function repeated(spec: Draft, field: string, name: string, at: FieldPath, out: Warnings): void {
  const seen = new Set<string>();
  dicts(spec, field).forEach((item, index) => {
    const value = str(item, name);
    if (seen.has(value)) out.add(at.child(field).index(index).child(name), `duplicate ${name} ${goQuote(value)}`);
    seen.add(value);
  });
}

function environment(container: Draft, at: FieldPath, out: Warnings): void {
  const seen = new Set<string>();
  dicts(container, 'env').forEach((variable, index) => {
    const [name, value] = [str(variable, 'name'), str(variable, 'value')];
    // A value that builds on the earlier one is meant so.
    const builds = !has(variable, 'valueFrom') && value !== `$(${name})` && value.includes(`$(${name})`);
    if (seen.has(name) && !builds) {
      const text = `hides previous definition of ${goQuote(name)}, which may be dropped when using apply`;
      out.add(at.child('env').index(index), text);
    }
    seen.add(name);
  });
}

function containers(spec: Draft, meta: Draft, at: FieldPath, isTemplate: boolean, out: Warnings): void {
  const annotations = dict(meta, 'annotations');
  const here = at.child('metadata', 'annotations');
  const podProfile = has(dict(spec, 'securityContext'), 'appArmorProfile');
  visitContainers(spec, at.child('spec'), (container, there) => {
    const context = dict(container, 'securityContext');
    const seccomp = `container.seccomp.security.alpha.kubernetes.io/${str(container, 'name')}`;
    if (!has(context, 'seccompProfile') && has(annotations, seccomp)) out.add(here.key(seccomp), SECCOMP_FIELD);
    const armor = `container.apparmor.security.beta.kubernetes.io/${str(container, 'name')}`;
    if (isTemplate && !podProfile && !has(context, 'appArmorProfile') && has(annotations, armor))
      out.add(here.key(armor), 'deprecated since v1.30; use the "appArmorProfile" field instead');
    const resources = dict(container, 'resources');
    for (const name of ['memory', 'ephemeral-storage'])
      for (const field of ['limits', 'requests'])
        fractional(resources, field, [name], there.child('resources', field), out);
    environment(container, there, out);
  });
}

interface Port {
  readonly at: FieldPath;
  readonly port: Draft;
}

function ports(spec: Draft, at: FieldPath, out: Warnings): void {
  const all = new Map<string, Port[]>();
  visitContainers(spec, at, (container, there) => {
    dicts(container, 'ports').forEach((port, index) => {
      const here = there.child('ports').index(index);
      const [ip, host] = [str(port, 'hostIP'), num(port, 'hostPort') ?? 0];
      const [number, protocol] = [num(port, 'containerPort') ?? 0, str(port, 'protocol')];
      if (ip !== '' && host === 0) {
        const shown = `{Name:${str(port, 'name')} HostPort:0 ContainerPort:${number} Protocol:${protocol} HostIP:${ip}}`;
        out.add(here, `hostIP set without hostPort: ${shown}`);
      }
      const key = `${number}/${protocol}`;
      const others = all.get(key) ?? [];
      for (const other of others) {
        const [otherIp, otherHost] = [str(other.port, 'hostIP'), num(other.port, 'hostPort') ?? 0];
        const kind =
          ip === otherIp && host === otherHost
            ? 'duplicate'
            : host === 0 || otherHost === 0
              ? 'overlapping'
              : host === otherHost && (ip === '') !== (otherIp === '')
                ? 'dangerously ambiguous'
                : undefined;
        if (kind !== undefined) out.add(here, `${kind} port definition with ${other.at.text}`);
      }
      all.set(key, [...others, { at: here, port }]);
    });
  });
}

function podAffinity(spec: Draft, at: FieldPath, out: Warnings): void {
  for (const field of ['podAffinity', 'podAntiAffinity']) {
    const affinity = dict(spec, 'affinity', field);
    const here = at.child('affinity', field);
    const [must, may] = [
      'requiredDuringSchedulingIgnoredDuringExecution',
      'preferredDuringSchedulingIgnoredDuringExecution',
    ];
    dicts(affinity, must!).forEach((term, index) => {
      if (!has(term, 'labelSelector')) out.add(here.child(must!).index(index).child('labelSelector'), NO_POD);
    });
    dicts(affinity, may!).forEach((term, index) => {
      const there = here.child(may!).index(index).child('podAffinityTerm', 'labelSelector');
      if (!has(dict(term, 'podAffinityTerm'), 'labelSelector')) out.add(there, NO_POD);
    });
  }
}

/** Warnings of a pod or, below `at`, of a template. */
export function podWarnings(pod: Draft | undefined, at: FieldPath, isTemplate: boolean): readonly string[] {
  const out = new Warnings();
  const spec = dict(pod, 'spec') ?? {};
  const meta = dict(pod, 'metadata') ?? {};
  const annotations = dict(meta, 'annotations');
  const here = at.child('spec');
  nodeLabels(spec, here, out);
  for (const [name, text] of ANNOTATIONS)
    if (has(annotations, name)) out.add(at.child('metadata', 'annotations').key(name), text);
  volumes(spec, here, out);
  repeated(spec, 'hostAliases', 'ip', here, out);
  repeated(spec, 'imagePullSecrets', 'name', here, out);
  dicts(spec, 'imagePullSecrets').forEach((secret, index) => {
    if (str(secret, 'name') === '')
      out.add(here.child('imagePullSecrets').index(index).child('name'), 'invalid empty name ""');
  });
  fractional(spec, 'overhead', ['memory', 'ephemeral-storage'], here.child('overhead'), out);
  const seccomp = 'seccomp.security.alpha.kubernetes.io/pod';
  if (!has(dict(spec, 'securityContext'), 'seccompProfile') && has(annotations, seccomp))
    out.add(at.child('metadata', 'annotations').key(seccomp), SECCOMP_FIELD);
  containers(spec, meta, at, isTemplate, out);
  ports(spec, here, out);
  const grace = num(spec, 'terminationGracePeriodSeconds');
  if (grace !== undefined && grace < 0) {
    const text = 'must be >= 0; negative values are invalid and will be treated as 1';
    out.add(here.child('terminationGracePeriodSeconds'), text);
  }
  podAffinity(spec, here, out);
  return out.all;
}

/** A name that is no DNS label makes poor names of pods. */
function nameWarnings(object: Draft): readonly string[] {
  const wrong = isDNS1123Label(str(metadata(object), 'name'));
  if (wrong.length === 0) return [];
  return [
    `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${wrong.join(' ')}]`,
  ];
}

const TRACKED_COMPLETIONS = 100_000;
const TRACKED_PARALLELISM = 10_000;

function jobWarnings(spec: Draft | undefined, at: FieldPath): readonly string[] {
  const [completions, parallelism] = [num(spec, 'completions') ?? 0, num(spec, 'parallelism') ?? 0];
  if (str(spec, 'completionMode') !== 'Indexed') return [];
  if (completions <= TRACKED_COMPLETIONS || parallelism <= TRACKED_PARALLELISM) return [];
  return [
    `${at.text}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes for a big number of indexes`,
  ];
}

export interface TemplateWarningsOptions {
  /** Where the template is, `['spec', 'template']` by default. */
  readonly at?: readonly string[];
  /** Whether the object's own name matters to its pods. */
  readonly name?: boolean;
  /** Whether the template is that of a job. */
  readonly job?: boolean;
}

/** The warnings of a kind with a pod template: when it is created, and with every new generation. */
export function templateWarnings(
  options: TemplateWarningsOptions = {},
): Pick<Strategy, 'warningsOnCreate' | 'warningsOnUpdate'> {
  const steps = options.at ?? ['spec', 'template'];
  const above = steps.slice(0, -1);
  const ofTemplate = (object: Draft): readonly string[] => [
    ...(options.job === true ? jobWarnings(dict(object, ...above), path(...above)) : []),
    ...podWarnings(dict(object, ...steps), path(...steps), true),
  ];
  return {
    warningsOnCreate: (object) => [...(options.name === true ? nameWarnings(object) : []), ...ofTemplate(object)],
    warningsOnUpdate: (object, old) =>
      get(metadata(object), 'generation') === get(metadata(old), 'generation') ? [] : ofTemplate(object),
  };
}
