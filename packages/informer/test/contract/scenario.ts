// The words of the scripts and of the transcripts that client-go v0.30.3 left when it was run against them.
import { readFileSync } from 'node:fs';

/** `name@resourceVersion`, with `#uid` where another object of the name is meant, or the parts of it. */
export type ObjectForm =
  | string
  | {
      readonly name: string;
      readonly rv: string;
      readonly namespace?: string;
      readonly kind?: string;
      readonly apiVersion?: string;
      readonly data?: Readonly<Record<string, string>>;
      /** Length of one filling value. */
      readonly bytes?: number;
      readonly omit?: readonly string[];
    };

export interface StatusForm {
  readonly status: number;
  readonly reason?: string;
  readonly message?: string;
  readonly causes?: readonly { readonly reason?: string; readonly message: string }[];
  readonly retryAfterSeconds?: number;
}

export interface EventForm {
  /** After the headers, ms. */
  readonly at?: number;
  /** `TYPE name@rv`, `BOOKMARK @rv`, `BOOKMARK @rv end` or `ERROR code reason text`. */
  readonly ev?: string;
  /** The first half of the frame that `ev` would be. */
  readonly half?: string;
  readonly raw?: string;
  readonly type?: string;
  readonly object?: ObjectForm;
  readonly status?: StatusForm;
  readonly burst?: {
    readonly count: number;
    readonly type: string;
    readonly names: readonly string[];
    readonly startRv: number;
  };
  readonly chunk?: { readonly size: number; readonly gapMs?: number };
}

export interface WatchForm {
  readonly events: readonly (EventForm | string)[];
  /** `fin` and `reset` lose the connection; after `down` the port stays closed for `downMs`. */
  readonly end: 'hang' | 'clean' | 'reset' | 'fin' | 'down';
  readonly endAt?: number;
  readonly downMs?: number;
  readonly headersDelayMs?: number;
  /** null: no Content-Type. */
  readonly contentType?: string | null;
}

export interface ListForm {
  readonly rv: string;
  readonly items: readonly ObjectForm[] | null;
  readonly continue?: string;
  readonly remaining?: number;
  readonly generate?: { readonly count: number; readonly prefix: string; readonly startRv: number };
  readonly kind?: string;
  readonly omitKind?: boolean;
  readonly stripItemKinds?: boolean;
  /** The connection is reset after this part of the body. */
  readonly truncate?: number;
}

export interface AnswerForm extends Partial<StatusForm> {
  readonly delayMs?: number;
  /** null: the header is left out. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** In place of the Status. */
  readonly body?: string;
  readonly contentType?: string;
  readonly list?: ListForm;
  readonly watch?: WatchForm;
  readonly reset?: true;
  readonly close?: true;
}

export interface Rule {
  readonly on: 'list' | 'watch';
  /** A text must be equal, null means absent, `*` any value. */
  readonly match?: Readonly<Record<string, string | null>>;
  /** @defaultValue 1 */
  readonly times?: number | '*';
  readonly answer: AnswerForm;
}

export interface When {
  readonly synced?: boolean;
  /** Of the first handler. */
  readonly calls?: number;
  readonly delayMs?: number;
}

export interface HandlerForm {
  readonly name: string;
  readonly resyncMs?: number;
  readonly slowMs?: number;
  readonly addWhen?: When;
  readonly removeWhen?: When;
}

export interface Scenario {
  readonly why: string;
  readonly driver: {
    readonly mode: 'informer' | 'reflector';
    readonly watchList: boolean | 'default';
    readonly client?: 'typed' | 'dynamic';
    readonly resyncMs?: number;
    readonly pageSize?: number;
    readonly handlers?: readonly HandlerForm[];
  };
  /** The run ends `settleMs` after that many requests, at the latest `maxMs` after the first one. */
  readonly stop: { readonly requests: number; readonly settleMs: number; readonly maxMs: number };
  readonly compare?: { readonly order?: 'total' | 'perKey'; readonly collapseRepeats?: boolean };
  /** The port is closed until then. */
  readonly listenAfterMs?: number;
  readonly rules: readonly Rule[];
}

/** Long lists are kept as their number, a digest and both ends. */
export type Lines =
  | readonly string[]
  | {
      readonly count: number;
      readonly sha256_16: string;
      readonly first: readonly string[];
      readonly last: readonly string[];
    };

/** How long after the last byte of the answer before it a request came; `any` is not judged. */
export type Gap = 'any' | 'now' | '1s' | 'b1' | 'b2' | 'b3';

export interface Transcript {
  readonly stop: 'requests' | 'maxMs';
  /** `gap` is what was measured where it is not what was expected. */
  readonly requests: readonly {
    readonly verb: string;
    readonly query: string;
    readonly accept: string;
    readonly gap: Gap | `${number} ms`;
  }[];
  readonly errors: readonly string[];
  readonly calls: Readonly<Record<string, Lines>>;
  readonly storeOps?: readonly string[];
  readonly handlers?: readonly string[];
  readonly synced: Readonly<Record<string, unknown>>;
  readonly final: {
    readonly store: Lines;
    readonly lastSyncRV: string;
    readonly hasSynced?: boolean;
    readonly handlersSynced?: Readonly<Record<string, boolean>>;
  };
}

function load<T>(file: string): ReadonlyMap<string, T> {
  const text = readFileSync(new URL(`data/${file}`, import.meta.url), 'utf8');
  return new Map(Object.entries(JSON.parse(text) as Record<string, T>));
}

export const scenarios: ReadonlyMap<string, Scenario> = load('scenarios.json');
export const goldens: ReadonlyMap<string, Transcript> = load('goldens-v0.30.3.json');
