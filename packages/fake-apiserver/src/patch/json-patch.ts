// JSON patch (RFC 6902) with the liberties of the library the API server uses.
// Upstream: evanphx/json-patch@v4.12.0:patch.go
// Differs: numbers are compared by value, upstream compares their spelling (`1` and `1.0` are different there).
import { setOwn } from '../schema/json-reader.ts';
import { cloneJson, isObject, type JsonObject, jsonEqual, own, sortedEntries } from './json-value.ts';
import { PatchError } from './patch-error.ts';

/** Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/patch.go#maxJSONPatchOperations */
export const MAX_JSON_PATCH_OPERATIONS = 10_000;

const MISSING = 'missing value';
const INVALID_INDEX = 'invalid index referenced';

function problem(message: string): PatchError {
  return new PatchError('unprocessable', message);
}

/** Parses as strconv.Atoi does. */
function indexOf(key: string): number {
  if (!/^[+-]?\d+$/.test(key)) throw problem(`strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`);
  return Number(key);
}

/**
 * Applies the operations in order and returns the new document; the input stays as it is. As upstream, negative indices count
 * from the end, `replace` of a missing object key adds it, and a failed operation fails the whole patch.
 *
 * @throws PatchError `bad-request` for something that is no list of objects, `too-large` beyond 10,000 operations,
 * `unprocessable` when an operation does not apply.
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) {
    throw new PatchError(
      'bad-request',
      `json: cannot unmarshal ${jsonKind(patch)} into Go value of type jsonpatch.Patch`,
    );
  }
  for (const operation of patch) {
    if (!isObject(operation) && operation !== null) {
      throw new PatchError(
        'bad-request',
        `json: cannot unmarshal ${jsonKind(operation)} into Go value of type jsonpatch.Operation`,
      );
    }
  }
  if (patch.length > MAX_JSON_PATCH_OPERATIONS) {
    throw new PatchError(
      'too-large',
      `The allowed maximum operations in a JSON patch is ${MAX_JSON_PATCH_OPERATIONS}, got ${patch.length}`,
    );
  }
  const patcher = new Patcher(document);
  for (const operation of patch as (JsonObject | null)[]) patcher.apply(operation ?? {});
  return patcher.result();
}

function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value === 'boolean' ? 'bool' : typeof value;
}

type Container = JsonObject | unknown[];

class Patcher {
  #root: unknown;
  /** Containers that are our own copies and may be changed. Their keys come out sorted, as those of Go maps. */
  readonly #owned = new Set<Container>();

  constructor(document: unknown) {
    this.#root = document;
  }

  apply(operation: JsonObject): void {
    const kind = own(operation, 'op');
    if (kind === 'add') this.#add(operation);
    else if (kind === 'remove') this.#remove(operation);
    else if (kind === 'replace') this.#replace(operation);
    else if (kind === 'move') this.#move(operation);
    else if (kind === 'test') this.#test(operation);
    else if (kind === 'copy') this.#copy(operation);
    else throw problem(`Unexpected kind: ${typeof kind === 'string' ? kind : 'unknown'}`);
  }

  result(): unknown {
    return this.#finish(this.#root);
  }

  #finish(node: unknown): unknown {
    if (typeof node !== 'object' || node === null || !this.#owned.has(node as Container)) return node;
    if (Array.isArray(node)) return node.map((item) => this.#finish(item));
    const out: JsonObject = {};
    for (const [key, value] of sortedEntries(node as JsonObject)) setOwn(out, key, this.#finish(value));
    return out;
  }

  #pathOf(operation: JsonObject, field: 'path' | 'from'): string | undefined {
    const path = own(operation, field);
    return typeof path === 'string' ? path : undefined;
  }

  /** A copy that may be changed, made once per container. */
  #own(node: unknown): Container | undefined {
    if (typeof node !== 'object' || node === null) return undefined;
    if (this.#owned.has(node as Container)) return node as Container;
    let copy: Container;
    if (Array.isArray(node)) copy = [...node];
    else {
      copy = {};
      for (const key of Object.keys(node)) setOwn(copy, key, (node as JsonObject)[key]);
    }
    this.#owned.add(copy);
    return copy;
  }

  /** The container of a path and the last token; undefined when some step leads nowhere. */
  #find(path: string): { readonly container: Container; readonly key: string } | undefined {
    const tokens = path.split('/').slice(1).map(decodeToken);
    const key = tokens.pop();
    if (key === undefined) return undefined;
    let container = this.#own(this.#root);
    if (container === undefined) return undefined;
    this.#root = container;
    for (const token of tokens) {
      const next = this.#step(container, token);
      if (next === undefined) return undefined;
      container = next;
    }
    return { container, key };
  }

  #step(container: Container, token: string): Container | undefined {
    if (!Array.isArray(container)) {
      const next = this.#own(own(container, token));
      if (next !== undefined) setOwn(container, token, next);
      return next;
    }
    if (!/^[+-]?\d+$/.test(token)) return undefined;
    const index = Number(token) < 0 ? Number(token) + container.length : Number(token);
    const next = this.#own(container[index]);
    if (next !== undefined) container[index] = next;
    return next;
  }

  #get(container: Container, key: string): unknown {
    if (!Array.isArray(container)) return own(container, key);
    return container[this.#existing(container, key)];
  }

  #existing(array: readonly unknown[], key: string): number {
    const index = indexOf(key);
    if (index >= array.length || index < -array.length)
      throw problem(`Unable to access invalid index: ${index}: ${INVALID_INDEX}`);
    return index < 0 ? index + array.length : index;
  }

  #insert(container: Container, key: string, value: unknown): void {
    if (!Array.isArray(container)) {
      setOwn(container, key, value);
      return;
    }
    if (key === '-') {
      container.push(value);
      return;
    }
    let index: number;
    try {
      index = indexOf(key);
    } catch (error) {
      throw problem(`value was not a proper array index: '${key}': ${(error as Error).message}`);
    }
    const size = container.length + 1;
    if (index >= size || index < -size) throw problem(`Unable to access invalid index: ${index}: ${INVALID_INDEX}`);
    container.splice(index < 0 ? index + size : index, 0, value);
  }

  #drop(container: Container, key: string): void {
    if (Array.isArray(container)) {
      container.splice(this.#existing(container, key), 1);
      return;
    }
    if (!Object.hasOwn(container, key)) throw problem(`Unable to remove nonexistent key: ${key}: ${MISSING}`);
    delete container[key];
  }

  #wrapped<T>(prefix: string, run: () => T): T {
    try {
      return run();
    } catch (error) {
      throw problem(`${prefix}: ${(error as Error).message}`);
    }
  }

  #add(operation: JsonObject): void {
    const path = this.#pathOf(operation, 'path');
    if (path === undefined) throw problem(`add operation failed to decode path: ${MISSING}`);
    const found = this.#find(path);
    if (found === undefined) throw problem(`add operation does not apply: doc is missing path: "${path}": ${MISSING}`);
    const value = cloneJson(own(operation, 'value') ?? null);
    this.#wrapped(`error in add for path: '${path}'`, () => this.#insert(found.container, found.key, value));
  }

  #remove(operation: JsonObject): void {
    const path = this.#pathOf(operation, 'path');
    if (path === undefined) throw problem(`remove operation failed to decode path: ${MISSING}`);
    const found = this.#find(path);
    if (found === undefined)
      throw problem(`remove operation does not apply: doc is missing path: "${path}": ${MISSING}`);
    this.#wrapped(`error in remove for path: '${path}'`, () => this.#drop(found.container, found.key));
  }

  #replace(operation: JsonObject): void {
    const path = this.#pathOf(operation, 'path');
    if (path === undefined) {
      throw problem(`replace operation failed to decode path: operation missing path field: ${MISSING}`);
    }
    const value = cloneJson(own(operation, 'value') ?? null);
    if (path === '') {
      // Upstream means to refuse a scalar here, but wraps an error that is not there, so nothing happens.
      if (typeof value === 'object' && value !== null) this.#root = value;
      return;
    }
    const found = this.#find(path);
    if (found === undefined)
      throw problem(`replace operation does not apply: doc is missing path: ${path}: ${MISSING}`);
    const { container, key } = found;
    if (!Array.isArray(container)) {
      setOwn(container, key, value);
      return;
    }
    let index: number;
    try {
      index = this.#existing(container, key);
    } catch {
      throw problem(`replace operation does not apply: doc is missing key: ${path}: ${MISSING}`);
    }
    container[index] = value;
  }

  #move(operation: JsonObject): void {
    const from = this.#pathOf(operation, 'from');
    if (from === undefined)
      throw problem(`move operation failed to decode from: operation, missing from field: ${MISSING}`);
    const source = this.#find(from);
    if (source === undefined)
      throw problem(`move operation does not apply: doc is missing from path: ${from}: ${MISSING}`);
    const value = this.#wrapped(`error in move for path: '${source.key}'`, () => {
      const moved = this.#get(source.container, source.key);
      this.#drop(source.container, source.key);
      return moved;
    });
    const path = this.#pathOf(operation, 'path');
    if (path === undefined)
      throw problem(`move operation failed to decode path: operation missing path field: ${MISSING}`);
    const target = this.#find(path);
    if (target === undefined) {
      throw problem(`move operation does not apply: doc is missing destination path: ${path}: ${MISSING}`);
    }
    this.#wrapped(`error in move for path: '${path}'`, () => this.#insert(target.container, target.key, value));
  }

  #copy(operation: JsonObject): void {
    const from = this.#pathOf(operation, 'from');
    if (from === undefined)
      throw problem(`copy operation failed to decode from: operation, missing from field: ${MISSING}`);
    const source = this.#find(from);
    if (source === undefined)
      throw problem(`copy operation does not apply: doc is missing from path: ${from}: ${MISSING}`);
    const value = this.#wrapped(`error in copy for from: '${from}'`, () => this.#get(source.container, source.key));
    const path = this.#pathOf(operation, 'path');
    if (path === undefined) throw problem(`copy operation failed to decode path: ${MISSING}`);
    const target = this.#find(path);
    if (target === undefined) {
      throw problem(`copy operation does not apply: doc is missing destination path: ${path}: ${MISSING}`);
    }
    this.#wrapped('error while adding value during copy', () =>
      this.#insert(target.container, target.key, cloneJson(value ?? null)),
    );
  }

  #test(operation: JsonObject): void {
    const path = this.#pathOf(operation, 'path');
    if (path === undefined)
      throw problem(`test operation failed to decode path: operation missing path field: ${MISSING}`);
    const expected = own(operation, 'value');
    let actual: unknown;
    if (path === '') actual = this.#root;
    else {
      const found = this.#find(path);
      if (found === undefined) throw problem(`test operation does not apply: is missing path: ${path}: ${MISSING}`);
      actual = this.#wrapped(`error in test for path: '${path}'`, () => this.#get(found.container, found.key));
    }
    // A missing key equals null, as upstream.
    const same = expected !== undefined && jsonEqual(actual ?? null, expected);
    if (!same) throw problem(`testing value ${path} failed: test failed`);
  }
}

function decodeToken(token: string): string {
  return token.replace(/~[01]/g, (escaped) => (escaped === '~1' ? '/' : '~'));
}
