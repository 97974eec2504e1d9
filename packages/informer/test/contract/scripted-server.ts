// An API server that plays a script behind the Transport interface, on the clock it is given. It also stands for the part of a real
// transport that keeps connections: a GET that dies on one that was used before is sent once more, as Go and our own transports do.
import { type Clock, sleep } from '@kube-rx/apimachinery';
import { TransportError } from '../../src/errors.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../src/rest/transport.ts';
import type { AnswerForm, ListForm, Rule, Scenario, WatchForm } from './scenario.ts';
import { framesOf, json, listBody, listItems, refuseUnknown, statusOf, type WatchFrame } from './script-content.ts';
import { ScriptedBody } from './scripted-body.ts';

export interface ServedRequest {
  readonly verb: 'list' | 'watch';
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept: string;
  readonly at: number;
  /** Answers that were neither read to their end nor given up when it came. */
  readonly openBodies: number;
  /** Since the last byte of the answer before; undefined for the first. */
  readonly gapMs: number | undefined;
}

/** Told what a client cannot but know by now. */
export interface ServedState {
  listed(form: ListForm, items: ReturnType<typeof listItems>, query: URLSearchParams): void;
  opened(query: URLSearchParams): void;
  event(frame: WatchFrame): void;
}

export class ScriptedServer implements Transport {
  readonly requests: ServedRequest[] = [];
  /** Grows with everything that crosses the seam. */
  activity = 0;
  readonly #clock: Clock;
  readonly #rules: { readonly rule: Rule; left: number }[];
  readonly #state: ServedState | undefined;
  #lastByteAt: number | undefined;
  #listensAt: number;
  #idleConnections = 0;
  #openBodies = 0;

  constructor(clock: Clock, scenario: Scenario, state?: ServedState) {
    this.#clock = clock;
    this.#state = state;
    this.#listensAt = clock.now() + (scenario.listenAfterMs ?? 0);
    this.#rules = scenario.rules.map((rule) => {
      refuseUnknown('rule', rule, ['on', 'match', 'times', 'answer']);
      return { rule, left: rule.times === '*' ? Number.POSITIVE_INFINITY : (rule.times ?? 1) };
    });
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    for (;;) {
      const usedBefore = this.#idleConnections > 0;
      if (usedBefore) this.#idleConnections--;
      try {
        return await this.#serve(request);
      } catch (error) {
        if (!usedBefore || !(error instanceof TransportError)) throw error;
      }
    }
  }

  close(): void {}

  async #serve(request: TransportRequest): Promise<TransportResponse> {
    // Such a request is seen by nobody.
    if (this.#clock.now() < this.#listensAt) throw new TransportError('REFUSED', 'the port is closed');
    const served = this.#log(request);
    const answer = this.#answerTo(served);
    refuseUnknown('answer', answer, [
      ...['delayMs', 'headers', 'status', 'reason', 'message', 'causes', 'retryAfterSeconds'],
      ...['body', 'contentType', 'list', 'watch', 'reset', 'close'],
    ]);
    if (answer.delayMs !== undefined) await sleep(this.#clock, answer.delayMs, { signal: request.signal });
    if (answer.reset || answer.close) {
      this.#sent();
      throw answer.reset ? new TransportError('RESET', 'connection reset') : new TransportError('EOF', 'closed');
    }
    if (answer.watch) return this.#watch(answer.watch, served, request.signal);
    return this.#whole(answer, served, request.signal);
  }

  #log({ method, url, headers }: TransportRequest): ServedRequest {
    const { pathname, searchParams: query } = new URL(url);
    if (method !== 'GET') throw new Error(`${method} is not in the script`);
    const served: ServedRequest = {
      verb: query.get('watch') === 'true' ? 'watch' : 'list',
      path: pathname,
      query,
      accept: String(headers['accept']),
      at: this.#clock.now(),
      openBodies: this.#openBodies,
      gapMs: this.#lastByteAt === undefined ? undefined : this.#clock.now() - this.#lastByteAt,
    };
    this.requests.push(served);
    this.activity++;
    return served;
  }

  #answerTo({ verb, query }: ServedRequest): AnswerForm {
    const found = this.#rules.find(({ rule, left }) => left > 0 && rule.on === verb && matches(rule, query));
    if (found === undefined) throw new Error(`no rule for ${verb} ${query}`);
    found.left--;
    return found.rule.answer;
  }

  /** An answer that is there at once. */
  #whole(answer: AnswerForm, { verb, query }: ServedRequest, signal: AbortSignal | undefined): TransportResponse {
    const body = this.#body(signal);
    const { list, status = 200 } = answer;
    if (list !== undefined) {
      const bytes = listBody(list);
      if (list.truncate === undefined) {
        body.write(bytes);
        body.end();
        if (verb === 'list') this.#state?.listed(list, listItems(list), query);
      } else {
        body.write(bytes.subarray(0, Math.floor(bytes.length * list.truncate)));
        body.end(new TransportError('RESET', 'reset within the body'));
      }
    } else {
      body.write(answer.body === undefined ? json(statusOf({ ...answer, status })) : Buffer.from(answer.body));
      body.end();
    }
    const contentType = answer.body === undefined ? 'application/json' : answer.contentType;
    return { status, headers: headersOf(contentType, answer.headers), body };
  }

  async #watch(form: WatchForm, served: ServedRequest, signal: AbortSignal | undefined): Promise<TransportResponse> {
    refuseUnknown('watch', form, ['events', 'end', 'endAt', 'downMs', 'headersDelayMs', 'contentType']);
    if (form.headersDelayMs !== undefined) await sleep(this.#clock, form.headersDelayMs, { signal });
    this.#sent();
    this.#state?.opened(served.query);
    const body = this.#body(signal);
    for (const entry of form.events) {
      const { at, bytes, events, chunk } = framesOf(entry);
      body.at(at, () => {
        if (chunk === undefined) body.write(bytes);
        else body.writePieces(bytes, chunk.size, chunk.gapMs ?? 0);
        for (const event of events) this.#state?.event(event);
      });
    }
    const endings = { clean: undefined, fin: 'UNEXPECTED_EOF', reset: 'RESET', down: 'RESET' } as const;
    const { end } = form;
    if (end !== 'hang') {
      const code = endings[end];
      const error = code === undefined ? undefined : new TransportError(code, `the stream ends: ${end}`);
      body.at(form.endAt ?? Math.max(0, ...form.events.map((each) => framesOf(each).at)), () => {
        if (end === 'down') this.#listensAt = this.#clock.now() + (form.downMs ?? 0);
        body.end(error);
      });
    }
    const contentType = form.contentType === null ? undefined : (form.contentType ?? 'application/json');
    return { status: 200, headers: headersOf(contentType, undefined), body };
  }

  #body(signal: AbortSignal | undefined): ScriptedBody {
    const abort = (): void => body.destroy();
    const body = new ScriptedBody(this.#clock, {
      onSent: () => this.#sent(),
      onActivity: () => void this.activity++,
      onClosed: (whole) => {
        signal?.removeEventListener('abort', abort);
        this.#openBodies--;
        if (whole) this.#idleConnections++;
      },
    });
    signal?.addEventListener('abort', abort, { once: true });
    this.#openBodies++;
    return body;
  }

  #sent(): void {
    this.#lastByteAt = this.#clock.now();
    this.activity++;
  }
}

function matches(rule: Rule, query: URLSearchParams): boolean {
  return Object.entries(rule.match ?? {}).every(([name, wanted]) => {
    const given = query.get(name);
    return wanted === '*' ? given !== null : given === wanted;
  });
}

function headersOf(contentType: string | undefined, others: AnswerForm['headers']): Record<string, string> {
  const headers: Record<string, string> = contentType === undefined ? {} : { 'content-type': contentType };
  for (const [name, value] of Object.entries(others ?? {})) {
    if (value === null) delete headers[name.toLowerCase()];
    else headers[name.toLowerCase()] = value;
  }
  return headers;
}
