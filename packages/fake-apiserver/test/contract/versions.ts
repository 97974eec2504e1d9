// Resource versions are numbers of one run only; what can be compared between runs is their order. Versions of objects are
// ranked, versions of lists and bookmarks placed among them.
import { isObject, type Json } from './json.ts';

type Role = 'object' | 'list' | 'exact';

const VERSION = /^[1-9]\d*$/;
const MARK = /@(object|list|exact):(\d+)/g;

export class VersionBook {
  readonly #objects = new Set<string>();
  #ranked: readonly bigint[] | undefined;

  /** A copy of an answer with its versions marked for {@link resolve}; those of its objects are noted. */
  mark(answer: Json, lists: 'list' | 'exact'): Json {
    return this.#mark(answer, lists, undefined);
  }

  /** The same for a document of a watch. A bookmark is no version of an object, and a Table has that of its row. */
  markEvent(document: Json): Json {
    if (!isObject(document) || !('object' in document)) return this.mark(document, 'list');
    return this.#mark(document, 'exact', document['type'] === 'BOOKMARK' ? 'list' : undefined);
  }

  /** Marks in a text become `rv2`, `>=rv2`; call it when everything has been marked. */
  resolve(text: string): string {
    return text.replaceAll(MARK, (_mark, role: Role, version: string) => this.#name(role, BigInt(version)) ?? version);
  }

  /** Whether this is the version of an object that the name stands for. */
  isNamed(version: string, name: string): boolean {
    return this.#name('object', BigInt(version)) === name;
  }

  #name(role: Role, version: bigint): string | undefined {
    this.#ranked ??= [...this.#objects].map(BigInt).sort((left, right) => (left < right ? -1 : 1));
    if (role === 'list') {
      const below = this.#ranked.filter((other) => other <= version).length;
      return below === 0 ? '<rv>' : `>=rv${below}`;
    }
    const rank = this.#ranked.indexOf(version) + 1;
    return rank === 0 ? undefined : `rv${rank}`;
  }

  #mark(value: Json, lists: 'list' | 'exact', all: Role | undefined): Json {
    if (Array.isArray(value)) return value.map((element) => this.#mark(element, lists, all));
    if (!isObject(value)) return value;
    const role = all ?? (isList(value) ? lists : 'object');
    const fields = Object.entries(value).map(([name, inner]) => {
      const marked = this.#mark(inner, lists, all);
      return [name, name === 'metadata' && isObject(marked) ? this.#markMetadata(marked, role) : marked] as const;
    });
    return Object.fromEntries(fields);
  }

  #markMetadata(metadata: Readonly<Record<string, Json>>, role: Role): Json {
    const { resourceVersion, continue: token } = metadata;
    const marked: Record<string, Json> = { ...metadata };
    if (VERSION.test(String(resourceVersion))) {
      if (role === 'object') this.#objects.add(resourceVersion);
      marked['resourceVersion'] = `@${role}:${resourceVersion}`;
    }
    if (typeof token === 'string' && token !== '') marked['continue'] = readableToken(token, role);
    return marked;
  }
}

const isList = (value: Readonly<Record<string, Json>>): boolean =>
  value['kind'] === 'Table' || (String(value['kind']).endsWith('List') && 'items' in value);

/** What a continue token says. */
function readableToken(token: string, role: Role): string {
  const { v, rv, start } = JSON.parse(Buffer.from(token, 'base64url').toString('utf8')) as Json;
  return `<continue v=${v} rv=${rv > 0 ? `@${role}:${rv}` : rv} start=${JSON.stringify(start)}>`;
}
