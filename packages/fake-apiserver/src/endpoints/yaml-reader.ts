// YAML bodies as JSON text, with the rules of YAML 1.1 that go-yaml keeps (yes and no are booleans) and its messages.
// Upstream: sigs.k8s.io/yaml@v1.3.0:yaml.go#YAMLToJSON
import { isMap, isScalar, parseDocument, visit } from 'yaml';
import { DecodeError } from '../schema/decode-error.ts';

/** Throws a DecodeError; an empty document is `null`. Only the first document counts. */
export function yamlToJson(text: string): string {
  const document = parseDocument(text, {
    version: '1.1',
    schema: 'yaml-1.1',
    uniqueKeys: false,
    logLevel: 'silent',
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:timestamp'),
  });
  const [error] = document.errors;
  if (error !== undefined) {
    const line = error.linePos?.[0].line ?? 1;
    throw new DecodeError(`yaml: line ${line}: ${wording(error.code)}`);
  }
  visit(document, {
    Scalar(_key, node) {
      // Merge keys and dates stay text; only what has no JSON form changes.
      if (typeof node.value === 'number' && !Number.isFinite(node.value))
        node.value = String(node.source ?? node.value);
    },
    Pair(_key, pair) {
      if (isScalar(pair.key) && typeof pair.key.value !== 'string')
        pair.key.value = keyText(pair.key.value, pair.key.source);
    },
  });
  const value: unknown =
    isMap(document.contents) || document.contents !== null ? document.toJS({ maxAliasCount: 100 }) : null;
  return JSON.stringify(value ?? null);
}

function keyText(value: unknown, source: string | undefined): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return source ?? 'null';
}

function wording(code: string): string {
  if (code === 'TAB_AS_INDENT') return 'found character that cannot start any token';
  if (code === 'DUPLICATE_KEY') return 'key already set in map';
  if (code === 'BAD_INDENT' || code === 'MISSING_CHAR') return 'did not find expected node content';
  return 'could not find expected node content';
}
