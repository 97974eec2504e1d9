// The informers, one per kind, and what they told so far.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DiscoveredResource, Fault, Informer, InformerStatus, KubeClient, StoreEvent } from '@kube-rx/informer';
import { messageOf, shortMessageOf } from './api-error.ts';
import { differences, type Listed } from './compare.ts';
import { GONE_ORIGINS, type GoneOrigin, type Output } from './events.ts';
import { kindName } from './kinds.ts';
import type { InformerRow } from './live-view.ts';

const VERIFY_MS = 30_000;
const RETRY_MS = 100;

/** What discovery can say about the type of an object. */
type AnyObject = NonNullable<DiscoveredResource['objectType']>;

/** One informer and its record. */
class Member {
  readonly kind: string;
  readonly type: DiscoveredResource;
  readonly informer: Informer<AnyObject>;
  readonly goneByOrigin: Record<GoneOrigin, number> = { window: 0, compaction: 0, restart: 0 };
  events = 0;
  relists = 0;
  /** Opened watches; a relist comes before the one that follows it. */
  watches = 0;
  status: InformerStatus = { phase: 'idle' };
  lastBookmark = '';

  constructor(type: DiscoveredResource, informer: Informer<AnyObject>) {
    this.kind = kindName(type);
    this.type = type;
    this.informer = informer;
  }

  get gone(): number {
    return GONE_ORIGINS.reduce((sum, origin) => sum + this.goneByOrigin[origin], 0);
  }

  get objects(): number {
    return this.informer.store.list().length;
  }
}

export class Fleet {
  /** What a "too old" of a watch cache stands for now: both a ring that slid and a cache that began anew say it. */
  cacheOrigin: GoneOrigin = 'window';
  readonly #client: KubeClient;
  readonly #output: Output;
  readonly #members: Member[] = [];

  constructor(client: KubeClient, output: Output) {
    this.#client = client;
    this.#output = output;
  }

  get size(): number {
    return this.#members.length;
  }

  add(type: DiscoveredResource, informer: Informer<AnyObject>): void {
    const member = new Member(type, informer);
    this.#members.push(member);
    informer.events$.subscribe((event) => this.#onEvent(member, event));
    informer.status$.subscribe((status) => this.#onStatus(member, status));
    informer.faults$.subscribe((fault) => this.#onFault(member, fault));
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#members.map(({ informer }) => informer.whenSynced({ signal })));
  }

  rows(): InformerRow[] {
    return this.#members.map((member) => ({
      kind: member.kind,
      objects: member.objects,
      phase: describePhase(member.status),
      resourceVersion: 'resourceVersion' in member.status ? member.status.resourceVersion : '',
      lastBookmark: member.lastBookmark,
      events: member.events,
      relists: member.relists,
      gone: member.gone,
    }));
  }

  totals(): {
    events: number;
    relists: number;
    objects: number;
    gone: number;
    goneByOrigin: Record<GoneOrigin, number>;
  } {
    const sum = (of: (member: Member) => number): number => this.#members.reduce((total, one) => total + of(one), 0);
    const goneByOrigin = { window: 0, compaction: 0, restart: 0 };
    for (const origin of GONE_ORIGINS) goneByOrigin[origin] = sum((member) => member.goneByOrigin[origin]);
    return {
      events: sum(({ events }) => events),
      relists: sum(({ relists }) => relists),
      objects: sum(({ objects }) => objects),
      gone: sum(({ gone }) => gone),
      goneByOrigin,
    };
  }

  /** Counts by kind, to tell afterwards who did what. */
  marks(): ReadonlyMap<string, { readonly relists: number; readonly watches: number; readonly gone: number }> {
    return new Map(
      this.#members.map((one) => [one.kind, { relists: one.relists, watches: one.watches, gone: one.gone }]),
    );
  }

  /** Kinds that are not watching. */
  unwell(): string[] {
    return this.#members.filter(({ status }) => status.phase !== 'watching').map(({ kind }) => kind);
  }

  /** Records a 410 that another request than an informer's got. */
  sawGone(kind: string, verb: string, resourceVersion: string, message: string): void {
    const member = this.#members.find((one) => one.kind === kind);
    const origin = originOf(message, this.cacheOrigin);
    if (member !== undefined) member.goneByOrigin[origin]++;
    this.#output.tell({
      event: 'saw',
      kind,
      fault: 'expired',
      verb,
      resourceVersion,
      code: 410,
      reason: 'Expired',
      message,
      origin,
    });
  }

  /** Compares every cache with a fresh list, again and again until they agree or the time is over. */
  async verify(): Promise<boolean> {
    const results = await Promise.all(this.#members.map((member) => this.#verify(member)));
    return results.every((consistent) => consistent);
  }

  async #verify(member: Member): Promise<boolean> {
    const deadline = Date.now() + VERIFY_MS;
    let found: string[];
    do {
      try {
        const { items } = await this.#client.resource(member.type).list();
        found = differences(member.informer.store.list() as readonly Listed[], items as readonly Listed[]);
      } catch (error) {
        found = [`cannot be listed: ${messageOf(error)}`];
      }
      if (found.length > 0) await sleep(RETRY_MS);
    } while (found.length > 0 && Date.now() < deadline);
    const consistent = found.length === 0;
    this.#output.tell({
      event: 'verified',
      kind: member.kind,
      consistent,
      objects: member.objects,
      differences: found,
    });
    return consistent;
  }

  #onEvent(member: Member, event: StoreEvent<AnyObject>): void {
    if (event.type === 'synced') {
      if (!event.first) member.relists++;
      const { resourceVersion, size: objects } = event;
      this.#output.tell({ event: event.first ? 'synced' : 'relisted', kind: member.kind, resourceVersion, objects });
      return;
    }
    if (event.type === 'added' && event.initial) return;
    member.events++;
    const { name, namespace, resourceVersion } = event.object.metadata;
    this.#output.tell({
      event: 'change',
      kind: member.kind,
      type: event.type,
      cause: event.cause,
      ...(namespace === undefined ? {} : { namespace }),
      name,
      resourceVersion,
    });
  }

  #onStatus(member: Member, status: InformerStatus): void {
    if (status.phase === 'watching') {
      if (member.status.phase !== 'watching') member.watches++;
      const { lastBookmark } = status;
      if (lastBookmark !== undefined) {
        member.lastBookmark = `${lastBookmark.resourceVersion} ${new Date(lastBookmark.at).toISOString().slice(11, 19)}`;
      }
    }
    member.status = status;
  }

  #onFault(member: Member, fault: Fault): void {
    const { status } = fault;
    const message = status?.message ?? (fault.error === undefined ? fault.kind : shortMessageOf(fault.error));
    if (fault.kind === 'expired') {
      member.goneByOrigin[originOf(message, this.cacheOrigin)]++;
    }
    this.#output.tell({
      event: 'saw',
      kind: member.kind,
      fault: fault.kind,
      verb: fault.verb,
      resourceVersion: fault.resourceVersion,
      ...(status?.code === undefined ? {} : { code: status.code }),
      ...(status?.reason === undefined ? {} : { reason: status.reason }),
      message,
      ...(fault.kind === 'expired' ? { origin: originOf(message, this.cacheOrigin) } : {}),
    });
  }
}

/** The words tell etcd's history from a watch cache's; which of its two reasons the cache had, they do not tell. */
export function originOf(message: string, cacheOrigin: GoneOrigin): GoneOrigin {
  return /^too old resource version: \d+ \(\d+\)$/.test(message) ? cacheOrigin : 'compaction';
}

function describePhase(status: InformerStatus): string {
  switch (status.phase) {
    case 'backing-off':
      return `backing off ${(Math.max(status.until - Date.now(), 0) / 1_000).toFixed(1)} s`;
    case 'listing':
      return status.received === 0 ? 'listing' : `listing, ${status.received} so far`;
    default:
      return status.phase;
  }
}
