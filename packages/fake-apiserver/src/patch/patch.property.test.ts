import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DecodeError, fromUnstructured, loadSchemaRegistry } from '../schema/index.ts';
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch, decodePatch, PatchError } from './index.ts';
import { jsonEqual } from './json-value.ts';

const schema = loadSchemaRegistry('v1.30').byKind('apps', 'v1', 'Deployment')!;
const key = fc.constantFrom(
  'a',
  'b',
  'a/b',
  '~',
  '0',
  '__proto__',
  'constructor',
  'spec',
  'metadata',
  'finalizers',
  'containers',
);
const scalar = fc.oneof(fc.constant(null), fc.boolean(), fc.integer({ min: -3, max: 3 }), fc.constantFrom('', 'x'));
const { value: json, object } = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, scalar, fc.array(tie('value'), { maxLength: 3 }), tie('object')),
  object: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}));
const operation = fc.record(
  {
    op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'x'),
    path: fc
      .array(fc.constantFrom('a', 'b', 'a~1b', '~0', '0', '-1', '-', '__proto__', 'constructor'))
      .map((tokens) => tokens.map((token) => `/${token}`).join('')),
    from: fc.constantFrom('/a', '/b/0', '', '/__proto__', 1),
    value: json,
  },
  { requiredKeys: ['op'] },
);
const freeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) for (const one of Object.values(Object.freeze(value))) freeze(one);
  return value;
};
/** Undefined when the patch is refused in the way patches are refused. */
const attempt = <T>(run: () => T): T | undefined => {
  try {
    return run();
  } catch (error) {
    if (error instanceof PatchError || error instanceof DecodeError) return undefined;
    throw error;
  }
};
const unpolluted = () => Object.keys(Object.prototype).length === 0 && ({} as { x?: unknown }).x === undefined;

describe('patches', () => {
  it('merging the difference of two objects turns one into the other', () => {
    // A merge patch cannot say null, so neither may the objects.
    const bare = object
      .map((one) => applyMergePatch({}, one) as Record<string, unknown>)
      .filter((one) => !JSON.stringify(one).includes('null'));
    const difference = (from: Record<string, unknown>, to: Record<string, unknown>): Record<string, unknown> => {
      const patch = Object.fromEntries(
        Object.keys(from)
          .filter((name) => !Object.hasOwn(to, name))
          .map((name) => [name, null]),
      );
      const isMap = (one: unknown): one is Record<string, unknown> =>
        typeof one === 'object' && one !== null && !Array.isArray(one);
      for (const name of Object.keys(to)) {
        const [a, b] = [Object.hasOwn(from, name) ? from[name] : undefined, to[name]];
        Object.defineProperty(patch, name, {
          value: isMap(a) && isMap(b) ? difference(a, b) : b,
          enumerable: true,
          configurable: true,
          writable: true,
        });
      }
      return patch;
    };
    fc.assert(fc.property(bare, bare, (from, to) => jsonEqual(applyMergePatch(from, difference(from, to)), to)));
  });

  it('a merge patch applied twice changes nothing more', () => {
    // A list over an object keeps its nulls the first time and loses them the second, as upstream has it.
    const patches = object.filter((one) => !/\[.*null/s.test(JSON.stringify(one)));
    fc.assert(
      fc.property(object, patches, (document, patch) => {
        const once = applyMergePatch(document, patch);
        return jsonEqual(applyMergePatch(once, patch), once);
      }),
    );
  });

  it('undoes an added value by removing it', () => {
    fc.assert(
      fc.property(fc.array(json, { maxLength: 4 }), json, fc.nat(4), (list, value, at) => {
        const index = Math.min(at, list.length);
        const patch = [
          { op: 'add', path: `/a/${index}`, value },
          { op: 'test', path: `/a/${index}`, value: value ?? null },
          { op: 'remove', path: `/a/${index}` },
        ];
        expect(applyJsonPatch({ a: list }, patch)).toEqual({ a: list });
      }),
    );
  });

  it('moves as it would copy and remove', () => {
    fc.assert(
      fc.property(object, (rest) => {
        const document = { ...rest, from: { x: 1 } };
        const moved = applyJsonPatch(document, [{ op: 'move', from: '/from', path: '/to' }]);
        expect(moved).toEqual(
          applyJsonPatch(document, [
            { op: 'copy', from: '/from', path: '/to' },
            { op: 'remove', path: '/from' },
          ]),
        );
      }),
    );
  });

  it('never change their inputs, never reach a prototype, and fail in their own way', () => {
    fc.assert(
      fc.property(
        object,
        fc.oneof(fc.array(operation, { maxLength: 4 }), json),
        object,
        (document, operations, patch) => {
          freeze([document, operations, patch]);
          attempt(() => applyJsonPatch(document, operations));
          attempt(() => applyMergePatch(document, patch));
          const merged = attempt(() => applyStrategicMergePatch(document, patch, schema));
          if (merged !== undefined) attempt(() => fromUnstructured(merged, schema));
          return unpolluted();
        },
      ),
      { numRuns: 500 },
    );
  });

  it('of any text are read or refused', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          json.map((one) => JSON.stringify(one)),
          fc.array(operation).map((one) => JSON.stringify(one)),
        ),
        fc.boolean(),
        (text, strict) => {
          for (const format of ['json-patch', 'merge-patch', 'strategic-merge-patch'] as const)
            attempt(() => decodePatch(format, text, strict));
        },
      ),
    );
  });
});
