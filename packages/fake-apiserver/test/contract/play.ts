// Plays the steps of a case against a server and notes what it says, in the form in which answers are recorded.
import { type Answer, holds, type Said, saidEvents, saidHeaders, saidOf, understood } from './answers.ts';
import { type Json, pick } from './json.ts';
import type { Played } from './likeness.ts';
import type {
  Comparison,
  EventsStep,
  Outcome,
  RecordedCase,
  RequestStep,
  Scope,
  Step,
  Until,
  WatchStep,
} from './recorded-case.ts';
import type { ServerUnderTest } from './server-under-test.ts';
import { Variables } from './variables.ts';
import { VersionBook } from './versions.ts';
import { isStream, type WireRequest, type WireStream } from './wire/wire.ts';

const ANSWER_TIMEOUT_MS = 70_000;
const HEAD_TIMEOUT_MS = 10_000;
const POLL_TIMEOUT_MS = 20_000;
const POLL_PAUSE_MS = 100;
const EVENTS_TIMEOUT_MS = 8000;
const QUIET_MS = 80;

type Asked = RequestStep & Scope & Comparison;

interface Watch {
  /** Undefined when the request was not answered with a stream. */
  readonly stream: WireStream | undefined;
  read: number;
}

export async function playCase(recorded: RecordedCase, server: ServerUnderTest): Promise<Played> {
  const names = madeUpNames(server.nextTurn());
  const player = new Player(server);
  await player.prepare(recorded, names);
  const outcomes: Outcome[] = [];
  for (const [place, step] of recorded.steps.entries()) {
    const said = await player.play(step);
    if (said !== undefined) outcomes.push({ step: place, ...said });
  }
  const placeholders = new Map(Object.entries(names).map(([name, value]) => [value, `<${name}>`]));
  return { outcomes, versions: player.versions, names: placeholders };
}

/** Names that occur in nothing a server says by itself, and none within another. */
function madeUpNames(turn: number): { readonly ns2: string; readonly ns: string; readonly u: string } {
  const number = String(turn).padStart(3, '0');
  return { ns2: `second-room-${number}qzv`, ns: `first-room-${number}qzv`, u: `unq${number}zv` };
}

class Player {
  readonly versions = new VersionBook();
  readonly #server: ServerUnderTest;
  readonly #variables = new Variables();
  readonly #watches = new Map<string, Watch>();
  readonly #pending = new Map<string, Promise<Answer>>();

  constructor(server: ServerUnderTest) {
    this.#server = server;
  }

  /** Makes those namespaces that the case speaks of. */
  async prepare({ steps, vars }: RecordedCase, names: ReturnType<typeof madeUpNames>): Promise<void> {
    const text = JSON.stringify(steps);
    for (const [name, value] of Object.entries({ ...names, ...vars })) this.#variables.set(name, value);
    for (const name of ['ns', 'ns2'] as const) {
      if (!text.includes(`\${${name}}`)) continue;
      const made = { method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: names[name] } } };
      const { status } = await this.#arrival(this.#send(made));
      if (status !== 201) throw new Error(`the namespace of the case was answered with ${status}`);
    }
  }

  /** Undefined for a step of which nothing is recorded. */
  async play(step: Step): Promise<Said | undefined> {
    const { time } = this.#server;
    switch (step.do) {
      case 'watch':
        return this.#watch(step);
      case 'events':
        return this.#events(step);
      case 'poll':
        return this.#poll(step);
      case 'writes':
        return this.#writes(step);
      case 'await':
        return { id: step.id, ...this.#heard(await this.#arrival(this.#pending.get(step.id)!), step) };
      case 'let':
        for (const [name, value] of Object.entries(step.vars)) this.#variables.set(name, this.#variables.text(value));
        return undefined;
      case 'sleep':
        await time.pass(Number(this.#variables.json(step.ms)));
        return undefined;
      case 'compact':
        await this.#server.compact(Number(this.#variables.text(step.rev)));
        await time.settle();
        return undefined;
      case 'restart':
        await this.#server.restart();
        return undefined;
      case 'close':
      case 'pause':
      case 'resume':
        this.#watches.get(step.id)?.stream?.[step.do]();
        await time.settle();
        return undefined;
      default:
        return this.#request(step);
    }
  }

  async #request(step: Asked & { readonly background?: string }): Promise<Said | undefined> {
    const answer = this.#send(step);
    if (step.background === undefined) return this.#heard(await this.#arrival(answer), step);
    this.#pending.set(step.background, answer);
    await this.#server.time.settle();
    return undefined;
  }

  async #poll(step: Asked & { readonly until: Until; readonly timeout?: number }): Promise<Said> {
    const { time } = this.#server;
    const end = time.now() + (step.timeout ?? POLL_TIMEOUT_MS);
    let answer = await this.#arrival(this.#send(step));
    while (!holds(step.until, answer) && time.now() < end) {
      await time.pass(POLL_PAUSE_MS);
      answer = await this.#arrival(this.#send(step));
    }
    return { reached: holds(step.until, answer), ...this.#heard(answer, step) };
  }

  async #writes(step: RequestStep & { readonly count: number }): Promise<Said> {
    const codes: Record<string, number> = {};
    for (let i = 0; i < step.count; i++) {
      this.#variables.set('i', i);
      const answer = await this.#arrival(this.#send(step));
      // What a write stored counts among the versions only when something else shows it.
      this.#capture(step.capture, answer.json);
      codes[answer.status] = (codes[answer.status] ?? 0) + 1;
    }
    return { codes };
  }

  async #watch(step: WatchStep): Promise<Said> {
    const { id, protocols, recordHeaders = [] } = step;
    const request = this.#wireRequest(step);
    const opening =
      step.transport === 'ws'
        ? this.#server.webSocket(request, protocols === undefined ? [] : [protocols])
        : this.#server.wire(step.http).open(request);
    if (!(await this.#comes(opening, HEAD_TIMEOUT_MS))) return { id, noHeaders: true };
    const opened = await opening;
    const scope: Scope = { recordHeaders, framing: step.transport === undefined };
    if (isStream(opened)) {
      this.#server.own(opened);
      this.#watches.set(id, { stream: opened, read: 0 });
      return { id, status: opened.status, headers: saidHeaders(opened, scope) };
    }
    this.#watches.set(id, { stream: undefined, read: 0 });
    const answer = understood(opened, 0);
    return { id, ...this.#heard(answer, answer.status === 200 ? { ...scope, record: 'headers' } : scope) };
  }

  async #events(step: EventsStep): Promise<Said> {
    const { time } = this.#server;
    const { id, n = 0, until, timeout = EVENTS_TIMEOUT_MS, quiet = QUIET_MS, fewerThan, atLeastMs, atMostMs } = step;
    const watch = this.#watches.get(id)!;
    const { stream } = watch;
    if (stream === undefined) return { id, events: [], closed: 'refused' };
    const started = time.now();
    const enough = (): boolean => until === undefined && stream.documents.length - watch.read >= n;
    await time.until(() => enough() || stream.closed !== null, timeout);
    const tookMs = time.now() - started;
    await time.pass(quiet);
    const documents = stream.documents.slice(watch.read).map((text) => JSON.parse(text) as Json);
    const frames = stream.frames?.slice(watch.read) ?? [];
    watch.read += documents.length;
    const marked = documents.map((document) => this.versions.markEvent(document));
    this.#capture(step.capture, documents);
    return {
      id,
      ...(fewerThan === undefined ? { events: saidEvents(marked, step) } : { fewer: documents.length < fewerThan }),
      closed: stream.closed,
      ...(frames.length > 0 && { frames: [...new Set(frames)].join() }),
      ...(atLeastMs !== undefined && { atLeast: tookMs >= atLeastMs }),
      ...(atMostMs !== undefined && { atMost: tookMs <= atMostMs }),
    };
  }

  #heard(answer: Answer, step: Scope & Comparison & Pick<RequestStep, 'capture'>): Said {
    this.#capture(step.capture, answer.json);
    const shown = answer.json && this.versions.mark(answer.json, step.listRV ?? 'list');
    return saidOf(answer, shown, step);
  }

  #capture(wanted: Readonly<Record<string, string>> | undefined, from: Json): void {
    for (const [name, pointer] of Object.entries(wanted ?? {})) this.#variables.set(name, pick(from, pointer));
  }

  async #send(step: RequestStep): Promise<Answer> {
    const { time } = this.#server;
    const started = time.now();
    const answer = await this.#server.wire(step.http).send(this.#wireRequest(step));
    return understood(answer, time.now() - started);
  }

  /** Moves time until the answer is there. */
  async #arrival(answer: Promise<Answer>): Promise<Answer> {
    if (!(await this.#comes(answer, ANSWER_TIMEOUT_MS))) throw new Error('a request got no answer');
    return answer;
  }

  /** Moves time until the promise is settled; false when it is not in time. */
  #comes(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
    let settled = false;
    const note = (): void => {
      settled = true;
    };
    promise.then(note, note);
    return this.#server.time.until(() => settled, timeoutMs);
  }

  #wireRequest(step: RequestStep): WireRequest {
    const variables = this.#variables;
    const body = this.#body(step);
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(step.query ?? {})) {
      for (const one of [variables.json(value)].flat()) query.append(name, String(one));
    }
    const given = Object.entries(step.headers ?? {});
    const headers: Readonly<Record<string, string | null>> = {
      accept: 'application/json',
      authorization: `Bearer ${this.#server.token}`,
      'user-agent': 'contract/1.0',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...Object.fromEntries(given.map(([name, value]) => [name, value === null ? null : variables.text(value)])),
    };
    const sent = Object.entries(headers).filter((header): header is [string, string] => header[1] !== null);
    return {
      method: step.method ?? 'GET',
      target: `${variables.text(step.path)}${query.size === 0 ? '' : `?${query}`}`,
      headers: Object.fromEntries(sent),
      body,
    };
  }

  #body({ body, raw, base64 }: RequestStep): Buffer | undefined {
    if (raw !== undefined) return Buffer.from(this.#variables.text(raw));
    if (base64 !== undefined) return Buffer.from(base64, 'base64');
    return body === undefined ? undefined : Buffer.from(JSON.stringify(this.#variables.json(body)));
  }
}
