import { StatusError } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { Query } from './query.ts';
import {
  decodeDeleteOptions,
  decodeWriteOptions,
  managerOrUserAgent,
  validateDeleteOptions,
} from './write-options-codec.ts';

function message(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

describe('decodeWriteOptions', () => {
  it.each([
    ['', 'accepted'],
    ['dryRun=All&fieldManager=me&fieldValidation=Strict', 'accepted'],
    [
      'dryRun=Some',
      '422 CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: []string{"Some"}: supported values: "All"',
    ],
    [
      'fieldValidation=Bad',
      '422 CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Bad": supported values: "", "Ignore", "Strict", "Warn"',
    ],
    [
      `fieldManager=${'x'.repeat(129)}`,
      '422 CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: must have at most 128 bytes',
    ],
    [
      'fieldManager=a%09b',
      '422 CreateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\\tb": invalid character U+0009 (at position 1)',
    ],
  ])('answers a create with %s', (query, expected) => {
    expect(message(() => decodeWriteOptions(new Query(query), 'CreateOptions'))).toBe(expected);
  });

  it.each([
    [
      'force=true',
      false,
      '422 PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    ],
    ['', true, '422 PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'],
    ['fieldManager=me&force=', true, 'accepted'],
  ])('answers a patch with "%s" (apply: %s)', (query, apply, expected) => {
    expect(message(() => decodeWriteOptions(new Query(query), 'PatchOptions', apply))).toBe(expected);
  });

  it('warns about unknown fields unless told otherwise', () => {
    expect(decodeWriteOptions(new Query(''), 'CreateOptions').fieldValidation).toBe('Warn');
  });
});

describe('decodeDeleteOptions', () => {
  it('reads preconditions, policy and grace from the query', () => {
    const query = new Query('uid=u&resourceVersion=5&propagationPolicy=Orphan&gracePeriodSeconds=0&dryRun=All');
    expect(decodeDeleteOptions(query)).toEqual({
      preconditions: { uid: 'u', resourceVersion: '5' },
      propagationPolicy: 'Orphan',
      gracePeriodSeconds: 0,
      dryRun: ['All'],
    });
  });

  it.each([
    [
      { propagationPolicy: 'Bad' as 'Orphan' },
      '422 DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Bad": supported values: "Foreground", "Background", "Orphan", "nil"',
    ],
    [
      { propagationPolicy: 'Foreground' as const, orphanDependents: true },
      '422 DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Foreground": orphanDependents and deletionPropagation cannot be both set',
    ],
    [{ gracePeriodSeconds: -5 }, 'accepted'],
  ])('judges %o', (options, expected) => {
    expect(message(() => validateDeleteOptions(options))).toBe(expected);
  });
});

describe('managerOrUserAgent', () => {
  it.each([
    ['mine', 'tool/1.2', 'mine'],
    ['', 'tool/1.2 (linux)', 'tool'],
    ['', '', 'unknown'],
    ['', '/x', 'unknown'],
    ['', `${'y'.repeat(200)}/1`, 'y'.repeat(128)],
  ])('of "%s" and %s is %s', (manager, agent, expected) => {
    expect(managerOrUserAgent(manager, agent)).toBe(expected);
  });
});
