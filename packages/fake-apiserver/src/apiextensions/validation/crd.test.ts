// What may be wrong with a CRD. The texts are those of the real validation at 1.30.3.
import { describe, expect, it } from 'vitest';
import { readCrd } from '../crd.ts';
import type { JsonObject } from '../schema/json.ts';
import { validateCrd, validateCrdUpdate } from './crd.ts';

const SPEC = { type: 'object', properties: { s: { type: 'string' } } };
const V1 = {
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: SPEC } } },
};

const crdOf = (spec: object, status: object = { storedVersions: ['v1'] }): JsonObject => ({
  metadata: { name: 'widgets.example.test' },
  spec: {
    group: 'example.test',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    conversion: { strategy: 'None' },
    versions: [V1],
    ...spec,
  },
  status,
});
const version = (more: object): JsonObject => crdOf({ versions: [{ ...V1, ...more }] });
const root = (schema: object, more: object = {}): JsonObject =>
  version({ schema: { openAPIV3Schema: schema }, ...more });
const field = (f: object): JsonObject =>
  root({ type: 'object', properties: { spec: { type: 'object', properties: { f } } } });
const rules = (...all: readonly object[]): JsonObject =>
  field({ type: 'string', maxLength: 10, 'x-kubernetes-validations': all });

const ROOT = 'spec.validation.openAPIV3Schema';
const F = `${ROOT}.properties[spec].properties[f]`;
const RULE = `${F}.x-kubernetes-validations[0]`;
const errors = (crd: JsonObject): readonly string[] =>
  validateCrd(readCrd(crd)).map((error) => `${error.field}: ${error.message}`);

const webhook = (clientConfig: object, conversionReviewVersions: readonly string[]): object => ({
  conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions } },
});

describe('validateCrd', () => {
  it('finds nothing wrong with a plain CRD', () => {
    expect(errors(crdOf({}))).toEqual([]);
  });

  it.each<[string, JsonObject, readonly string[]]>([
    [
      'group',
      crdOf({ group: 'nodots' }),
      ['spec.group: Invalid value: "nodots": should be a domain with at least one dot'],
    ],
    [
      'scope',
      crdOf({ scope: 'Both' }),
      ['spec.scope: Unsupported value: "Both": supported values: "Cluster", "Namespaced"'],
    ],
    [
      'warnings',
      version({ deprecationWarning: 'x' }),
      ['spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions'],
    ],
    [
      'missing schemas',
      version({ schema: undefined }),
      ['spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required'],
    ],
    [
      'columns',
      version({ additionalPrinterColumns: [{ name: '', type: 'text', format: 'x', jsonPath: 'spec' }] }),
      [
        'spec.additionalPrinterColumns[0].name: Required value',
        'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[0].format: Invalid value: "x": must be one of byte,date,date-time,double,float,int32,int64,password',
        'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .',
      ],
    ],
    [
      'scales',
      version({
        subresources: {
          scale: { specReplicasPath: '.status.r', statusReplicasPath: 'r', labelSelectorPath: '.metadata.l' },
        },
      }),
      [
        'spec.subresources.scale.specReplicasPath: Invalid value: ".status.r": should be a json path under .spec',
        'spec.subresources.scale.statusReplicasPath: Invalid value: "r": must be a simple json path starting with .',
        'spec.subresources.scale.labelSelectorPath: Invalid value: ".metadata.l": should be a json path under either .spec or .status',
      ],
    ],
    [
      'conversions without a webhook',
      crdOf({ conversion: { strategy: 'Webhook' } }),
      [
        'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
        'spec.conversion.conversionReviewVersions: Required value',
      ],
    ],
    [
      'webhooks',
      crdOf(webhook({ url: 'http://a.b' }, ['v9'])),
      [
        'spec.conversion.webhookClientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
        'spec.conversion.conversionReviewVersions: Invalid value: []string{"v9"}: must include at least one of v1, v1beta1',
      ],
    ],
    [
      'conversion strategies',
      crdOf({ conversion: { strategy: 'Magic' } }),
      ['spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"'],
    ],
    [
      'unknown fields',
      crdOf({ preserveUnknownFields: true }),
      [
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ],
    ],
    [
      'stored versions that are gone',
      crdOf({}, { storedVersions: ['v0', 'v1'] }),
      ['status.storedVersions[0]: Invalid value: "v0": must appear in spec.versions'],
    ],
    [
      'stored versions that lack',
      crdOf({}, { storedVersions: ['v0'] }),
      [
        'status.storedVersions: Invalid value: []string{"v0"}: must have the storage version v1',
        'status.storedVersions[0]: Invalid value: "v0": must appear in spec.versions',
      ],
    ],
  ])('tells what is wrong with %s', (_, crd, expected) => {
    expect(errors(crd)).toEqual(expected);
  });

  it('wants one storage version, and names that differ', () => {
    const two = errors(crdOf({ versions: [V1, { ...V1, name: 'v2' }] }));
    expect(two).toHaveLength(2);
    expect(two[0]).toMatch(/^spec\.versions: .*: must have exactly one version marked as storage version$/);
    const same = errors(crdOf({ versions: [V1, { ...V1, storage: false }] }));
    expect(same).toHaveLength(1);
    expect(same[0]).toMatch(/: must contain unique version names$/);
  });

  it('keeps group, names and scope of an established CRD', () => {
    const established = { storedVersions: ['v1'], conditions: [{ type: 'Established', status: 'True' }] };
    const old = readCrd(crdOf({}, established));
    const next = readCrd(crdOf({ group: 'other.test', scope: 'Cluster' }, established));
    expect(validateCrdUpdate(next, old).map((error) => `${error.field}: ${error.message}`)).toEqual([
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.group: Invalid value: "other.test": field is immutable',
    ]);
  });

  it('suffers in a changed CRD what its old self had already', () => {
    const wrong = crdOf(webhook({ url: 'https://a.b' }, ['v9']));
    expect(errors(wrong)).toHaveLength(1);
    expect(validateCrdUpdate(readCrd(wrong), readCrd(wrong))).toEqual([]);
  });
});

describe('the schema of a CRD', () => {
  it.each<[string, JsonObject, readonly string[]]>([
    ['types', field({}), [`${F}.type: Required value: must not be empty for specified object fields`]],
    [
      'unknown types',
      field({ type: 'text' }),
      [
        `${F}.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"`,
      ],
    ],
    ['items', field({ type: 'array' }), [`${F}.items: Required value: must be specified`]],
    ['references', field({ type: 'string', $ref: '#/x' }), [`${F}.$ref: Forbidden: $ref is not supported`]],
    [
      '$schema',
      field({ type: 'string', $schema: 's' }),
      [`${ROOT}: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`],
    ],
    [
      'uniqueItems',
      field({ type: 'array', items: { type: 'string' }, uniqueItems: true }),
      [`${F}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`],
    ],
    [
      'sets',
      field({ type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' }),
      [
        `${F}.items.x-kubernetes-map-type: Invalid value: "null": must be atomic as item of a list with x-kubernetes-list-type=set`,
      ],
    ],
    [
      'keys of lists',
      field({
        type: 'array',
        items: { type: 'object', properties: { k: { type: 'string' } } },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k', 'z'],
      }),
      [
        `${F}.x-kubernetes-list-map-keys: Invalid value: []string{"k", "z"}: entries must all be names of item properties`,
        `${F}.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
      ],
    ],
    [
      'junctors',
      field({ type: 'string', anyOf: [{ type: 'string' }, { description: 'd' }] }),
      [
        `${F}.anyOf[0].type: Forbidden: must be empty to be structural`,
        `${F}.anyOf[1].description: Forbidden: must be empty to be structural`,
      ],
    ],
    [
      'defaults',
      field({ type: 'integer', default: 'x' }),
      [`${F}.default: Invalid value: "string":  in body must be of type integer: "string"`],
    ],
    [
      'defaults that would be pruned',
      field({ type: 'object', properties: { a: { type: 'string' } }, default: { b: 1 } }),
      [`${F}.default: Invalid value: map[string]interface {}{"b":1}: must not have unknown fields`],
    ],
    [
      'defaults of embedded resources',
      field({
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
        default: {},
      }),
      [
        `${F}.default.apiVersion: Required value: must not be empty`,
        `${F}.default.kind: Required value: must not be empty`,
      ],
    ],
    [
      'patterns',
      field({ type: 'string', pattern: '[' }),
      [
        `${F}.pattern: Invalid value: "[": must be a valid regular expression, but isn't: error parsing regexp: missing closing ]: \`[\``,
      ],
    ],
    [
      'embedded resources',
      field({ type: 'string', 'x-kubernetes-embedded-resource': true }),
      [
        `${F}.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
        `${F}.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true`,
      ],
    ],
    [
      'the root',
      root({ type: 'object', nullable: true }),
      [`${ROOT}.nullable: Forbidden: nullable cannot be true at the root`],
    ],
    [
      'metadata',
      root({
        type: 'object',
        properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
      }),
      [
        `${ROOT}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
      ],
    ],
    [
      'the root next to a status',
      root({ type: 'string' }, { subresources: { status: {} } }),
      [
        `${ROOT}.type: Invalid value: "string": only "object" is allowed as the type at the root of the schema if the status subresource is enabled`,
        `${ROOT}.type: Invalid value: "string": must be object at the root`,
      ],
    ],
  ])('is told what is wrong with %s', (_, crd, expected) => {
    expect(errors(crd)).toEqual(expected);
  });
});

describe('the rules of a CRD', () => {
  const GO = (rule: string, message: string): string =>
    `Invalid value: apiextensions.ValidationRule{Rule:${JSON.stringify(rule)}, Message:"", MessageExpression:${JSON.stringify(message)}, Reason:(*apiextensions.FieldValueErrorReason)(nil), FieldPath:"", OptionalOldSelf:(*bool)(nil)}`;

  it.each<[string, JsonObject, readonly string[]]>([
    ['empty ones', rules({ rule: '' }), [`${RULE}.rule: Required value: rule is not specified`]],
    [
      'undeclared names',
      rules({ rule: 'x == 1' }),
      [
        `${RULE}.rule: ${GO('x == 1', '')}: compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x == 1\n | ^`,
      ],
    ],
    ['types', rules({ rule: 'self' }), [`${RULE}.rule: ${GO('self', '')}: cel expression must evaluate to a bool`]],
    [
      'messages',
      rules({ rule: 'true', message: 'a\nb' }),
      [`${RULE}.message: Invalid value: "a\\nb": message must not contain line breaks`],
    ],
    [
      'message expressions',
      rules({ rule: 'true', messageExpression: '1' }),
      [`${RULE}.messageExpression: ${GO('true', '1')}: messageExpression must evaluate to a string`],
    ],
    [
      'reasons',
      rules({ rule: 'true', reason: 'Because' }),
      [
        `${RULE}.reason: Unsupported value: "Because": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
      ],
    ],
    [
      'oldSelf where nothing old can be told',
      field({
        type: 'array',
        maxItems: 2,
        items: { type: 'string', maxLength: 2, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
      }),
      [
        `${F}.items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${F}`,
      ],
    ],
    [
      'rules for values of no type',
      field({ 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-validations': [{ rule: 'true' }] }),
      [
        `${F}.x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations`,
      ],
    ],
    [
      'an empty list of versions',
      crdOf({ versions: [] }),
      [
        'spec.versions: Invalid value: []apiextensions.CustomResourceDefinitionVersion{}: must have exactly one version marked as storage version',
        'status.storedVersions[0]: Invalid value: "v1": must appear in spec.versions',
      ],
    ],
  ])('must not break on %s', (_, crd, expected) => {
    expect(errors(crd)).toEqual(expected);
  });

  it.each([
    [
      'a default of any type where an integer or a string is due',
      { 'x-kubernetes-int-or-string': true, default: true },
    ],
    [
      'oldSelf below a map that is replaced as a whole',
      {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        properties: { a: { type: 'string', maxLength: 5, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } },
      },
    ],
  ])('may have %s', (_, schema) => {
    expect(errors(field(schema))).toEqual([]);
  });

  it('must be affordable, each by itself and all together', () => {
    const loop = [{ rule: 'self.all(x, self.all(y, x == y))' }];
    const hint =
      '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';
    const list = { type: 'array', items: { type: 'string' }, 'x-kubernetes-validations': loop };
    expect(errors(field(list))).toEqual([
      `${RULE}.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${hint}`,
      `${RULE}.rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
      `${ROOT}: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${hint}`,
    ]);
    expect(errors(field({ ...list, maxItems: 10, items: { type: 'string', maxLength: 10 } }))).toEqual([]);
  });
});
