// YAML as sigs.k8s.io/yaml writes it: keys sorted, sequences not indented, folding at 80 columns.
// The only user of the `yaml` package for output; body.ts reads with it.
// Upstream: sigs.k8s.io/yaml@v1.3.0:yaml.go#Marshal
import { type ScalarTag, stringify } from 'yaml';

export function writeYaml(value: unknown): string {
  return stringify(sortKeys(value), {
    indentSeq: false,
    lineWidth: 80,
    minContentWidth: 0,
    singleQuote: true,
    aliasDuplicateObjects: false,
    version: '1.1',
    schema: 'yaml-1.1',
    customTags: (tags) => tags.filter((tag) => !isBinaryOrTime(tag as ScalarTag)),
  });
}

function isBinaryOrTime(tag: { readonly tag?: string } | string): boolean {
  return (
    typeof tag !== 'string' && (tag.tag === 'tag:yaml.org,2002:binary' || tag.tag === 'tag:yaml.org,2002:timestamp')
  );
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value).sort((a, b) => (a < b ? -1 : 1));
  return new Map(keys.map((key) => [key, sortKeys((value as Record<string, unknown>)[key])]));
}
