// YAML bodies as JSON text, with the rules of YAML 1.1 that go-yaml keeps and its messages.
// Upstream: sigs.k8s.io/yaml@v1.3.0:yaml.go#YAMLToJSON, gopkg.in/yaml.v2@v2.4.0:decode.go
// Differs: documents may be 250 levels deep, not 10000, and what aliases unfold to is bounded in bytes too.
import { DecodeError } from '../schema/decode-error.ts';
import { simpleJson } from './json-as-yaml.ts';
import { lineAt, yamlErrorText } from './yaml-errors.ts';
import {
  type CST,
  createComposer,
  createParser,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type YAMLMap,
} from './yaml-library.ts';
import { resolveScalar, scalarToJson, type YamlScalar } from './yaml-resolve.ts';

const MAX_DEPTH = 250;
const MAX_JSON_LENGTH = 64 * 1024 * 1024;
const TAG = 'tag:yaml.org,2002:';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones a YAML stream may not hold
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

export interface YamlDocument {
  readonly json: string;
  /** The one finding of strict validation: keys that are there twice. */
  readonly duplicates: string | undefined;
}

/** Throws a DecodeError; an empty document is `null`. Only the first document counts, of duplicate keys the last. */
export function readYaml(text: string): YamlDocument {
  const simple = simpleJson(text);
  if (simple !== undefined) return { json: simple, duplicates: undefined };
  if (CONTROL.test(text)) throw new DecodeError('yaml: control characters are not allowed');
  const tokens = [...createParser().parse(text)];
  refuseDepth(tokens);
  const composer = createComposer({
    version: '1.1',
    schema: 'failsafe',
    merge: false,
    uniqueKeys: false,
    logLevel: 'silent',
  });
  const [document] = composer.compose(tokens, true, text.length);
  const errors = (document?.errors ?? []).filter(({ code }) => code !== 'TAG_RESOLVE_FAILED');
  // Where a key goes over lines is known from its colon, as upstream knows it.
  const error = errors.find(({ code }) => code === 'MULTILINE_IMPLICIT_KEY') ?? errors[0];
  if (error !== undefined) throw new DecodeError(`yaml: ${yamlErrorText(error, text)}`);
  const reader = new NodeReader(text);
  const json = document?.contents == null ? 'null' : reader.read(document.contents as Node);
  return { json, duplicates: reader.duplicates };
}

/** {@link readYaml} where duplicates do not matter. */
export const yamlToJson = (text: string): string => readYaml(text).json;

// The composer recurses; the parser does not.
function refuseDepth(tokens: readonly CST.Token[]): void {
  let level: CST.Token[] = [...tokens];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new DecodeError('yaml: exceeded max depth of 10000');
    const next: CST.Token[] = [];
    for (const token of level) {
      if (token.type === 'document') {
        if (token.value) next.push(token.value);
      } else if (isCollection(token)) {
        for (const { key, value } of token.items) {
          if (key) next.push(key);
          if (value) next.push(value);
        }
      }
    }
    level = next;
  }
}

class NodeReader {
  readonly #text: string;
  readonly #anchors = new Map<string, Node>();
  readonly #open = new Set<Node>();
  readonly #duplicates: string[] = [];
  #decoded = 0;
  #aliased = 0;
  #aliasDepth = 0;
  #length = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get duplicates(): string | undefined {
    if (this.#duplicates.length === 0) return undefined;
    return `yaml: unmarshal errors:\n${this.#duplicates.join('\n')}`;
  }

  read(node: Node): string {
    this.#count();
    if (isAlias(node)) return this.#follow(node.source, (target) => this.read(target));
    if (node.anchor) this.#anchors.set(node.anchor, node);
    this.#open.add(node);
    try {
      return this.#measure(this.#readOpen(node));
    } finally {
      this.#open.delete(node);
    }
  }

  #readOpen(node: Node): string {
    if (isMap(node)) return this.#object(node);
    if (isSeq(node)) return `[${node.items.map((item) => this.read(item as Node)).join(',')}]`;
    const value = scalarOf(node);
    const json = scalarToJson(value);
    if (json !== undefined) return json;
    const shown = Number.isNaN(value) ? 'NaN' : `${(value as number) > 0 ? '+' : '-'}Inf`;
    throw new DecodeError(`json: unsupported value: ${shown}`);
  }

  #object(node: YAMLMap): string {
    const fields = new Map<string, string>();
    this.#fill(node, fields, new Set());
    const keys = [...fields.keys()].sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${fields.get(key)}`).join(',')}}`;
  }

  /** Puts the pairs of a map, and of those it merges, into fields; what comes later wins. */
  #fill(node: YAMLMap, fields: Map<string, string>, seen: Set<YamlScalar>): void {
    for (const { key: keyNode, value } of node.items as { key: Node; value: Node | null }[]) {
      if (isScalar(keyNode) && keyNode.type === 'PLAIN' && keyNode.value === '<<') {
        this.#merge(value, fields, seen);
        continue;
      }
      const key = this.#key(keyNode);
      if (seen.has(key))
        this.#duplicates.push(`  line ${this.#lineOf(keyNode)}: key ${showKey(key)} already set in map`);
      seen.add(key);
      const json = value === null ? 'null' : this.read(value);
      if (key === null) throw new DecodeError(`Unsupported map key of type: %!s(<nil>), key: <nil>, value: ${json}`);
      fields.set(String(key), json);
    }
  }

  #merge(node: Node | null, fields: Map<string, string>, seen: Set<YamlScalar>): void {
    if (isAlias(node)) {
      this.#follow(node.source, (target) => {
        if (!isMap(target)) throw badMerge();
        this.#fill(target, fields, seen);
      });
      return;
    }
    if (isMap(node)) {
      this.#fill(node, fields, seen);
      return;
    }
    if (!isSeq(node)) throw badMerge();
    // The first of several takes precedence.
    for (const item of [...node.items].reverse() as Node[]) {
      if (!isMap(item) && !isAlias(item)) throw badMerge();
      this.#merge(item, fields, seen);
    }
  }

  #key(node: Node | null): YamlScalar {
    this.#count();
    if (isAlias(node)) return this.#follow(node.source, (target) => this.#key(target));
    if (node?.anchor) this.#anchors.set(node.anchor, node);
    if (node === null) return null;
    if (isScalar(node)) return scalarOf(node);
    throw new DecodeError(`yaml: invalid map key: ${isMap(node) ? 'map[interface {}]interface {}' : '[]interface {}'}`);
  }

  #follow<T>(name: string, visit: (target: Node) => T): T {
    const target = this.#anchors.get(name);
    if (target === undefined) throw new DecodeError(`yaml: unknown anchor '${name}' referenced`);
    if (this.#open.has(target)) throw new DecodeError(`yaml: anchor '${name}' value contains itself`);
    this.#aliasDepth++;
    try {
      return visit(target);
    } finally {
      this.#aliasDepth--;
    }
  }

  #count(): void {
    this.#decoded++;
    if (this.#aliasDepth > 0) this.#aliased++;
    const share = this.#aliased / this.#decoded;
    if (this.#aliased > 100 && this.#decoded > 1000 && share > allowedShare(this.#decoded)) throw tooManyAliases();
  }

  #measure(json: string): string {
    if (this.#aliasDepth > 0) this.#length += json.length;
    if (this.#length > MAX_JSON_LENGTH) throw tooManyAliases();
    return json;
  }

  #lineOf(node: Node): number {
    return lineAt(this.#text, node.range?.[0] ?? 0);
  }
}

const badMerge = (): DecodeError => new DecodeError('yaml: map merge requires map or sequence of maps as the value');
const tooManyAliases = (): DecodeError => new DecodeError('yaml: document contains excessive aliasing');

/** How much of a document aliases may make up: nearly all of a small one, a tenth of a large one. */
function allowedShare(decoded: number): number {
  if (decoded <= 400_000) return 0.99;
  return decoded >= 4_000_000 ? 0.1 : 0.99 - 0.89 * ((decoded - 400_000) / 3_600_000);
}

function scalarOf(node: Node): YamlScalar {
  if (!isScalar(node)) return null;
  const text = typeof node.value === 'string' ? node.value : '';
  const plain = node.type === 'PLAIN' || node.type === undefined;
  if (node.tag === `${TAG}binary`) return Buffer.from(text, 'base64').toString('utf8');
  const typed = ['int', 'float', 'bool', 'null'].some((name) => node.tag === TAG + name);
  return (plain && node.tag === undefined) || typed ? resolveScalar(text) : text;
}

function showKey(key: YamlScalar): string {
  if (key === null) return '<nil>';
  return typeof key === 'string' ? JSON.stringify(key) : String(key);
}
