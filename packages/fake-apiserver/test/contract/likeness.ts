// A golden is a pattern: where it has a placeholder, any value of that sort will do, the same one for the same placeholder.
import { canonical, isObject, type Json, rebuild, without } from './json.ts';
import type { Outcome, RecordedCase, Step } from './recorded-case.ts';
import type { VersionBook } from './versions.ts';

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const SORTS: Readonly<Record<string, string>> = {
  time: '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ',
  microtime: '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z',
  n: '\\d+',
  age: '(?:\\d+[ydhms])+',
  ip: '\\d+(?:\\.\\d+){3}',
  nodePort: '3[0-2]\\d{3}',
  pointer: '0x[0-9a-f]+',
  uid: UUID,
  gen: '[a-z0-9]{5}',
  rv: '\\d+',
};
// A bare rvK stands within a text only: versions elsewhere are resolved before.
const PLACEHOLDER = /<(?:time|microtime|n|age|ip|nodePort|pointer|uid\d+|gen\d+)>|\brv\d+\b/;

/** What a server said to the steps of a case. */
export interface Played {
  readonly outcomes: readonly Outcome[];
  readonly versions: VersionBook;
  /** What stands for the names that were made up for this run. */
  readonly names: ReadonlyMap<string, string>;
}

/** Both sides in a form that is equal when the server said what was recorded. */
export function compared(recorded: RecordedCase, played: Played): { actual: Json; golden: Json } {
  const likeness = new Likeness(played.versions);
  const rows = (outcomes: readonly Outcome[], prepare: (value: Json) => Json): Json[] =>
    outcomes.map((outcome) => ordered(prepare(outcome), recorded.steps[outcome.step]));
  const golden = rows(recorded.golden, (value) => value);
  const actual = rows(played.outcomes, (value) => rebuild(value, (inner) => settled(inner, played)));
  return { actual: likeness.liken(actual, golden), golden };
}

function settled(value: Json, { versions, names }: Played): Json {
  if (typeof value !== 'string') return value;
  let text = versions.resolve(value);
  for (const [name, placeholder] of names) text = text.replaceAll(name, placeholder);
  return text;
}

/** Brings what has no order of its own into one, and leaves out what was not recorded. */
function ordered(outcome: Json, step: Step | undefined): Json {
  return rebuild(outcome, (value, key) => {
    if (!Array.isArray(value)) return value;
    if (key === 'columnDefinitions') return value.map((column) => without(column, ['/description']));
    if (key === 'managedFields') return sortedBy(value, managerKey);
    if (key === 'items' && step?.sortItems) return sortedBy(value, objectKey);
    if (key === 'causes' && step?.sortCauses) return sortedBy(value, canonical);
    if (key !== 'events' || step?.sort === undefined) return value;
    const first = step.sort === true ? value.length : step.sort;
    return [...sortedBy(value.slice(0, first), eventKey), ...value.slice(first)];
  });
}

const managerKey = ({ operation, subresource, manager }: Json): string =>
  [operation, subresource ?? '', manager].join('\n');
const objectKey = (object: Json): string => [object.metadata?.namespace ?? '', object.metadata?.name].join('\n');
const eventKey = ({ type, object }: Json): string => `${type}\n${objectKey(object?.rows?.[0]?.object ?? object)}`;

function sortedBy(values: readonly Json[], key: (value: Json) => string): Json[] {
  return values
    .map((value) => [key(value), value] as const)
    .sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0))
    .map(([, value]) => value);
}

class Likeness {
  readonly #meanings = new Map<string, string>();
  readonly #placeholders = new Map<string, string>();
  readonly #versions: VersionBook;

  constructor(versions: VersionBook) {
    this.#versions = versions;
  }

  /** The actual value, with the golden's placeholders where they fit. */
  liken(actual: Json, golden: Json): Json {
    if (typeof golden === 'string') return this.#fits(actual, golden) ? golden : actual;
    if (Array.isArray(golden) && Array.isArray(actual)) {
      return actual.map((element, place) => this.liken(element, golden[place]));
    }
    if (!isObject(golden) || !isObject(actual)) return actual;
    const names = Object.keys(actual).sort();
    return Object.fromEntries(names.map((name) => [name, this.liken(actual[name], golden[name])]));
  }

  #fits(actual: Json, golden: string): boolean {
    if (actual === golden) return true;
    const parts = golden.split(new RegExp(`(${PLACEHOLDER.source})`, 'g'));
    if (parts.length === 1 || !['string', 'number'].includes(typeof actual)) return false;
    // Every other part is the name of a placeholder.
    const source = parts.map((part, place) => (place % 2 === 0 ? escaped(part) : `(${sortOf(part)})`)).join('');
    const found = new RegExp(`^${source}$`).exec(String(actual));
    if (found === null) return false;
    const bound = parts.filter((_part, place) => place % 2 === 1);
    return bound.every((name, place) => this.#bind(name, found[place + 1]!));
  }

  /** False when the placeholder stands for something else, or something else for the value. */
  #bind(placeholder: string, value: string): boolean {
    if (placeholder.startsWith('rv')) return this.#versions.isNamed(value, placeholder);
    if (!/\d/.test(placeholder)) return true;
    const sort = sortName(placeholder);
    const meaning = this.#meanings.get(placeholder);
    const other = this.#placeholders.get(`${sort}\n${value}`);
    if (meaning === undefined && other === undefined) {
      this.#meanings.set(placeholder, value);
      this.#placeholders.set(`${sort}\n${value}`, placeholder);
      return true;
    }
    return meaning === value && other === placeholder;
  }
}

const sortName = (placeholder: string): string => placeholder.replaceAll(/[<\d>]/g, '');
const sortOf = (placeholder: string): string => SORTS[sortName(placeholder)]!;
const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
