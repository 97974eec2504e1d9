// From what came over the wire to what a recording holds of it.
import { gunzipSync } from 'node:zlib';
import { canonical, isObject, type Json, keepOnly, pick, rebuild, without } from './json.ts';
import type { EventsStep, Scope, Until } from './recorded-case.ts';
import type { WireAnswer, WireHead } from './wire/wire.ts';

const COMPARED_HEADERS = ['content-type', 'content-encoding', 'retry-after', 'warning', 'allow', 'location'];

export interface Answer extends WireHead {
  /** Undefined when the body is no JSON. */
  readonly json: Json;
  readonly text: string;
  readonly tookMs: number;
}

/** The fields of an outcome but its place. */
export type Said = Readonly<Record<string, Json>>;

export function understood(answer: WireAnswer, tookMs: number): Answer {
  const { headers, body } = answer;
  const text = (headers.get('content-encoding') === 'gzip' ? gunzipSync(body) : body).toString('utf8');
  const isJson = headers.get('content-type')?.startsWith('application/json') === true && text !== '';
  return { ...answer, json: isJson ? JSON.parse(text) : undefined, text, tookMs };
}

/** `shown` is the JSON to compare: the answer's own with its versions marked. */
export function saidOf(answer: Answer, shown: Json, scope: Scope): Said {
  const { tookAtLeastMs, tookAtMostMs } = scope;
  return {
    status: answer.status,
    ...(scope.record !== 'status' && { headers: saidHeaders(answer, scope) }),
    ...(scope.record === undefined && saidBody(answer, shown, scope)),
    ...(tookAtLeastMs !== undefined && { tookAtLeast: answer.tookMs >= tookAtLeastMs }),
    ...(tookAtMostMs !== undefined && { tookAtMost: answer.tookMs <= tookAtMostMs }),
  };
}

function saidBody({ json, text }: Answer, shown: Json, { keep, drop, textLimit }: Scope): Said {
  if (json === undefined) return { text: textLimit === undefined ? text : text.slice(0, textLimit) };
  const kept = keep === undefined ? shown : keepOnly(shown, keep);
  return { body: drop === undefined ? kept : without(kept, drop) };
}

export function saidHeaders(head: WireHead, { recordHeaders = [], framing = false }: Scope): Said {
  const names = [...COMPARED_HEADERS, ...recordHeaders].filter((name) => head.headers.has(name));
  return {
    ...Object.fromEntries(names.map((name) => [name, head.headers.get(name)])),
    ...(framing && head.framing !== undefined && { '(framing)': head.framing }),
  };
}

export function saidEvents(events: readonly Json[], step: EventsStep): Json {
  const { collapseBookmarks, dropBookmarks, countOnly, keep } = step;
  const chosen = events.filter((event, place) => {
    if (event.type !== 'BOOKMARK') return true;
    if (dropBookmarks) return false;
    return !(collapseBookmarks && events[place + 1]?.type === 'BOOKMARK');
  });
  if (countOnly) {
    const types = new Map<string, number>();
    for (const { type } of chosen) types.set(type, (types.get(type) ?? 0) + 1);
    return Object.fromEntries(types);
  }
  const bare = chosen.map((event) => rebuild(event, dropManagedFields));
  return keep === undefined ? bare : bare.map((event) => keepOnly(event, keep));
}

function dropManagedFields(value: Json): Json {
  if (!isObject(value) || !Array.isArray(value['managedFields'])) return value;
  const { managedFields: _dropped, ...rest } = value;
  return rest;
}

export function holds({ status, pointer, equals, absent }: Until, answer: Answer): boolean {
  if (status !== undefined && answer.status !== status) return false;
  if (pointer === undefined) return true;
  const found = pick(answer.json, pointer);
  if (absent) return answer.status === 200 && found === undefined;
  return equals === undefined ? found !== undefined : canonical(found) === canonical(equals);
}
