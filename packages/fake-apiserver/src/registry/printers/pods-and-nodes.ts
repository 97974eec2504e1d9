// Pods and nodes.
// Upstream: kubernetes@v1.30.3:pkg/printers/internalversion/printers.go#printPod, printNode
import { bool, type Draft, dict, dicts, entries, has, num, str } from '../draft.ts';
import type { TableRowCondition } from '../rest.ts';
import { metadata } from '../validation/object-meta.ts';
import { NONE, UNKNOWN } from './cells.ts';
import { age, ageOf, name, type PrintCells } from './printer.ts';

const isSidecar = (container: Draft | undefined): boolean => str(container, 'restartPolicy') === 'Always';

const conditionIs = (pod: Draft, type: string): boolean =>
  dicts(dict(pod, 'status'), 'conditions').some(
    (condition) => str(condition, 'type') === type && str(condition, 'status') === 'True',
  );

/** What is counted over the containers of a pod. */
interface Tally {
  reason: string;
  ready: number;
  restarts: number;
  /** Time of the latest restart, '' for none. */
  lastRestart: string;
}

function noteRestart(tally: Tally, status: Draft): void {
  const finished = str(dict(status, 'lastState', 'terminated'), 'finishedAt');
  if (finished > tally.lastRestart) tally.lastRestart = finished;
}

function exitReason(terminated: Draft): string {
  const reason = str(terminated, 'reason');
  if (reason !== '') return reason;
  const signal = num(terminated, 'signal') ?? 0;
  return signal === 0 ? `ExitCode:${num(terminated, 'exitCode') ?? 0}` : `Signal:${signal}`;
}

/** True while an init container is still to finish; its reason is then that of the pod. */
function tallyInit(pod: Draft, tally: Tally, sidecars: Tally): boolean {
  const specs = dicts(dict(pod, 'spec'), 'initContainers');
  const statuses = dicts(dict(pod, 'status'), 'initContainerStatuses');
  for (const [index, status] of statuses.entries()) {
    const spec = specs.find((one) => str(one, 'name') === str(status, 'name'));
    tally.restarts += num(status, 'restartCount') ?? 0;
    noteRestart(tally, status);
    if (isSidecar(spec)) {
      sidecars.restarts += num(status, 'restartCount') ?? 0;
      noteRestart(sidecars, status);
    }
    const terminated = dict(status, 'state', 'terminated');
    if (terminated !== undefined && (num(terminated, 'exitCode') ?? 0) === 0) continue;
    if (isSidecar(spec) && bool(status, 'started')) {
      if (bool(status, 'ready')) tally.ready += 1;
      continue;
    }
    const waiting = str(dict(status, 'state', 'waiting'), 'reason');
    if (terminated !== undefined) tally.reason = `Init:${exitReason(terminated)}`;
    else if (waiting !== '' && waiting !== 'PodInitializing') tally.reason = `Init:${waiting}`;
    else tally.reason = `Init:${index}/${specs.length}`;
    return true;
  }
  return false;
}

function tallyContainers(pod: Draft, tally: Tally): void {
  let running = false;
  for (const status of [...dicts(dict(pod, 'status'), 'containerStatuses')].reverse()) {
    tally.restarts += num(status, 'restartCount') ?? 0;
    noteRestart(tally, status);
    const waiting = str(dict(status, 'state', 'waiting'), 'reason');
    const terminated = dict(status, 'state', 'terminated');
    if (waiting !== '') tally.reason = waiting;
    else if (terminated !== undefined) tally.reason = exitReason(terminated);
    else if (bool(status, 'ready') && has(dict(status, 'state'), 'running')) {
      running = true;
      tally.ready += 1;
    }
  }
  if (tally.reason === 'Completed' && running) tally.reason = conditionIs(pod, 'Ready') ? 'Running' : 'NotReady';
}

function readinessGates(pod: Draft): string {
  const gates = dicts(dict(pod, 'spec'), 'readinessGates');
  if (gates.length === 0) return NONE;
  const open = gates.filter((gate) => conditionIs(pod, str(gate, 'conditionType'))).length;
  return `${open}/${gates.length}`;
}

const pod: PrintCells = (object, now) => {
  const spec = dict(object, 'spec');
  const status = dict(object, 'status');
  const tally: Tally = { reason: str(status, 'phase'), ready: 0, restarts: 0, lastRestart: '' };
  if (str(status, 'reason') !== '') tally.reason = str(status, 'reason');
  const gated = dicts(status, 'conditions').some(
    (one) => str(one, 'type') === 'PodScheduled' && str(one, 'reason') === 'SchedulingGated',
  );
  if (gated) tally.reason = 'SchedulingGated';
  const sidecars: Tally = { reason: '', ready: 0, restarts: 0, lastRestart: '' };
  const initializing = tallyInit(object, tally, sidecars);
  if (!initializing || conditionIs(object, 'Initialized')) {
    tally.restarts = sidecars.restarts;
    tally.lastRestart = sidecars.lastRestart;
    tallyContainers(object, tally);
  }
  if (has(metadata(object), 'deletionTimestamp'))
    tally.reason = str(status, 'reason') === 'NodeLost' ? 'Unknown' : 'Terminating';
  const total = dicts(spec, 'containers').length + dicts(spec, 'initContainers').filter(isSidecar).length;
  const ago = tally.restarts !== 0 && tally.lastRestart !== '' ? ` (${ageOf(tally.lastRestart, now)} ago)` : '';
  return [
    name(object),
    `${tally.ready}/${total}`,
    tally.reason,
    `${tally.restarts}${ago}`,
    age(object, now),
    str(dicts(status, 'podIPs')[0], 'ip') || NONE,
    str(spec, 'nodeName') || NONE,
    str(status, 'nominatedNodeName') || NONE,
    readinessGates(object),
  ];
};

const ROLE_PREFIX = 'node-role.kubernetes.io/';

function roles(object: Draft): string {
  const found = new Set<string>();
  for (const [key, value] of entries(metadata(object), 'labels')) {
    if (key.startsWith(ROLE_PREFIX) && key.length > ROLE_PREFIX.length) found.add(key.slice(ROLE_PREFIX.length));
    else if (key === 'kubernetes.io/role' && value !== '') found.add(value);
  }
  return [...found].sort().join(',') || NONE;
}

const node: PrintCells = (object, now) => {
  const status = dict(object, 'status');
  const info = dict(status, 'nodeInfo');
  const ready = [...dicts(status, 'conditions')].reverse().find((condition) => str(condition, 'type') === 'Ready');
  const states = [ready === undefined ? 'Unknown' : str(ready, 'status') === 'True' ? 'Ready' : 'NotReady'];
  if (bool(dict(object, 'spec'), 'unschedulable')) states.push('SchedulingDisabled');
  const address = (type: string): string =>
    str(
      dicts(status, 'addresses').find((one) => str(one, 'type') === type),
      'address',
    ) || NONE;
  return [
    name(object),
    states.join(','),
    roles(object),
    age(object, now),
    str(info, 'kubeletVersion'),
    address('InternalIP'),
    address('ExternalIP'),
    str(info, 'osImage') || UNKNOWN,
    str(info, 'kernelVersion') || UNKNOWN,
    str(info, 'containerRuntimeVersion') || UNKNOWN,
  ];
};

export const podAndNodePrinters: Readonly<Record<string, PrintCells>> = { '/pods': pod, '/nodes': node };

const ENDED: Readonly<Record<string, string>> = {
  Succeeded: 'The pod has completed successfully.',
  Failed: 'The pod failed.',
};

/** A pod that has run its course says so; tools hide such rows. */
export function podConditions(object: Draft): readonly TableRowCondition[] {
  const phase = str(dict(object, 'status'), 'phase');
  const message = Object.hasOwn(ENDED, phase) ? ENDED[phase] : undefined;
  return message === undefined ? [] : [{ type: 'Completed', status: 'True', reason: phase, message }];
}
