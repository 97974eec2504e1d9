// What was recorded from kube-apiserver v1.30.3: per case the steps that were played and what the server said to each.
// data/<area>.json holds one case a line.
import { readdirSync, readFileSync } from 'node:fs';
import type { Json } from './json.ts';

const FOLDER = new URL('./data/', import.meta.url);

/** Header values of a step; null takes a header away that every request has otherwise. */
export type StepHeaders = Readonly<Record<string, string | null>>;

export interface RequestStep {
  readonly method?: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, Json>>;
  readonly headers?: StepHeaders;
  readonly body?: Json;
  readonly raw?: string;
  readonly base64?: string;
  /** The transport; whatever the run uses when absent. */
  readonly http?: '1.1' | '2';
  readonly capture?: Readonly<Record<string, string>>;
}

/** How much of an answer is compared. */
export interface Scope {
  readonly record?: 'status' | 'headers';
  readonly keep?: readonly string[];
  readonly drop?: readonly string[];
  readonly textLimit?: number;
  readonly recordHeaders?: readonly string[];
  readonly framing?: boolean;
  readonly tookAtLeastMs?: number;
  readonly tookAtMostMs?: number;
}

/** How versions and order are compared. */
export interface Comparison {
  readonly listRV?: 'exact';
  readonly sort?: true | number;
  readonly sortItems?: boolean;
  readonly sortCauses?: boolean;
}

export interface Until {
  readonly status?: number;
  readonly pointer?: string;
  readonly equals?: Json;
  readonly absent?: boolean;
}

export interface EventsStep {
  readonly do: 'events';
  readonly id: string;
  readonly n?: number;
  readonly until?: 'closed';
  readonly timeout?: number;
  readonly quiet?: number;
  readonly capture?: Readonly<Record<string, string>>;
  readonly keep?: readonly string[];
  readonly countOnly?: boolean;
  readonly collapseBookmarks?: boolean;
  readonly dropBookmarks?: boolean;
  readonly fewerThan?: number;
  readonly atLeastMs?: number;
  readonly atMostMs?: number;
}

export interface WatchStep extends RequestStep {
  readonly do: 'watch';
  readonly id: string;
  readonly transport?: 'ws';
  readonly protocols?: string;
  readonly recordHeaders?: readonly string[];
}

export type Step = Comparison &
  (
    | (RequestStep & Scope & { readonly do?: 'request'; readonly background?: string })
    | (RequestStep & Scope & { readonly do: 'poll'; readonly until: Until; readonly timeout?: number })
    | (RequestStep & { readonly do: 'writes'; readonly count: number })
    | (Scope & { readonly do: 'await'; readonly id: string })
    | WatchStep
    | EventsStep
    | { readonly do: 'close' | 'pause' | 'resume'; readonly id: string }
    | { readonly do: 'let'; readonly vars: Readonly<Record<string, string>> }
    | { readonly do: 'sleep'; readonly ms: number | string }
    | { readonly do: 'compact'; readonly rev: string }
    | { readonly do: 'restart' }
  );

/** What a step that says something said; `step` is its place in the case. */
export interface Outcome {
  readonly step: number;
  readonly [field: string]: Json;
}

export interface RecordedCase {
  readonly area: string;
  readonly name: string;
  readonly needs: readonly string[];
  readonly vars: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
  readonly golden: readonly Outcome[];
}

type Stored = Omit<RecordedCase, 'area' | 'name' | 'needs' | 'vars'> & Partial<Pick<RecordedCase, 'needs' | 'vars'>>;

export function recordedAreas(): string[] {
  return readdirSync(FOLDER)
    .map((file) => file.replace(/\.json$/, ''))
    .sort();
}

export function recordedCases(area: string): RecordedCase[] {
  const text = readFileSync(new URL(`${area}.json`, FOLDER), 'utf8');
  const { cases } = JSON.parse(text) as { readonly cases: Readonly<Record<string, Stored>> };
  return Object.entries(cases).map(([name, stored]) => ({ needs: [], vars: {}, ...stored, area, name }));
}
