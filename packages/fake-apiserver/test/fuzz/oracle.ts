// What must hold for every answer, whatever was asked.
import type { FakeApiServer } from '../../src/index.ts';
import { CRD, SEEDS, type Seed } from './objects.ts';
import type { FuzzRequest } from './requests.ts';

/** The 5xx that the real server gives too, by message, with the reason. */
const KNOWN: readonly { readonly message: RegExp; readonly reason: string }[] = [
  { message: /without impersonating a user/, reason: 'bare text of the impersonation filter' },
  {
    message: /no kind "+\w+"+ is registered for version "/,
    reason: 'DeleteOptions of another kind, decoded without a wrapper',
  },
  { message: /couldn''?t get version.kind; json parse error/, reason: 'DeleteOptions that are no object, the same' },
  { message: /failed to create typed patch object/, reason: 'apply of what the schema does not know is a plain error' },
  {
    message: /: strconv.ParseUint: parsing "/,
    reason: 'resource versions of the cacher are judged too late for a 400',
  },
  { message: /into Go struct field DeleteOptions\./, reason: 'DeleteOptions with a field of another type, the same' },
  {
    message: /unable to find api field in struct /,
    reason: 'a directive of a strategic merge for a field that is not there',
  },
  { message: /but data type is not struct/, reason: 'a directive of a strategic merge in a map' },
  { message: /list element types are not identical/, reason: 'a strategic merge of mixed lists is a plain error' },
  { message: /unknown patch type: /, reason: 'a directive of a strategic merge that is none' },
  { message: /does not contain declared merge key/, reason: 'an item of a strategic merge without its key' },
  { message: /context deadline exceeded/, reason: '503: a watch whose timeoutSeconds is below zero' },
  { message: /no kubelet runs for nodes/, reason: '503: a proxy without anybody behind it' },
  { message: /no endpoints available for service/, reason: '503: the same' },
  { message: /mvcc: required revision is a future revision/, reason: 'an error of etcd is passed on' },
];

const READS = ['application/json', 'application/yaml', 'application/json;as=Table;v=v1;g=meta.k8s.io'];

/** Watches what the process and the server's log say. */
export class Oracle {
  readonly server: FakeApiServer;
  readonly #complaints: string[];

  constructor(server: FakeApiServer, complaints: string[]) {
    this.server = server;
    this.#complaints = complaints;
  }

  /** Makes the namespace, the CRD and an object of every kind where they are not there. */
  async prepare(): Promise<void> {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fuzz' } };
    for (const seed of [{ collection: '/api/v1/namespaces', object: namespace }, CRD, ...SEEDS]) await this.#make(seed);
  }

  async #make({ collection, object }: Seed): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const answer = await this.server.fetch(collection, { method: 'POST', headers, body: JSON.stringify(object) });
    const text = await answer.text();
    if (answer.status !== 201 && answer.status !== 409) throw new Error(`${collection}: ${text}`);
  }

  /** Sends the request; resolves to what is wrong with the answer. */
  async judge({ method, path, headers, body }: FuzzRequest): Promise<string | undefined> {
    const init = {
      method,
      headers,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : Buffer.from(body) }),
    };
    const answer = await this.server.fetch(path, init);
    const wrong = this.#complaint();
    if (wrong !== undefined) return wrong;
    if (answer.ok) {
      await (/[?&]watch=|\/watch\//.test(path) ? answer.body?.cancel() : answer.arrayBuffer());
      return this.#complaint();
    }
    const text = await answer.text();
    const plain = text.replace(/\s+/g, ' ').replaceAll('\\"', '"');
    if (answer.status >= 500 && !KNOWN.some(({ message }) => message.test(plain))) return `${answer.status} ${text}`;
    if (answer.headers.get('content-type') !== 'application/json') return undefined;
    const status = JSON.parse(text) as { status?: unknown; code?: unknown };
    return status.status === 'Failure' && status.code === answer.status ? undefined : `no Status: ${text}`;
  }

  #complaint(): string | undefined {
    if (({} as Record<string, unknown>)['polluted'] !== undefined) return 'Object.prototype is polluted';
    return this.#complaints.splice(0)[0];
  }

  /** Lists every collection and reads every object in it; resolves to what cannot be read. */
  async unreadable(): Promise<string | undefined> {
    for (const { collection } of SEEDS) {
      const answer = await this.server.fetch(collection);
      const text = await answer.text();
      if (answer.status !== 200) return `${collection}: ${text}`;
      for (const item of (JSON.parse(text) as { items: { metadata: { name: string } }[] }).items) {
        for (const accept of READS) {
          const path = `${collection}/${item.metadata.name}`;
          const one = await this.server.fetch(path, { headers: { accept } });
          if (one.status !== 200) return `${path}: ${await one.text()}`;
          await one.arrayBuffer();
        }
      }
    }
    return this.#complaint();
  }
}
