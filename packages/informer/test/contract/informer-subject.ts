// A shared informer with handlers that come, go and dawdle as the script says, and that write down their calls.
import { sleep } from '@kube-rx/apimachinery';
import type { HandlerRegistration } from '../../src/shared-informer/event-handler.ts';
import { SharedIndexInformer } from '../../src/shared-informer/shared-index-informer.ts';
import { metaNamespaceKeyFunc } from '../../src/store/key-func.ts';
import type { ConfigMap } from '../support/memory-api.ts';
import type { HandlerForm, When } from './scenario.ts';
import { refuseUnknown } from './script-content.ts';
import { type Findings, type Subject, type SubjectSetup, versionOf } from './subject.ts';
import { type Call, callLines, storeLines } from './transcript.ts';

interface Played {
  readonly form: HandlerForm;
  readonly calls: (Call & { readonly initial: boolean })[];
  registration?: HandlerRegistration;
  /** How many calls there had been when it was first seen to be synced. */
  callsWhenSynced?: number;
}

export class InformerSubject implements Subject {
  said = 0;
  readonly #setup: SubjectSetup;
  readonly #informer: SharedIndexInformer<ConfigMap>;
  readonly #handlers: readonly Played[];
  readonly #events: string[] = [];
  /** Conditions that are not met yet, each with what comes of it. */
  #waiting: { readonly when: When; readonly run: () => void }[] = [];
  #synced = false;

  constructor(setup: SubjectSetup) {
    this.#setup = setup;
    this.#informer = new SharedIndexInformer<ConfigMap>(setup.listWatch, setup.options);
    const forms = setup.scenario.driver.handlers ?? [{ name: 'h1' }];
    this.#handlers = forms.map((form) => ({ form, calls: [] }));
    for (const handler of this.#handlers) {
      refuseUnknown('handler', handler.form, ['name', 'resyncMs', 'slowMs', 'addWhen', 'removeWhen']);
      this.#when(handler.form.addWhen, () => this.#add(handler));
    }
    this.#informer.start();
  }

  look(): void {
    if (!this.#synced && this.#informer.hasSynced) {
      this.#synced = true;
      this.said++;
    }
    for (const handler of this.#handlers) this.#lookAt(handler);
    const met = this.#waiting.filter(({ when }) => this.#met(when));
    this.#waiting = this.#waiting.filter((each) => !met.includes(each));
    for (const { when, run } of met) this.#setup.options.clock.setTimer(run, when.delayMs ?? 0);
  }

  findings(): Findings {
    const { compare } = this.#setup.scenario;
    const order = { perKey: compare?.order === 'perKey', collapseRepeats: compare?.collapseRepeats ?? false };
    const registered = this.#handlers.flatMap(({ form, registration }) =>
      registration === undefined ? [] : [[form.name, registration.hasSynced] as const],
    );
    const items = this.#informer.store.list() as readonly ConfigMap[];
    return {
      calls: byName(
        this.#handlers.filter(({ calls }) => calls.length > 0),
        ({ calls }) => callLines(calls, order),
      ),
      synced: {
        ...byName(
          this.#handlers.filter((handler) => handler.callsWhenSynced !== undefined),
          (handler) => ({ allInitialAddsBefore: lastInitial(handler) <= (handler.callsWhenSynced ?? 0) }),
        ),
        informer: this.#synced,
      },
      ...(this.#events.length === 0 ? {} : { handlers: [...this.#events] }),
      final: {
        store: storeLines(items.map((item) => ({ key: metaNamespaceKeyFunc(item), rv: versionOf(item) }))),
        lastSyncRV: this.#informer.lastSyncResourceVersion,
        hasSynced: this.#informer.hasSynced,
        handlersSynced: Object.fromEntries(registered),
      },
    };
  }

  async stop(): Promise<void> {
    await this.#informer.close();
  }

  #when(when: When | undefined, run: () => void): void {
    if (when === undefined) {
      run();
      return;
    }
    refuseUnknown('condition', when, ['synced', 'calls', 'delayMs']);
    this.#waiting.push({ when, run });
  }

  #met(when: When): boolean {
    if (when.synced && !this.#informer.hasSynced) return false;
    return (this.#handlers[0]?.calls.length ?? 0) >= (when.calls ?? 0);
  }

  #lookAt(handler: Played): void {
    if (handler.callsWhenSynced !== undefined || !handler.registration?.hasSynced) return;
    handler.callsWhenSynced = handler.calls.length;
    this.said++;
  }

  #add(handler: Played): void {
    const { form } = handler;
    const { clock } = this.#setup.options;
    const call = (key: string, what: string, initial = false): Promise<void> | undefined => {
      // A handler that counts as synced before its last initial object would be found out here.
      this.#lookAt(handler);
      const [operation, ...rest] = what.split(' ');
      handler.calls.push({ key, text: [operation, key, ...rest].join(' '), at: clock.now(), initial });
      this.said++;
      return form.slowMs === undefined ? undefined : sleep(clock, form.slowMs);
    };
    handler.registration = this.#informer.handle(
      {
        onAdd: (object, initial) =>
          call(metaNamespaceKeyFunc(object), `add ${versionOf(object)} ${initial ? 'initial' : 'live'}`, initial),
        onUpdate: (previous, object) =>
          call(metaNamespaceKeyFunc(object), `update ${versionOf(previous)}->${versionOf(object)}`),
        onDelete: (object, unknown) =>
          call(metaNamespaceKeyFunc(object), `delete ${versionOf(object)} ${unknown ? 'tombstone' : 'final'}`),
      },
      { name: form.name, ...(form.resyncMs === undefined ? {} : { resyncMs: form.resyncMs }) },
    );
    this.said++;
    if (form.removeWhen !== undefined) this.#when(form.removeWhen, () => this.#remove(handler));
  }

  #remove({ form, registration }: Played): void {
    void registration?.remove();
    this.#events.push(`${form.name} removed`);
  }
}

function byName<V>(handlers: readonly Played[], value: (handler: Played) => V): Record<string, V> {
  return Object.fromEntries(handlers.map((handler) => [handler.form.name, value(handler)]));
}

/** The number of calls up to and with the last initial one. */
const lastInitial = ({ calls }: Played): number => calls.map(({ initial }) => initial).lastIndexOf(true) + 1;
