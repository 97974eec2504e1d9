// The canonical form: bringing an object into it twice changes nothing, whatever the object holds.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadSchemaRegistry } from '../schema/index.ts';
import { byCodePoint } from './draft.ts';
import { WireForms } from './wire-form.ts';

const forms = new WireForms('v1.30');
const schemaOf = (kind: string, group = '', version = 'v1') =>
  loadSchemaRegistry('v1.30').byKind(group, version, kind)!;

const text = fc.string({ maxLength: 6 });
const key = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'toString'));
const labels = fc.array(fc.tuple(key, text), { maxLength: 5 }).map((pairs) => Object.fromEntries(pairs));
const container = fc.record(
  {
    name: text,
    image: text,
    env: fc.array(fc.record({ name: text, value: text })),
    resources: fc.record({ limits: fc.record({ cpu: fc.constantFrom('1', '1000m', '0.5', 2, '1e3') }) }),
    stdin: fc.boolean(),
  },
  { requiredKeys: ['name'] },
);
const pod = fc.record({
  apiVersion: fc.constant('v1'),
  kind: fc.constant('Pod'),
  metadata: fc.record({ name: text, labels, annotations: labels }, { requiredKeys: ['name'] }),
  spec: fc.record(
    {
      containers: fc.array(container, { maxLength: 3 }),
      nodeName: text,
      hostNetwork: fc.boolean(),
      nodeSelector: labels,
    },
    { requiredKeys: ['containers'] },
  ),
});

describe('WireForms', () => {
  it('is idempotent', () => {
    const schema = schemaOf('Pod');
    fc.assert(
      fc.property(pod, (object) => {
        const once = forms.apply(schema, object);
        expect(JSON.stringify(forms.apply(schema, once))).toBe(JSON.stringify(once));
      }),
    );
  });

  it('does not depend on the order of keys', () => {
    const schema = schemaOf('Pod');
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([name, item]) => [name, reversed(item)]),
      );
    };
    fc.assert(
      fc.property(pod, (object) => {
        const other = reversed(object) as typeof object;
        expect(JSON.stringify(forms.apply(schema, other))).toBe(JSON.stringify(forms.apply(schema, object)));
      }),
    );
  });

  it('sorts maps and keeps every key of them, `__proto__` too', () => {
    const schema = schemaOf('ConfigMap');
    fc.assert(
      fc.property(labels, (data) => {
        const { data: shown = {} } = forms.apply<{ readonly data?: object }>(schema, { data });
        expect(Object.keys(shown).sort()).toEqual(Object.keys(data).sort());
        // JavaScript keeps names that are array indices in front, by number; `00` is none.
        const isIndex = (name: string): boolean => String(Number(name) >>> 0) === name && name !== '4294967295';
        const indices = Object.keys(data)
          .filter(isIndex)
          .sort((a, b) => Number(a) - Number(b));
        const others = Object.keys(data)
          .filter((name) => !isIndex(name))
          .sort(byCodePoint);
        const fields = [...indices, ...others].map((name) => `${JSON.stringify(name)}:${JSON.stringify(data[name])}`);
        expect(JSON.stringify(shown)).toBe(`{${fields.join(',')}}`);
      }),
      { examples: [[JSON.parse('{"__proto__":"a","b":"c"}')], [{ '00': '', '': '' }], [{ '10': '', '9': '', a: '' }]] },
    );
  });

  it('leaves out what Go leaves out and shows what it shows', () => {
    const shown = forms.apply(schemaOf('Pod'), {
      metadata: { name: 'a', labels: {} },
      spec: { containers: null, hostPID: false },
    });
    expect(shown).toEqual({
      metadata: { name: 'a', creationTimestamp: null },
      spec: { containers: null },
      status: {},
    });
  });
});
