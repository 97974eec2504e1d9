// What a run tells: one union for the JSON lines, the plain lines and the live view.

/** Which history was too short: the ring of a watch cache, etcd's after a compaction, that of a cache which began anew. */
export type GoneOrigin = 'window' | 'compaction' | 'restart';
export const GONE_ORIGINS: readonly GoneOrigin[] = ['window', 'compaction', 'restart'];

export type FaultName = 'connection-cut' | 'window-slid' | 'compaction-watch' | 'compaction-list' | 'restart';

export type BoundaryEvent =
  | {
      readonly event: 'started';
      readonly server: string;
      readonly version: string;
      /** What the informers connect to: a port in front of the server that can be cut. */
      readonly through?: string;
      readonly kubeconfig?: string;
    }
  | { readonly event: 'problem'; readonly message: string }
  | { readonly event: 'loaded'; readonly objects: number; readonly kinds: number; readonly problems: number }
  | {
      readonly event: 'synced' | 'relisted';
      readonly kind: string;
      readonly resourceVersion: string;
      readonly objects: number;
    }
  | {
      readonly event: 'change';
      readonly kind: string;
      readonly type: 'added' | 'updated' | 'deleted';
      readonly cause: string;
      readonly namespace?: string;
      readonly name: string;
      readonly resourceVersion: string;
    }
  | { readonly event: 'fault'; readonly fault: FaultName; readonly what: string }
  | {
      readonly event: 'saw';
      readonly kind: string;
      /** The informer's word for it. */
      readonly fault: string;
      readonly verb: string;
      readonly resourceVersion: string;
      readonly code?: number;
      readonly reason?: string;
      readonly message: string;
      readonly origin?: GoneOrigin;
    }
  | {
      readonly event: 'recovered';
      readonly fault: FaultName;
      readonly seconds: number;
      readonly relisted: readonly string[];
      readonly resumed: number;
    }
  | { readonly event: 'not-recovered'; readonly fault: FaultName; readonly message: string }
  | {
      readonly event: 'verified';
      readonly kind: string;
      readonly consistent: boolean;
      readonly objects: number;
      readonly differences: readonly string[];
    };

/** The last line. */
export interface Summary {
  /** Every cache equals a fresh list. */
  readonly consistent: boolean;
  readonly informers: number;
  /** Objects in all caches. */
  readonly objects: number;
  /** Changes the informers told. */
  readonly events: number;
  /** Lists after the first of each informer. */
  readonly relists: number;
  /** Times the client was told that a resource version is too old. */
  readonly gone: number;
  readonly goneByOrigin: Readonly<Record<GoneOrigin, number>>;
  /** How often each fault was played, and how often the informers were all well afterwards. */
  readonly faults: Readonly<Record<FaultName, number>>;
  readonly recoveries: number;
  readonly manifestProblems: number;
  readonly seconds: number;
}

/** Where a run tells what happens. */
export interface Output {
  tell(event: BoundaryEvent): void;
  /** The last call. */
  end(summary: Summary): void;
}
