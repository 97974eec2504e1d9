// A watch: decides how long, in which form and over which transport; watch-server.ts serves it.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/watch.go#serveWatchHandler
import { newMethodNotSupported, newServiceUnavailable, statusOf } from '@kube-rx/apimachinery';
import type { ListCall, ResourceStore } from '../../registry/rest.ts';
import type { EndpointsContext, Exchange } from '../exchange.ts';
import type { DecodedListOptions } from '../list-options-codec.ts';
import { type NegotiatedMediaType, requireStream } from '../negotiation.ts';
import type { ObjectEncoder } from '../object-encoder.ts';
import { watchEncoder } from '../transform.ts';
import { serveWatch, type WatchSink } from '../watch-server.ts';

const NANOSECONDS = 1_000_000_000n;

/** Upstream counts nanoseconds in 64 bits, so that very many seconds come round to few, or to less than none. */
const secondsAsMs = (seconds: bigint): number => Number(BigInt.asIntN(64, seconds * NANOSECONDS)) / 1_000_000;

/** Exactly what was asked for; otherwise drawn between the minimum and twice of it, so that watches do not end together. */
export function watchTimeoutMs(
  timeoutSeconds: bigint | undefined,
  minRequestTimeoutMs: number,
  random: () => number,
): number {
  if (timeoutSeconds !== undefined && timeoutSeconds !== 0n) return secondsAsMs(timeoutSeconds);
  return minRequestTimeoutMs * (1 + random());
}

export async function handleWatch(
  server: EndpointsContext,
  exchange: Exchange,
  store: ResourceStore,
  negotiated: NegotiatedMediaType,
  options: DecodedListOptions,
  call: ListCall,
): Promise<void> {
  const { request, response, ctx } = exchange;
  const { info } = store;
  if (!info.verbs.includes('watch'))
    throw newMethodNotSupported({ group: info.group, resource: info.resource }, 'watch');
  if (server.shutdown.begun) throw newServiceUnavailable('apiserver is shutting down');
  const timeoutMs = watchTimeoutMs(options.timeoutSeconds, server.minRequestTimeoutMs, server.random);
  if (timeoutMs <= 0) throw newServiceUnavailable('context deadline exceeded');
  const watch = await store.watch(ctx, {
    ...call,
    allowWatchBookmarks: options.allowWatchBookmarks,
    sendInitialEvents: sendInitialEvents(server, options),
    deadlineMs: server.clock.now() + timeoutMs,
  });
  let sink: WatchSink | undefined;
  let encoder: ObjectEncoder;
  try {
    requireStream(negotiated);
    encoder = watchEncoder(store, negotiated, request.query);
    sink = await openSink(exchange, encoder);
  } catch (error) {
    watch.stop();
    throw error;
  }
  if (sink === undefined) {
    watch.stop();
    return;
  }
  await serveWatch({
    watch,
    sink,
    encoder,
    clock: server.clock,
    timeoutMs,
    signal: request.signal,
    shutdown: server.shutdown,
    // Upstream counts what goes over HTTP only.
    metrics: request.upgrade === undefined ? server.watchMetrics?.(info) : undefined,
    onError: (error) => {
      // A form that events do not have is the client's mistake, anything else is ours.
      const level = statusOf(error) === undefined ? 'error' : 'warn';
      server.logger[level]('unable to encode watch object', { resource: info.resource, error });
    },
  });
  if (!response.headersSent) response.abort();
}

// The switch for those who expect that an empty resourceVersion streams from now on.
function sendInitialEvents(server: EndpointsContext, options: DecodedListOptions): boolean | undefined {
  if (options.sendInitialEvents !== undefined) return options.sendInitialEvents;
  const fromNow = server.emptyResourceVersionWatch === 'from-now' && options.resourceVersion === '';
  return fromNow ? false : undefined;
}

async function openSink(exchange: Exchange, encoder: ObjectEncoder): Promise<WatchSink | undefined> {
  const { request, response } = exchange;
  if (request.upgrade !== undefined) {
    const socket = await request.upgrade.accept(response);
    if (socket === undefined) return undefined;
    const binary = encoder.contentType !== 'application/json';
    let closed = false;
    socket.onClose(() => {
      closed = true;
    });
    return {
      write: (frame) => !closed && socket.send(encoder.message(frame), binary),
      onDrain: (listener) => socket.onDrain(listener),
      end: () => socket.close(),
    };
  }
  response.setHeader('content-type', encoder.streamContentType);
  const body = response.startStream(200);
  return {
    write: (frame) => body.writeFrame(frame),
    onDrain: (listener) => body.onDrain(listener),
    end: () => body.end(),
  };
}
