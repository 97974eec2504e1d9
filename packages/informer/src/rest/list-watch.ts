// List and watch of one resource over the REST client.
// Upstream: client-go@v0.30.3:tools/cache/listwatch.go#ListWatch, rest/request.go#Watch
import type { KubernetesObject, ListOptions } from '@kube-rx/apimachinery';
import { DecodeError, TransportError, UnexpectedStatusCodeError } from '../errors.ts';
import { BodyWatchStream } from './body-watch-stream.ts';
import { contentTypeError, genericStatusError } from './http-status.ts';
import { ListDecoder } from './list-decoder.ts';
import { fillKinds, listResultOf } from './list-result.ts';
import type { ListContext, ListerWatcher, ListResult, WatchContext, WatchStream } from './lister-watcher.ts';
import { emptyWatch } from './lister-watcher.ts';
import { parseMediaType } from './media-type.ts';
import { isProbableEof } from './network-errors.ts';
import { listQuery, resourcePath } from './request-url.ts';
import type { ResourceType } from './resource-type.ts';
import { describeResource } from './resource-type.ts';
import type { RequestSpec, RestClient } from './rest-client.ts';
import type { TransportResponse } from './transport.ts';
import type { Decoding } from './watch-decoder.ts';
import type { WatchListSupport } from './watch-list-support.ts';
import { watchListSupportOf } from './watch-list-support.ts';
import { yieldToEventLoop } from './yield.ts';

export interface ListWatchOptions {
  /** Empty or absent means all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Asks the server for the metadata of the objects alone. @defaultValue false */
  readonly metadataOnly?: boolean | undefined;
  /** @defaultValue `tolerant` */
  readonly decoding?: Decoding | undefined;
  /** Retries below the caller for Retry-After and lost connections. @defaultValue the client's */
  readonly maxRetries?: number | undefined;
  /** Reads the Status of a refused watch; client-go does so since 0.32. @defaultValue true */
  readonly decodeWatchStatus?: boolean | undefined;
  /** @defaultValue 16 MiB */
  readonly maxFrameBytes?: number | undefined;
}

// How much of a body is decoded before the event loop gets a turn.
const SLICE_BYTES = 128 * 1024;
const TURN_BYTES = 512 * 1024;

export class ListWatch<T extends KubernetesObject> implements ListerWatcher<T> {
  readonly #client: RestClient;
  readonly #type: ResourceType<T>;
  readonly #options: ListWatchOptions;
  readonly #decoding: Decoding;

  constructor(client: RestClient, type: ResourceType<T>, options: ListWatchOptions = {}) {
    this.#client = client;
    this.#type = type;
    this.#options = options;
    this.#decoding = options.decoding ?? 'tolerant';
  }

  get watchListSupport(): WatchListSupport {
    return watchListSupportOf(this.#client, describeResource(this.#type));
  }

  async list(options: ListOptions, context: ListContext): Promise<ListResult<T>> {
    const spec = this.#spec(options, 'PartialObjectMetadataList', context.signal);
    const read = async (bounded: RequestSpec): Promise<ListResult<T>> => {
      const response = await this.#client.send(bounded);
      if (response.status < 200 || response.status > 206) {
        throw this.#client.failure(bounded, response, await this.#client.readAll(response), { strict: this.#strict });
      }
      if (this.#strict) this.#requireListType(response);
      return this.#decodeList(response, context, bounded.signal);
    };
    return this.#client.withTimeout(spec, read, { ofSilence: true });
  }

  async watch(options: ListOptions, context: WatchContext): Promise<WatchStream<T>> {
    const spec = this.#spec({ ...options, watch: true }, 'PartialObjectMetadata', context.signal);
    let response: TransportResponse;
    try {
      response = await this.#client.send({ ...spec, purpose: 'watch' });
    } catch (error) {
      const died = isProbableEof(error) || (error instanceof TransportError && error.code === 'TIMEOUT');
      // Upstream gives up on such a connection by pretending that it opened and ended.
      if (died && this.#retries() > 0) return emptyWatch();
      throw error;
    }
    if (response.status !== 200) throw await this.#refused(spec, response);
    this.#requireWatchType(response);
    const { onObject } = context;
    const { maxFrameBytes } = this.#options;
    return new BodyWatchStream<T>(response, this.#type, this.#decoding, { maxFrameBytes, onObject });
  }

  /** Judges answers as client-go does. */
  get #strict(): boolean {
    return this.#decoding !== 'tolerant';
  }

  #requireListType(response: TransportResponse): void {
    const malformed = contentTypeError(response.headers);
    if (malformed !== undefined) {
      response.body.destroy();
      throw malformed;
    }
    // The dynamic client reads whatever comes; a generated one reads YAML as well, and JSON is YAML.
    if (this.#decoding === 'typed') requireType(response, ['application/json', 'application/yaml']);
  }

  #requireWatchType(response: TransportResponse): void {
    // client-go takes a type that it cannot read for its own.
    if (this.#strict && parseMediaType(response.headers['content-type'] ?? '').type === '') return;
    requireType(response, ['application/json']);
  }

  #retries(): number {
    return this.#options.maxRetries ?? 10;
  }

  #spec(options: ListOptions, metadataKind: string, signal: AbortSignal): RequestSpec {
    const { namespace, labelSelector, fieldSelector, metadataOnly } = this.#options;
    return {
      path: resourcePath(this.#type, { namespace }),
      query: listQuery({
        ...options,
        ...(labelSelector === undefined ? {} : { labelSelector }),
        ...(fieldSelector === undefined ? {} : { fieldSelector }),
      }),
      ...(metadataOnly ? { accept: `application/json;as=${metadataKind};g=meta.k8s.io;v=v1,application/json` } : {}),
      signal,
      maxRetries: this.#options.maxRetries,
    };
  }

  async #refused(spec: RequestSpec, response: TransportResponse): Promise<Error> {
    if (response.status > 200 && response.status <= 206) {
      // client-go reads the body before it complains, however long that takes.
      if (this.#strict) await this.#client.readAll(response);
      response.body.destroy();
      const malformed = this.#strict ? contentTypeError(response.headers) : undefined;
      if (malformed !== undefined) return malformed;
      return new UnexpectedStatusCodeError(response.status, `watch of ${spec.path} got status ${response.status}`);
    }
    const body = await this.#client.readAll(response);
    const strict = this.#strict;
    if (this.#options.decodeWatchStatus ?? true) return this.#client.failure(spec, response, body, { strict });
    const malformed = strict ? contentTypeError(response.headers) : undefined;
    if (malformed !== undefined) return malformed;
    const { status: statusCode, headers } = response;
    return genericStatusError({ method: 'GET', url: spec.path, statusCode, headers, body }, { strict });
  }

  async #decodeList(
    response: TransportResponse,
    context: ListContext,
    signal: AbortSignal | undefined,
  ): Promise<ListResult<T>> {
    const items: T[] = [];
    const decoder = new ListDecoder((batch) => {
      // Built-in lists name their kind first, so this is done while the rest is still on its way.
      fillKinds(batch, decoder.head, this.#type, this.#decoding);
      for (const item of batch as T[]) {
        context.onObject?.(item);
        items.push(context.keep === undefined ? item : (context.keep(item) as T));
      }
      context.onItems?.(batch.length);
    });
    try {
      await decodeInSlices(response, decoder);
    } catch (error) {
      response.body.destroy();
      signal?.throwIfAborted();
      throw error;
    }
    if (decoder.empty && this.#decoding === 'typed') throw new DecodeError('EMPTY_BODY', 'list answer is empty');
    return listResultOf(decoder.finish(), items, this.#type, this.#decoding);
  }
}

/** Feeds the decoder piece by piece; the connection rests while a turn's worth is digested. */
function decodeInSlices(response: TransportResponse, decoder: ListDecoder): Promise<void> {
  return new Promise((resolve, reject) => {
    const queue: Uint8Array[] = [];
    let ended = false;
    let draining = false;
    let failed = false;
    let turnBytes = 0;
    const fail = (error: unknown): void => {
      failed = true;
      reject(error);
    };
    const drain = async (): Promise<void> => {
      draining = true;
      for (let chunk = queue.shift(); chunk !== undefined; chunk = queue.shift()) {
        for (let offset = 0; offset < chunk.length; offset += SLICE_BYTES) {
          const slice = chunk.subarray(offset, offset + SLICE_BYTES);
          decoder.push(slice);
          turnBytes += slice.length;
          if (turnBytes < TURN_BYTES) continue;
          response.body.pause();
          await yieldToEventLoop();
          if (failed) return;
          turnBytes = 0;
          response.body.resume();
        }
      }
      draining = false;
      if (ended) resolve();
    };
    response.body.consume({
      data(chunk) {
        if (failed) return;
        queue.push(chunk);
        if (!draining) drain().catch(fail);
      },
      end() {
        ended = true;
        if (!draining && !failed) resolve();
      },
      error: fail,
    });
  });
}

/** Gives up an answer of another type; one without a type is taken for the right one. */
function requireType(response: TransportResponse, accepted: readonly string[]): void {
  const contentType = response.headers['content-type'] ?? '';
  if (contentType === '' || accepted.includes(parseMediaType(contentType).type)) return;
  response.body.destroy();
  throw new DecodeError('BAD_CONTENT_TYPE', `the answer is ${JSON.stringify(contentType)}, not JSON`);
}
