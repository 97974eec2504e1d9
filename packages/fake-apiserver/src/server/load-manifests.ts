// Objects of YAML or JSON files into a running server. A bad one is named with file, document and line; the others load.
import { readFileSync } from 'node:fs';
import { type LineCounter, LineCounter as Lines, parseAllDocuments } from 'yaml';

export interface ManifestProblem {
  readonly file: string;
  /** From 1. */
  readonly document: number;
  /** From 1, in the file. */
  readonly line: number;
  readonly message: string;
}

export interface LoadReport {
  readonly loaded: number;
  readonly problems: readonly ManifestProblem[];
}

/** What loading needs of a server. */
export interface ManifestTarget {
  fetch(input: string, init?: RequestInit): Promise<Response>;
}

interface Manifest {
  readonly file: string;
  readonly document: number;
  readonly line: number;
  readonly object: Readonly<Record<string, unknown>>;
}

interface ResourcePath {
  readonly resource: string;
  readonly namespaced: boolean;
}

/** Throws the system's error for a file that cannot be read. Namespaces and definitions come first, else in order. */
export async function loadManifests(target: ManifestTarget, files: readonly string[]): Promise<LoadReport> {
  const problems: ManifestProblem[] = [];
  const manifests = files.flatMap((file) => readManifests(file, readFileSync(file, 'utf8'), problems));
  const rank = ({ object }: Manifest): number =>
    object['kind'] === 'CustomResourceDefinition' ? 0 : object['kind'] === 'Namespace' ? 1 : 2;
  const ordered = [...manifests].sort((a, b) => rank(a) - rank(b));
  const resources = new Resources(target);
  let loaded = 0;
  for (const manifest of ordered) {
    const message = await load(target, resources, manifest.object);
    if (message === undefined) loaded += 1;
    else problems.push({ file: manifest.file, document: manifest.document, line: manifest.line, message });
  }
  return { loaded, problems };
}

export function formatProblem({ file, document, line, message }: ManifestProblem): string {
  return `${file}: document ${document}, line ${line}: ${message}`;
}

function readManifests(file: string, text: string, problems: ManifestProblem[]): readonly Manifest[] {
  const lines = new Lines();
  const manifests: Manifest[] = [];
  const documents = parseAllDocuments(text, { lineCounter: lines, version: '1.1', logLevel: 'silent' });
  if (!Array.isArray(documents)) return manifests;
  for (const [index, document] of documents.entries()) {
    const at = { file, document: index + 1 };
    const [error] = document.errors;
    if (error !== undefined) {
      problems.push({ ...at, line: error.linePos?.[0].line ?? 1, message: error.message.split('\n', 1)[0]! });
      continue;
    }
    if (document.contents === null) continue;
    const line = lineOf(lines, document.contents.range?.[0] ?? 0);
    const value: unknown = document.toJS();
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      problems.push({ ...at, line, message: 'not an object' });
      continue;
    }
    const object = value as Record<string, unknown>;
    const items = object['kind'] === 'List' && Array.isArray(object['items']) ? object['items'] : [object];
    for (const item of items) manifests.push({ ...at, line, object: item as Record<string, unknown> });
  }
  return manifests;
}

const lineOf = (lines: LineCounter, offset: number): number => lines.linePos(offset).line;

/** Undefined when it is stored, else what was wrong. */
async function load(
  target: ManifestTarget,
  resources: Resources,
  object: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return 'apiVersion and kind are required';
  const found = await resources.find(apiVersion, kind);
  if (found === undefined) return `no kind "${kind}" is served in version "${apiVersion}"`;
  const metadata = (object['metadata'] ?? {}) as Readonly<Record<string, unknown>>;
  const namespace = typeof metadata['namespace'] === 'string' ? metadata['namespace'] : 'default';
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const collection = found.namespaced
    ? `${root}/namespaces/${namespace}/${found.resource}`
    : `${root}/${found.resource}`;
  const body = JSON.stringify(object);
  const created = await target.fetch(`${collection}?fieldManager=load`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (created.ok) return undefined;
  const status = (await created.json()) as { message?: string; reason?: string };
  if (status.reason !== 'AlreadyExists') return status.message ?? `status ${created.status}`;
  // Loaded before, or there from the start: bring it to what the file says.
  const applied = await target.fetch(`${collection}/${String(metadata['name'])}?fieldManager=load&force=true`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body,
  });
  if (applied.ok) return undefined;
  return ((await applied.json()) as { message?: string }).message ?? `status ${applied.status}`;
}

/** Kinds as discovery knows them; a kind that is missing is looked for again, since a definition may have brought it. */
class Resources {
  readonly #target: ManifestTarget;
  readonly #known = new Map<string, ResourcePath>();

  constructor(target: ManifestTarget) {
    this.#target = target;
  }

  async find(apiVersion: string, kind: string): Promise<ResourcePath | undefined> {
    const key = `${apiVersion}, ${kind}`;
    if (!this.#known.has(key)) await this.#discover(apiVersion);
    return this.#known.get(key);
  }

  async #discover(apiVersion: string): Promise<void> {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const answer = await this.#target.fetch(root);
    if (!answer.ok) {
      await answer.body?.cancel();
      return;
    }
    const { resources } = (await answer.json()) as {
      resources: readonly { name: string; kind: string; namespaced: boolean; verbs: readonly string[] }[];
    };
    for (const { name, kind, namespaced } of resources) {
      if (!name.includes('/')) this.#known.set(`${apiVersion}, ${kind}`, { resource: name, namespaced });
    }
  }
}
