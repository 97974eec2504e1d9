// A change of the store in one line, for tests that compare whole sequences.
import type { StoreEvent } from '../../src/shared-informer/store-event.ts';
import type { TestObject } from './scripted-lister-watcher.ts';

export const line = (event: StoreEvent<TestObject>): string => {
  const at = (each: TestObject): string => `${each.metadata.name}@${each.metadata.resourceVersion}`;
  switch (event.type) {
    case 'added':
      return `add ${at(event.object)}${event.initial ? ' initial' : ''}`;
    case 'updated':
      return `update ${at(event.previous)}->${event.object.metadata.resourceVersion}${event.recreated ? ' recreated' : ''}`;
    case 'deleted':
      return `delete ${at(event.object)}${event.finalState === 'unknown' ? ' unknown' : ''}`;
    case 'synced':
      return `synced ${event.size}${event.first ? ' first' : ''}`;
  }
};
