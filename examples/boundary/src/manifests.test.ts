import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeOrigin, parseManifests, readManifests } from './manifests.ts';
import { UsageError } from './options.ts';

const GOOD = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: good\n';

describe('parseManifests', () => {
  it('reads several documents, skips empty ones and knows where each begins', () => {
    const { objects, problems } = parseManifests(
      `# head\n---\n${GOOD}---\n---\n# only a comment\n---\n${GOOD}`,
      'a.yaml',
    );
    expect(problems).toEqual([]);
    expect(objects.map(({ origin }) => describeOrigin(origin))).toEqual([
      'a.yaml: document 1, line 3',
      'a.yaml: document 4, line 11',
    ]);
  });

  it('names a broken document with its line and reads the others', () => {
    const { objects, problems } = parseManifests(`${GOOD}---\nkind: [Pod\nmetadata: {}\n---\n${GOOD}`, 'b.yaml');
    expect(objects).toHaveLength(2);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.origin).toMatchObject({ file: 'b.yaml', document: 2 });
    expect(problems[0]?.origin.line).toBeGreaterThan(5);
    expect(problems[0]?.message).toMatch(/^not YAML: /);
    expect(problems[0]?.message).not.toContain('\n');
  });

  it.each([
    ['just text', /it has no fields/],
    ['- a\n- b', /it has no fields/],
    ['kind: Pod\nmetadata: {name: a}', /apiVersion is missing/],
    ['apiVersion: v1\nmetadata: {name: a}', /kind is missing/],
    ['apiVersion: v1\nkind: Pod', /Pod without metadata$/],
    ['apiVersion: v1\nkind: Pod\nmetadata: {labels: {}}', /without metadata.name/],
    ['apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: 5}', /namespace that is no string/],
    ['a: 1\na: 2', /not YAML: Map keys must be unique/],
    ['a: *nowhere', /not YAML: Unresolved alias/],
  ])('says why %j is no object', (text, message) => {
    const { objects, problems } = parseManifests(text, 'c.yaml');
    expect(objects).toEqual([]);
    expect(problems.map((problem) => problem.message)).toEqual([expect.stringMatching(message)]);
  });

  it('takes lists apart, and reads JSON', () => {
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }, 5],
    };
    const { objects, problems } = parseManifests(JSON.stringify(list), 'd.json');
    expect(objects.map(({ object }) => object.metadata.name)).toEqual(['a']);
    expect(problems).toHaveLength(1);
  });

  it('reads scalars as Kubernetes does', () => {
    const text = `${GOOD}data:\n  mode: 0644\n  yes: yes\n  time: 12:30:45\n  date: 2024-01-01\n  port: 80:80\n`;
    expect(parseManifests(text, 'e.yaml').objects[0]?.object['data']).toEqual({
      mode: 0o644,
      true: true,
      time: '12:30:45',
      date: '2024-01-01',
      port: '80:80',
    });
  });

  it('keeps a key that could reach the prototype as plain data', () => {
    const { objects } = parseManifests(`${GOOD}data:\n  __proto__:\n    polluted: true\n`, 'f.yaml');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.keys(objects[0]?.object['data'] as object)).toEqual(['__proto__']);
  });

  it('stops at an alias bomb', () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `l${level + 1}: &l${level + 1} [${Array(9).fill(`*l${level}`).join(',')}]`,
    );
    const { problems } = parseManifests(`l0: &l0 [x]\n${levels.join('\n')}\n`, 'g.yaml');
    expect(problems[0]?.message).toMatch(/Excessive alias count/);
  });

  it('finds nothing in an empty file', () => {
    expect(parseManifests('', 'h.yaml')).toEqual({ objects: [], problems: [] });
  });
});

describe('readManifests', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'boundary-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('reads the manifests of a folder in order and nothing else', () => {
    writeFileSync(join(folder, 'b.yml'), GOOD.replace('good', 'second'));
    writeFileSync(join(folder, 'a.yaml'), GOOD.replace('good', 'first'));
    writeFileSync(join(folder, 'notes.txt'), 'kind: nothing');
    expect(readManifests([folder]).objects.map(({ object }) => object.metadata.name)).toEqual(['first', 'second']);
  });

  it('refuses what is not there, and a folder without manifests', () => {
    expect(() => readManifests([join(folder, 'missing.yaml')])).toThrow(UsageError);
    expect(() => readManifests([join(folder, 'missing.yaml')])).toThrow(/cannot read .*missing.yaml: no such file/);
    expect(() => readManifests([folder])).toThrow(/no manifests in the folder/);
  });

  it('finds no fault in the samples of this example', () => {
    const { objects, problems } = readManifests([fileURLToPath(new URL('../manifests', import.meta.url))]);
    expect(problems).toEqual([]);
    expect(objects.length).toBeGreaterThanOrEqual(23);
    expect(new Set(objects.map(({ object }) => object.kind)).size).toBeGreaterThanOrEqual(10);
  });
});
