// Events as lines, for people or for programs.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { Fault } from '../reflector/informer-status.ts';
import type { StoreEvent } from '../shared-informer/store-event.ts';
import { metaNamespaceKeyFunc } from '../store/key-func.ts';
import { explainFault } from './explain.ts';
import { diffFields, formatChange } from './field-diff.ts';

export interface Output {
  event(resource: string, event: StoreEvent<KubernetesObject>): void;
  fault(resource: string, fault: Fault): void;
  /** What the informer does; only with --explain. */
  status(resource: string, text: string): void;
}

export interface OutputOptions {
  readonly write: (line: string) => void;
  readonly writeError: (line: string) => void;
  readonly now: () => number;
  readonly diff: boolean;
  readonly showInitial: boolean;
}

const SIGNS = { added: '+', updated: '~', deleted: '-' } as const;
const MAX_CHANGES = 20;

/** Text: a sign, the resource, the key and the version; below it what changed. Faults go to the error stream. */
export function textOutput({ write, writeError, now, diff, showInitial }: OutputOptions): Output {
  const time = (): string => new Date(now()).toISOString().slice(11, 23);
  return {
    event(resource, event) {
      if (event.type === 'synced') {
        const again = event.first ? '' : ' again';
        write(`${time()}   ${resource} complete${again}: ${event.size} objects at version ${event.resourceVersion}`);
        return;
      }
      if (event.type === 'added' && event.initial && !showInitial) return;
      const { metadata } = event.object;
      const note =
        event.type === 'deleted' && event.finalState === 'unknown'
          ? ' (seen by its absence)'
          : event.type === 'updated' && event.recreated
            ? ' (deleted and created anew)'
            : '';
      const name = metaNamespaceKeyFunc(event.object);
      write(`${time()} ${SIGNS[event.type]} ${resource} ${name} @${metadata.resourceVersion}${note}`);
      if (!diff || event.type !== 'updated') return;
      const changes = diffFields(event.previous, event.object);
      for (const change of changes.slice(0, MAX_CHANGES)) write(`                 ${formatChange(change)}`);
      if (changes.length > MAX_CHANGES) write(`                 and ${changes.length - MAX_CHANGES} more`);
    },
    fault: (resource, fault) => writeError(`${time()} ! ${resource} ${explainFault(fault)}`),
    status: (resource, text) => write(`${time()} . ${resource} ${text}`),
  };
}

/** JSON lines with `type` and `resource`; everything goes to the standard output. */
export function jsonOutput({ write, now, diff, showInitial }: OutputOptions): Output {
  const line = (resource: string, value: object): void =>
    write(JSON.stringify({ time: new Date(now()).toISOString(), resource, ...value }));
  return {
    event(resource, event) {
      if (event.type === 'synced') {
        const { resourceVersion, size, first } = event;
        line(resource, { type: 'synced', resourceVersion, size, first });
        return;
      }
      if (event.type === 'added' && event.initial && !showInitial) return;
      const { type, object, cause } = event;
      const { name, namespace, resourceVersion } = object.metadata;
      line(resource, {
        type,
        ...(namespace === undefined ? {} : { namespace }),
        name,
        resourceVersion,
        cause,
        ...(event.type === 'added' ? { initial: event.initial } : {}),
        ...(event.type === 'deleted' ? { finalState: event.finalState } : {}),
        ...(event.type === 'updated' ? { recreated: event.recreated } : {}),
        ...(event.type === 'updated' && diff ? { changes: diffFields(event.previous, object) } : {}),
        object,
      });
    },
    fault(resource, { kind, verb, resourceVersion, retryAfterMs, error, status }) {
      line(resource, { type: 'fault', kind, verb, resourceVersion, retryAfterMs, message: error?.message, status });
    },
    status: (resource, text) => line(resource, { type: 'status', text }),
  };
}
