// Reads manifests as Kubernetes tools do: several YAML documents or JSON per file, lists taken apart. What is wrong is named
// with file, document and line; the rest is read all the same.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, LineCounter, parseAllDocuments } from 'yaml';
import { UsageError } from './options.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name?: string;
    readonly generateName?: string;
    readonly namespace?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** Where a manifest stands: `shop.yaml: document 3, line 41`. */
export interface Origin {
  readonly file: string;
  /** From 1, empty documents counted. */
  readonly document: number;
  readonly line: number;
}

export interface LocatedManifest {
  readonly object: Manifest;
  readonly origin: Origin;
}

export interface ManifestProblem {
  readonly origin: Origin;
  readonly message: string;
}

export interface Manifests {
  readonly objects: readonly LocatedManifest[];
  readonly problems: readonly ManifestProblem[];
}

export function describeOrigin({ file, document, line }: Origin): string {
  return `${file}: document ${document}, line ${line}`;
}

/** Reads files, and the manifests directly in folders. A path that cannot be read is a UsageError. */
export function readManifests(paths: readonly string[]): Manifests {
  const parts = paths.flatMap(filesOf).map((file) => parseManifests(readText(file), file));
  return {
    objects: parts.flatMap(({ objects }) => objects),
    problems: parts.flatMap(({ problems }) => problems),
  };
}

function filesOf(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => /\.(ya?ml|json)$/.test(name));
    if (names.length === 0) throw new UsageError(`no manifests in the folder ${path}`);
    return names.sort().map((name) => join(path, name));
  } catch (error) {
    throw readError(path, error);
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw readError(file, error);
  }
}

function readError(path: string, error: unknown): UsageError {
  if (error instanceof UsageError) return error;
  const { code } = error as NodeJS.ErrnoException;
  const why = code === 'ENOENT' ? 'no such file' : code === 'EACCES' ? 'permission denied' : (error as Error).message;
  return new UsageError(`cannot read ${path}: ${why}`, { cause: error });
}

/** Reads one text. `file` is only for the names of places. */
export function parseManifests(text: string, file: string): Manifests {
  const objects: LocatedManifest[] = [];
  const problems: ManifestProblem[] = [];
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    // Kubernetes reads YAML 1.1 (0644 is octal), but neither times nor dates nor numbers to the base of 60.
    version: '1.1',
    customTags: (tags) =>
      tags.filter(
        (tag) => typeof tag === 'string' || (tag.tag !== 'tag:yaml.org,2002:timestamp' && formatOf(tag) !== 'TIME'),
      ),
  });
  if (!Array.isArray(documents)) return { objects, problems };
  documents.forEach((document: Document.Parsed, index: number) => {
    const origin = (offset: number | undefined): Origin => ({
      file,
      document: index + 1,
      line: lines.linePos(offset ?? 0).line,
    });
    const start = origin(startOf(document));
    const [error] = document.errors;
    if (error !== undefined) {
      const message = error.message.replace(/ at line \d+, column \d+:[\s\S]*$/, '');
      problems.push({ origin: origin(error.pos[0]), message: `not YAML: ${message}` });
      return;
    }
    let value: unknown;
    try {
      value = document.toJS();
    } catch (cause) {
      problems.push({ origin: start, message: `not YAML: ${(cause as Error).message}` });
      return;
    }
    for (const item of itemsOf(value)) {
      const message = whyNoManifest(item);
      if (message === undefined) objects.push({ object: item as Manifest, origin: start });
      else problems.push({ origin: start, message });
    }
  });
  return { objects, problems };
}

function formatOf(tag: object): unknown {
  return (tag as { format?: unknown }).format;
}

/** First thing in the document that is no comment. */
function startOf(document: Document.Parsed): number | undefined {
  return document.contents?.range?.[0] ?? document.range?.[0];
}

/** An empty document has none; a list has its items. */
function itemsOf(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  if (!isRecord(value) || value['kind'] !== 'List' || !Array.isArray(value['items'])) return [value];
  return value['items'];
}

function whyNoManifest(value: unknown): string | undefined {
  if (!isRecord(value)) return 'not an object of the API: it has no fields';
  for (const field of ['apiVersion', 'kind'] as const) {
    if (typeof value[field] !== 'string' || value[field] === '') return `not an object of the API: ${field} is missing`;
  }
  const { metadata } = value;
  if (!isRecord(metadata)) return `${String(value['kind'])} without metadata`;
  const named = [metadata['name'], metadata['generateName']].some((name) => typeof name === 'string' && name !== '');
  if (!named) return `${String(value['kind'])} without metadata.name`;
  if (metadata['namespace'] !== undefined && typeof metadata['namespace'] !== 'string') {
    return `${String(value['kind'])} with a metadata.namespace that is no string`;
  }
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
