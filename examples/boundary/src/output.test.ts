import { describe, expect, it } from 'vitest';
import { differences, type Listed } from './compare.ts';
import type { BoundaryEvent, Summary } from './events.ts';
import { originOf } from './fleet.ts';
import { describeEvent, describeSummary } from './format.ts';
import { jsonOutput, plainOutput } from './line-output.ts';
import { clip, LiveView, tableLines } from './live-view.ts';

const NOW = (): Date => new Date('2024-05-06T07:08:09.123Z');
const SUMMARY: Summary = {
  consistent: true,
  informers: 2,
  objects: 5,
  events: 9,
  relists: 1,
  gone: 1,
  goneByOrigin: { window: 1, compaction: 0, restart: 0 },
  faults: { 'connection-cut': 1, 'window-slid': 1, 'compaction-watch': 0, 'compaction-list': 0, restart: 0 },
  recoveries: 2,
  manifestProblems: 0,
  seconds: 12.3,
};
const SAW: BoundaryEvent = {
  event: 'saw',
  kind: 'configmaps',
  fault: 'expired',
  verb: 'watch',
  resourceVersion: '5',
  code: 410,
  reason: 'Expired',
  message: 'too old resource version: 5 (9)',
  origin: 'window',
};

function withoutEscapes(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  return text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '');
}

describe('line outputs', () => {
  it('write each event as a line of JSON and the summary as the last', () => {
    const lines: string[] = [];
    const output = jsonOutput((text) => lines.push(text), NOW);
    output.tell(SAW);
    output.end(SUMMARY);
    expect(JSON.parse(lines[0]!)).toEqual({ time: '2024-05-06T07:08:09.123Z', ...SAW });
    expect(JSON.parse(lines[1]!)).toEqual(SUMMARY);
    expect(lines.every((line) => line.endsWith('\n') && line.indexOf('\n') === line.length - 1)).toBe(true);
  });

  it('write words for people', () => {
    const lines: string[] = [];
    const output = plainOutput((text) => lines.push(text), NOW);
    output.tell(SAW);
    output.end(SUMMARY);
    expect(lines[0]).toBe(
      '07:08:09.123 saw      configmaps watch from 5: 410 Expired "too old resource version: 5 (9)" [window]\n',
    );
    expect(lines[1]).toContain('CONSISTENT: 2 informers, 5 objects, 9 changes seen, 1 relist, 410 1 times');
  });

  it('have words for a recovery and for a difference', () => {
    expect(describeEvent({ event: 'recovered', fault: 'restart', seconds: 1.24, relisted: ['pods'], resumed: 3 })).toBe(
      'RECOVERED from restart in 1.2 s: 3 resumed their watch, listed again: pods',
    );
    expect(
      describeEvent({ event: 'verified', kind: 'pods', consistent: false, objects: 1, differences: ['a is missing'] }),
    ).toBe('verified pods: DIFFERS; a is missing');
    expect(describeSummary({ ...SUMMARY, consistent: false })).toMatch(/^INCONSISTENT/);
  });
});

describe('LiveView', () => {
  it('shows a row per informer, keeps within the screen and gives the cursor back', () => {
    let screen = '';
    const rows = [
      {
        kind: 'configmaps',
        objects: 12,
        phase: 'watching',
        resourceVersion: '345',
        lastBookmark: '340 07:08:09',
        events: 7,
        relists: 1,
        gone: 1,
      },
    ];
    const view = new LiveView({ write: (text) => (screen += text), columns: 60, rows: 12 }, () => rows);
    try {
      for (let index = 0; index < 30; index++)
        view.tell({ event: 'problem', message: `problem ${index} ${'x'.repeat(80)}` });
      screen = '';
      view.draw();
      const shown = withoutEscapes(screen).split('\n');
      expect(shown.length).toBeLessThanOrEqual(12);
      expect(Math.max(...shown.map((line) => line.length))).toBeLessThanOrEqual(60);
      expect(shown.join('\n')).toContain('configmaps');
      expect(shown.join('\n')).toContain('problem 29');
      expect(shown.join('\n')).not.toContain('problem 3 ');
    } finally {
      view.end(SUMMARY);
    }
    expect(screen).toContain('\x1b[?25h');
    expect(screen.trimEnd().endsWith('12 s\x1b[0m')).toBe(true);
  });

  it('lines up columns', () => {
    const row = { objects: 1, phase: 'listing', resourceVersion: '', lastBookmark: '', events: 0, relists: 0, gone: 0 };
    const lines = tableLines([
      { kind: 'a', ...row },
      { kind: 'deployments.apps', ...row },
    ]).map(withoutEscapes);
    expect(new Set(lines.map((line) => line.length)).size).toBe(1);
  });

  it('cuts text by what is seen of it', () => {
    expect(clip('\x1b[31mred and long\x1b[0m', 3)).toBe('\x1b[31mred\x1b[0m');
  });
});

describe('differences', () => {
  const object = (name: string, resourceVersion: string, more: object = {}): Listed => ({
    metadata: { name, namespace: 'n', uid: 'u', resourceVersion },
    ...more,
  });

  it('finds none between equal sets in any order, with or without kind', () => {
    const cached = [object('a', '1', { data: { x: '1', y: '2' } }), object('b', '2', { kind: 'K', apiVersion: 'v1' })];
    expect(differences(cached, [object('b', '2'), object('a', '1', { data: { y: '2', x: '1' } })])).toEqual([]);
  });

  it('names what is missing, old, different and too much', () => {
    const cached = [object('old', '1'), object('odd', '3', { data: 1 }), object('extra', '4')];
    const listed = [object('old', '2'), object('odd', '3', { data: 2 }), object('new', '5')];
    expect(differences(cached, listed)).toEqual([
      'n/old is at 1, not 2',
      'n/odd has another content',
      'n/new is missing',
      'n/extra should not be there',
    ]);
  });
});

describe('originOf', () => {
  it("tells a watch cache's words from etcd's", () => {
    expect(originOf('too old resource version: 1 (143)', 'window')).toBe('window');
    expect(originOf('too old resource version: 1 (143)', 'restart')).toBe('restart');
    expect(originOf('The resourceVersion for the provided watch is too old.', 'window')).toBe('compaction');
    expect(originOf('The provided continue parameter is too old to display a consistent list result.', 'restart')).toBe(
      'compaction',
    );
  });
});
