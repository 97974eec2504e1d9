// The faults of the boundary, each a small scene: what is done to the informers, and what must come of it.

import { setTimeout as sleep } from 'node:timers/promises';
import type { DiscoveredResource, KubeClient, ResourceType } from '@kube-rx/informer';
import { messageOf, reasonOf } from './api-error.ts';
import type { Changes } from './changes.ts';
import type { FaultName, GoneOrigin, Output } from './events.ts';
import type { Fleet } from './fleet.ts';
import { count } from './format.ts';
import type { Network } from './network.ts';
import type { OwnServer } from './own-server.ts';
import type { ConfigMapObject } from './sample-objects.ts';

export interface Stage {
  readonly server: OwnServer;
  readonly network: Network;
  readonly fleet: Fleet;
  readonly changes: Changes;
  readonly output: Output;
  readonly configMaps: ResourceType<ConfigMapObject>;
  readonly events: DiscoveredResource;
  readonly signal: AbortSignal;
}

export interface Scene {
  readonly fault: FaultName;
  /** Plays the fault; resolves when the way is clear for the informers. */
  play(stage: Stage): Promise<void>;
  /** Every watch breaks and has to be opened again. */
  readonly cuts: boolean;
  /** The 410 that must have been seen, and by which kinds; undefined when none may be needed. */
  readonly origin: GoneOrigin | undefined;
  readonly gone: readonly string[];
}

const RECOVERY_MS = 20_000;
const POLL_MS = 20;
const PAGES = 5;
const BURST_NAME = 'tide-log';
let played = 0;

/** The ones that bring a 410 come first, so that a short run has met each origin. */
export const SCENES: readonly Scene[] = [
  {
    fault: 'window-slid',
    cuts: true,
    origin: 'window',
    gone: ['configmaps'],
    async play({ server, network, changes, output, configMaps, signal }) {
      const release = await changes.hold();
      network.down();
      try {
        const writes = server.ringCapacity * 2;
        const what = `${writes} updates of one config map while the informers are cut off; the ring of the watch cache keeps ${server.ringCapacity}`;
        output.tell({ event: 'fault', fault: 'window-slid', what });
        await burst(server.client, configMaps, writes, signal);
      } finally {
        network.up();
        release();
      }
    },
  },
  {
    fault: 'compaction-watch',
    cuts: true,
    origin: 'compaction',
    gone: ['events'],
    async play({ server, network, changes, output, configMaps, events, signal }) {
      const release = await changes.hold();
      network.down();
      try {
        await addEvent(server.client, events, signal);
        await burst(server.client, configMaps, 2, signal);
        const revision = await server.compact();
        const what = `etcd compacted at ${revision} while the informers are cut off; events have no watch cache, so their watch meets it`;
        output.tell({ event: 'fault', fault: 'compaction-watch', what });
      } finally {
        network.up();
        release();
      }
    },
  },
  {
    fault: 'compaction-list',
    cuts: false,
    origin: 'compaction',
    gone: [],
    async play({ server, fleet, output, configMaps, signal }) {
      const what = `etcd compacted between two pages of a list of config maps`;
      output.tell({ event: 'fault', fault: 'compaction-list', what });
      await ensureConfigMaps(server.client, configMaps, PAGES, signal);
      const resource = server.client.resource(configMaps, 'default');
      let listedAt = '';
      try {
        for await (const page of resource.pages({ pageSize: 1, signal })) {
          if (listedAt === '') {
            await burst(server.client, configMaps, 2, signal);
            await server.compact();
          }
          listedAt = page.resourceVersion;
        }
      } catch (error) {
        if (reasonOf(error) !== 'Expired') throw error;
        fleet.sawGone('configmaps', 'list', listedAt, messageOf(error));
        const { items, resourceVersion } = await resource.list({ signal });
        output.tell({ event: 'relisted', kind: 'configmaps', resourceVersion, objects: items.length });
      }
    },
  },
  {
    fault: 'restart',
    cuts: true,
    origin: 'restart',
    gone: ['configmaps'],
    async play({ server, fleet, changes, output, network, configMaps, signal }) {
      const release = await changes.hold();
      fleet.cacheOrigin = 'restart';
      network.down();
      try {
        await burst(server.client, configMaps, 2, signal);
        await server.restart();
        const what =
          'the server stopped and started again on the same data; its watch caches begin anew and know nothing older';
        output.tell({ event: 'fault', fault: 'restart', what });
      } finally {
        network.up();
        release();
      }
    },
  },
  {
    fault: 'connection-cut',
    cuts: true,
    origin: undefined,
    gone: [],
    async play({ network, output }) {
      const connections = network.cut();
      const what = `${count(connections, 'connection')} reset; the server still has every event, so the watches just resume`;
      output.tell({ event: 'fault', fault: 'connection-cut', what });
    },
  },
];

/** Plays a scene and waits until every informer is well again. False when one is not within the time. */
export async function playScene(scene: Scene, stage: Stage): Promise<boolean> {
  const { fleet, output, signal } = stage;
  const before = fleet.marks();
  const goneBefore = fleet.totals().goneByOrigin;
  const startedAt = Date.now();
  await scene.play(stage);
  let missing: string[];
  for (;;) {
    signal.throwIfAborted();
    const now = fleet.marks();
    const notTold = scene.gone.filter((kind) => now.has(kind) && now.get(kind)!.gone === before.get(kind)!.gone);
    // Without this one, a cut that an informer has not noticed yet would count as healed.
    const notCut = scene.cuts
      ? [...now.keys()].filter((kind) => now.get(kind)!.watches === before.get(kind)!.watches)
      : [];
    const notSeen =
      scene.origin !== undefined && fleet.totals().goneByOrigin[scene.origin] === goneBefore[scene.origin]
        ? ['410']
        : [];
    missing = [...new Set([...fleet.unwell(), ...notTold, ...notCut, ...notSeen])];
    if (missing.length === 0 || Date.now() - startedAt > RECOVERY_MS) break;
    await sleep(POLL_MS, undefined, { signal });
  }
  fleet.cacheOrigin = 'window';
  if (missing.length > 0) {
    const message = `after ${RECOVERY_MS / 1_000} s still waiting for ${missing.join(', ')}`;
    output.tell({ event: 'not-recovered', fault: scene.fault, message });
    return false;
  }
  const kinds = [...fleet.marks()];
  const relisted = kinds.filter(([kind, { relists }]) => relists > before.get(kind)!.relists).map(([kind]) => kind);
  const rewatched = kinds.filter(([kind, { watches }]) => watches > before.get(kind)!.watches).map(([kind]) => kind);
  output.tell({
    event: 'recovered',
    fault: scene.fault,
    seconds: (Date.now() - startedAt) / 1_000,
    relisted,
    resumed: rewatched.filter((kind) => !relisted.includes(kind)).length,
  });
  return true;
}

/** So many config maps that a list of them has pages. */
async function ensureConfigMaps(
  client: KubeClient,
  type: ResourceType<ConfigMapObject>,
  count: number,
  signal: AbortSignal,
): Promise<void> {
  for (let index = 1; index <= count; index++) {
    const metadata = { name: `tide-page-${index}`, namespace: 'default' };
    try {
      await client.resource(type).create({ apiVersion: 'v1', kind: 'ConfigMap', metadata }, { signal });
    } catch (error) {
      if (reasonOf(error) !== 'AlreadyExists') throw error;
    }
  }
}

/** Updates one config map again and again. */
async function burst(
  client: KubeClient,
  type: ResourceType<ConfigMapObject>,
  writes: number,
  signal: AbortSignal,
): Promise<void> {
  const resource = client.resource(type);
  const ref = { name: BURST_NAME, namespace: 'default' };
  try {
    await resource.get(ref, { signal });
  } catch (error) {
    if (reasonOf(error) !== 'NotFound') throw error;
    await resource.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: ref }, { signal });
  }
  for (let write = 0; write < writes; write++) {
    await resource.patch(ref, { data: { reading: String(++played) } }, { signal });
  }
}

async function addEvent(client: KubeClient, type: DiscoveredResource, signal: AbortSignal): Promise<void> {
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { generateName: 'tide-log-', namespace: 'default' },
    involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: BURST_NAME, namespace: 'default' },
    reason: 'Tide',
    message: `reading ${played}`,
    type: 'Normal',
  };
  await client.resource(type).create(event, { signal });
}
