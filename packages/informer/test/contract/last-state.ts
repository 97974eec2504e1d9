// What a client that got all the bytes must believe: the state that the server has shown it last.
import type { ListForm } from './scenario.ts';
import type { ScriptObject, WatchFrame } from './script-content.ts';
import { isEndOfInitialEvents } from './script-content.ts';
import type { ServedState } from './scripted-server.ts';

type State = Map<string, string>;

export class LastState implements ServedState {
  #state: State = new Map();
  /** Pages of a list, or initial events of a stream, that make a state only when they are whole. */
  #partial: State | undefined;

  get items(): readonly { readonly key: string; readonly rv: string }[] {
    return [...this.#state].map(([key, rv]) => ({ key, rv }));
  }

  listed(form: ListForm, items: readonly ScriptObject[] | null, query: URLSearchParams): void {
    // Asks for the version alone.
    if (query.get('limit') === '1') return;
    const state: State = query.has('continue') ? (this.#partial ?? new Map()) : new Map();
    for (const item of items ?? []) put(state, item);
    if (form.continue === undefined) this.#state = state;
    this.#partial = form.continue === undefined ? undefined : state;
  }

  opened(query: URLSearchParams): void {
    this.#partial = query.get('sendInitialEvents') === 'true' ? new Map() : undefined;
  }

  event({ type, object }: WatchFrame): void {
    if (type === 'BOOKMARK' && isEndOfInitialEvents(object) && this.#partial !== undefined) {
      this.#state = this.#partial;
      this.#partial = undefined;
    }
    const item = object as ScriptObject;
    if (item.kind !== 'ConfigMap') return;
    const state = this.#partial ?? this.#state;
    if (type === 'ADDED' || type === 'MODIFIED') put(state, item);
    if (type === 'DELETED') state.delete(keyOf(item));
  }
}

function put(state: State, item: ScriptObject): void {
  state.set(keyOf(item), item.metadata.resourceVersion ?? '');
}

const keyOf = ({ metadata }: ScriptObject): string => `${metadata.namespace}/${metadata.name}`;
