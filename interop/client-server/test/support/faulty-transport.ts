// A network that loses, delays, cuts and lies, as a seed says.
import type { Clock, Status } from '@kube-rx/apimachinery';
import {
  newInternalError,
  newResourceExpired,
  newServiceUnavailable,
  newTooLargeResourceVersion,
  newTooManyRequests,
  sleep,
} from '@kube-rx/apimachinery';
import type { Transport, TransportRequest, TransportResponse } from '@kube-rx/informer';
import { TransportError } from '@kube-rx/informer';
import type { BodyFault } from './faulty-body.ts';
import { FaultyBody, LIST_FAULTS, WATCH_FAULTS } from './faulty-body.ts';
import { pick } from './random.ts';

export interface FaultyTransportOptions {
  readonly inner: Transport;
  readonly clock: Clock;
  readonly random: () => number;
  /** Chance that a request is hit. @defaultValue 0.4 */
  readonly requestFaults?: number;
  /** Chance for each chunk of an answer that it is hit. @defaultValue 0.2 */
  readonly chunkFaults?: number;
  /** Streams may fall silent without an end, as behind a dead middle box. @defaultValue true */
  readonly halfOpen?: boolean;
  /** Versions may be called too old although they are not. @defaultValue true */
  readonly expiry?: boolean;
  /** Answers may ask to wait for a day. @defaultValue false */
  readonly unreasonable?: boolean;
  /** What may happen to the server while a request or an answer is on its way; resolves when it has. @defaultValue nothing */
  readonly meanwhile?: () => Promise<void>;
  /** Chance of it, at each request, answer and chunk. @defaultValue 0.05 */
  readonly meanwhileChance?: number;
}

export const ANY_FAULTS = [
  'refuse',
  'reset',
  'answer-lost',
  'status-500',
  'status-503',
  'status-429',
  'burst',
  'delay',
  'hang',
  'gone',
] as const;
const DAY_SECONDS = 86_400;
type RequestFault = (typeof ANY_FAULTS)[number] | 'too-large' | 'mute' | 'wait-a-day';

/** Faults happen while `active`; each kind is counted. */
export class FaultyTransport implements Transport {
  active = true;
  readonly counts: Map<string, number> = new Map<string, number>();
  readonly #options: FaultyTransportOptions;
  readonly #open = new Map<FaultyBody, string>();
  // The server refuses so many requests in a row, whoever sends them.
  #burstLeft = 0;

  constructor(options: FaultyTransportOptions) {
    this.#options = options;
  }

  /** URLs of the answers that were neither read to their end nor given up. */
  get open(): readonly string[] {
    return [...this.#open.values()];
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const { inner, clock } = this.#options;
    await this.#meanwhile();
    if (this.active && this.#burstLeft > 0) return this.#burst();
    const fault = this.#draw(this.#options.requestFaults ?? 0.4, this.#faultsOf(request));
    switch (fault) {
      case undefined:
      case 'mute':
        break;
      case 'refuse':
        throw new TransportError('REFUSED', 'connection refused');
      case 'reset':
        throw new TransportError('RESET', 'connection reset by peer');
      case 'answer-lost': {
        const { body } = await inner.send(request);
        body.destroy();
        throw new TransportError('EOF', 'connection closed before the answer');
      }
      case 'status-500':
        return failure(newInternalError('disk on fire').status);
      case 'status-503':
        return failure(newServiceUnavailable('starting').status);
      case 'status-429':
        return failure(newTooManyRequests('slow down', 2).status, 2);
      case 'wait-a-day':
        return failure(newTooManyRequests('come back tomorrow', DAY_SECONDS).status, DAY_SECONDS);
      case 'gone':
        return failure(newResourceExpired('The resourceVersion for the provided list is too old.').status);
      case 'too-large':
        return failure(newTooLargeResourceVersion('2000', '1000', 1).status, 1);
      case 'burst':
        this.#burstLeft = 2 + Math.floor(this.#options.random() * 6);
        return this.#burst();
      case 'delay':
        await sleep(clock, 3000, { signal: request.signal });
        break;
      case 'hang':
        // Longer than any limit of the client; the request is sent then, as a middle box would.
        await sleep(clock, 120_000, { signal: request.signal });
        break;
      default:
        fault satisfies never;
    }
    const response = await inner.send(request);
    await this.#meanwhile();
    return response.status === 200 ? this.#bodyOf(request, response, fault === 'mute') : response;
  }

  close(): void {
    this.#options.inner.close();
  }

  #bodyOf(request: TransportRequest, response: TransportResponse, silent: boolean): TransportResponse {
    const { clock, halfOpen = true, expiry = true, chunkFaults = 0.2 } = this.#options;
    const { signal } = request;
    const all: readonly BodyFault[] = request.purpose === 'watch' ? WATCH_FAULTS : LIST_FAULTS;
    const faults = all.filter((fault) => (halfOpen || fault !== 'silence') && (expiry || fault !== 'gone-event'));
    const body = new FaultyBody({
      inner: response.body,
      clock,
      signal,
      silent,
      draw: () => this.#draw(chunkFaults, faults),
      meanwhile: () => this.#meanwhile(),
      onClose: () => this.#open.delete(body),
    });
    this.#open.set(body, request.url);
    return { ...response, body };
  }

  #faultsOf(request: TransportRequest): readonly RequestFault[] {
    const { unreasonable = false, halfOpen = true, expiry = true } = this.#options;
    const version = new URL(request.url).searchParams.get('resourceVersion') ?? '';
    const watch = request.purpose === 'watch';
    const faults: RequestFault[] = ANY_FAULTS.filter((fault) => expiry || fault !== 'gone');
    // Only a version that was named can be unknown, and few lists name one.
    if (!watch && version !== '' && version !== '0') faults.push('too-large', 'too-large', 'too-large', 'too-large');
    if (watch && halfOpen) faults.push('mute');
    if (unreasonable) faults.push('wait-a-day');
    return faults;
  }

  #burst(): TransportResponse {
    this.#burstLeft--;
    this.count('burst-answer');
    return this.#options.random() < 0.5
      ? failure(newTooManyRequests('too many requests', 1).status, 1)
      : failure(newServiceUnavailable('overloaded').status);
  }

  #meanwhile(): Promise<void> | undefined {
    const { meanwhile, meanwhileChance = 0.05, random } = this.#options;
    if (!this.active || meanwhile === undefined || random() >= meanwhileChance) return undefined;
    return meanwhile();
  }

  #draw<T extends string>(chance: number, faults: readonly T[]): T | undefined {
    const { random } = this.#options;
    if (!this.active || random() >= chance) return undefined;
    const fault = pick(random, faults);
    this.count(fault);
    return fault;
  }
}

function failure(status: Status, retryAfterSeconds?: number): TransportResponse {
  const bytes = new TextEncoder().encode(JSON.stringify(status));
  return {
    status: status.code ?? 500,
    headers: {
      'content-type': 'application/json',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body: {
      consume(sink) {
        sink.data(bytes);
        sink.end();
      },
      pause() {},
      resume() {},
      destroy() {},
    },
  };
}
