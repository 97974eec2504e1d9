import { describe, expect, it } from 'vitest';
import { stripManagedFields } from './transforms.ts';

describe('stripManagedFields', () => {
  it('takes managedFields off and nothing else, in place', () => {
    const object = {
      kind: 'ConfigMap',
      metadata: { name: 'a', managedFields: [{ manager: 'x' }] },
      data: { managedFields: 'y' },
    };
    expect(stripManagedFields(object)).toBe(object);
    expect(object).toEqual({ kind: 'ConfigMap', metadata: { name: 'a' }, data: { managedFields: 'y' } });
  });

  it('leaves an object alone that has none', () => {
    const object = Object.freeze({ metadata: Object.freeze({ name: 'a' }) });
    expect(stripManagedFields(object)).toBe(object);
    expect(stripManagedFields({ kind: 'X' })).toEqual({ kind: 'X' });
  });
});
