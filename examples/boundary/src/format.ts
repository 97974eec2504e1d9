// Events in words, for people.
import { type BoundaryEvent, GONE_ORIGINS, type Summary } from './events.ts';

/** One line without colours. */
export function describeEvent(event: BoundaryEvent): string {
  switch (event.event) {
    case 'started': {
      const through = event.through === undefined ? '' : `, informers through ${event.through}`;
      const kubeconfig = event.kubeconfig === undefined ? '' : `, kubeconfig ${event.kubeconfig}`;
      return `server ${event.server} (${event.version})${through}${kubeconfig}`;
    }
    case 'problem':
      return `problem  ${event.message}`;
    case 'loaded':
      return `loaded ${count(event.objects, 'object')} of ${count(event.kinds, 'kind')}${
        event.problems === 0 ? '' : `, ${count(event.problems, 'problem')}`
      }`;
    case 'synced':
      return `synced   ${event.kind}: ${count(event.objects, 'object')} at ${event.resourceVersion}`;
    case 'relisted':
      return `relisted ${event.kind}: ${count(event.objects, 'object')} at ${event.resourceVersion}`;
    case 'change': {
      const name = event.namespace === undefined ? event.name : `${event.namespace}/${event.name}`;
      return `${event.type.padEnd(8)} ${event.kind} ${name} at ${event.resourceVersion}${
        event.cause === 'watch' ? '' : ` (seen in a list)`
      }`;
    }
    case 'fault':
      return `FAULT    ${event.fault}: ${event.what}`;
    case 'saw': {
      const code = event.code === undefined ? event.fault : `${event.code} ${event.reason ?? ''}`.trim();
      const origin = event.origin === undefined ? '' : ` [${event.origin}]`;
      return `saw      ${event.kind} ${event.verb} from ${event.resourceVersion || '""'}: ${code} "${event.message}"${origin}`;
    }
    case 'recovered': {
      const relisted =
        event.relisted.length === 0 ? 'nobody listed again' : `listed again: ${event.relisted.join(', ')}`;
      return `RECOVERED from ${event.fault} in ${event.seconds.toFixed(1)} s: ${event.resumed} resumed their watch, ${relisted}`;
    }
    case 'not-recovered':
      return `NOT RECOVERED from ${event.fault}: ${event.message}`;
    case 'verified': {
      const verdict = event.consistent ? `equals a fresh list of ${count(event.objects, 'object')}` : 'DIFFERS';
      return `verified ${event.kind}: ${verdict}${event.differences.map((line) => `; ${line}`).join('')}`;
    }
  }
}

export function describeSummary(summary: Summary): string {
  const origins = GONE_ORIGINS.map((origin) => `${summary.goneByOrigin[origin]} ${origin}`).join(', ');
  return [
    `${summary.consistent ? 'CONSISTENT' : 'INCONSISTENT'}: ${count(summary.informers, 'informer')}, ${count(summary.objects, 'object')},`,
    `${count(summary.events, 'change')} seen, ${count(summary.relists, 'relist')}, 410 ${summary.gone} times (${origins}),`,
    `${summary.recoveries} recoveries, ${summary.seconds.toFixed(0)} s`,
  ].join(' ');
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
