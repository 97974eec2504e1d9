// From the short forms of a script to the bytes that an API server would send.
import type { EventForm, ListForm, ObjectForm, StatusForm } from './scenario.ts';

export interface ScriptObject {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};
const CONFIG_MAP = { kind: 'ConfigMap', apiVersion: 'v1' };
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
const encoder = new TextEncoder();

/** A script that says more than its player understands would be played wrongly. */
export function refuseUnknown(what: string, value: object, known: readonly string[]): void {
  const unknown = Object.keys(value).filter((key) => !known.includes(key));
  if (unknown.length > 0) throw new Error(`${what} says ${unknown.join(', ')}, which is not played`);
}

/** The parts of `name@rv#uid`. */
function parseShort(text: string): { readonly name: string; readonly rv: string; readonly uid: string } {
  const parts = /^([^@]*)@([^#]*)(?:#(.+))?$/.exec(text);
  if (parts === null) throw new Error(`not an object: ${text}`);
  return { name: parts[1]!, rv: parts[2]!, uid: `${parts[1]}-${parts[3] ?? '1'}` };
}

export function objectOf(form: ObjectForm): ScriptObject {
  if (typeof form === 'string') {
    const { name, rv, uid } = parseShort(form);
    return objectNamed(name, rv, uid);
  }
  refuseUnknown(`object ${form.name}`, form, [
    'name',
    'rv',
    'namespace',
    'kind',
    'apiVersion',
    'data',
    'bytes',
    'omit',
  ]);
  const plain = objectNamed(form.name, form.rv, `${form.name}-1`);
  const object = {
    ...plain,
    kind: form.kind ?? CONFIG_MAP.kind,
    apiVersion: form.apiVersion ?? CONFIG_MAP.apiVersion,
    metadata: { ...plain.metadata, namespace: form.namespace ?? 'default' },
    data: { ...plain.data, ...form.data, ...(form.bytes === undefined ? {} : { filling: 'x'.repeat(form.bytes) }) },
  };
  const omitted: readonly string[] = form.omit ?? [];
  return Object.fromEntries(Object.entries(object).filter(([key]) => !omitted.includes(key))) as typeof object;
}

function objectNamed(name: string, rv: string, uid: string): ScriptObject {
  const version = rv === '' ? {} : { resourceVersion: rv };
  return { ...CONFIG_MAP, metadata: { name, namespace: 'default', uid, ...version }, data: { at: rv } };
}

export function statusOf(form: StatusForm): object {
  const details = {
    ...(form.causes === undefined ? {} : { causes: form.causes }),
    ...(form.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: form.retryAfterSeconds }),
  };
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: form.message ?? `the script says ${form.status}`,
    reason: form.reason ?? REASONS[form.status] ?? '',
    ...(Object.keys(details).length === 0 ? {} : { details }),
    code: form.status,
  };
}

export function listItems(form: ListForm): readonly ScriptObject[] | null {
  const { generate } = form;
  if (generate === undefined) return form.items?.map(objectOf) ?? null;
  return Array.from({ length: generate.count }, (_, index) =>
    objectOf(`${generate.prefix}${`${index}`.padStart(5, '0')}@${generate.startRv + index}`),
  );
}

export function listBody(form: ListForm): Uint8Array {
  refuseUnknown('list', form, [
    'rv',
    'items',
    'continue',
    'remaining',
    'generate',
    'kind',
    'omitKind',
    'stripItemKinds',
    'truncate',
  ]);
  const items = listItems(form);
  return json({
    ...(form.omitKind ? {} : { kind: form.kind ?? 'ConfigMapList', apiVersion: 'v1' }),
    metadata: {
      ...(form.rv === '' ? {} : { resourceVersion: form.rv }),
      ...(form.continue === undefined ? {} : { continue: form.continue }),
      ...(form.remaining === undefined ? {} : { remainingItemCount: form.remaining }),
    },
    items: form.stripItemKinds ? items?.map(({ kind: _kind, apiVersion: _version, ...rest }) => rest) : items,
  });
}

/** What one entry of `events` comes to: the bytes, and the events in it that are whole. */
export interface ScriptedFrames {
  readonly at: number;
  readonly bytes: Uint8Array;
  readonly events: readonly WatchFrame[];
  readonly chunk: EventForm['chunk'];
}

export interface WatchFrame {
  readonly type: string;
  readonly object: object;
}

export function framesOf(entry: EventForm | string): ScriptedFrames {
  const form = typeof entry === 'string' ? { ev: entry } : entry;
  refuseUnknown('event', form, ['at', 'ev', 'half', 'raw', 'type', 'object', 'status', 'burst', 'chunk']);
  const common = { at: form.at ?? 0, chunk: form.chunk };
  if (form.raw !== undefined) return { ...common, bytes: encoder.encode(form.raw), events: eventsIn(form.raw) };
  if (form.half !== undefined) {
    const whole = frameBytes(eventOf(form.half));
    return { ...common, bytes: whole.subarray(0, whole.length >> 1), events: [] };
  }
  const events = form.burst === undefined ? [singleEvent(form)] : burst(form.burst);
  return { ...common, bytes: Buffer.concat(events.map(frameBytes)), events };
}

/** The one event that raw text is, or none. */
function eventsIn(text: string): readonly WatchFrame[] {
  try {
    const event = JSON.parse(text) as WatchFrame;
    return event.object === null ? [] : [event];
  } catch {
    return [];
  }
}

function singleEvent(form: EventForm): WatchFrame {
  if (form.ev !== undefined) return eventOf(form.ev);
  if (form.status !== undefined) return { type: 'ERROR', object: statusOf(form.status) };
  if (form.type === undefined || form.object === undefined) throw new Error('an event without type or object');
  return { type: form.type, object: objectOf(form.object) };
}

function eventOf(text: string): WatchFrame {
  const [type = '', subject = '', ...rest] = text.split(' ');
  if (type === 'ERROR') {
    const [reason = '', ...message] = rest;
    return { type, object: statusOf({ status: Number(subject), reason, message: message.join(' ') }) };
  }
  if (type !== 'BOOKMARK') return { type, object: objectOf(subject) };
  const end = { end: 'true', endfalse: 'false' }[rest[0] ?? ''];
  const metadata = {
    resourceVersion: parseShort(subject).rv,
    ...(end === undefined ? {} : { annotations: { [INITIAL_EVENTS_END]: end } }),
  };
  return { type, object: { ...CONFIG_MAP, metadata } };
}

export function isEndOfInitialEvents(bookmark: object): boolean {
  return (bookmark as ScriptObject).metadata.annotations?.[INITIAL_EVENTS_END] === 'true';
}

function burst(form: NonNullable<EventForm['burst']>): readonly WatchFrame[] {
  return Array.from({ length: form.count }, (_, index) => ({
    type: form.type,
    object: objectOf(`${form.names[index % form.names.length]}@${form.startRv + index}`),
  }));
}

const frameBytes = (event: WatchFrame): Uint8Array => encoder.encode(`${JSON.stringify(event)}\n`);

export const json = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value));
