// CreateOptions, UpdateOptions, PatchOptions and DeleteOptions from a query, and their validation.
// Upstream: apimachinery@v0.30.3:pkg/apis/meta/v1/validation/validation.go
import type { DeleteOptions, DeletionPropagation, FieldErrorCause, FieldValidation } from '@kube-rx/apimachinery';
import { goQuote, newInvalid } from '@kube-rx/apimachinery';
import { forbidden, invalid, notSupported, required, tooLong } from './field-errors.ts';
import { decodeOptionalBool, decodeOptionalInt64, isPrintable } from './parameter-codec.ts';
import type { Query } from './query.ts';

export interface DecodedWriteOptions {
  readonly dryRun: boolean;
  /** '' when the client names none. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** Patch only. */
  readonly force: boolean;
}

export type WriteOptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

const MAX_MANAGER_BYTES = 128;

/** Throws the 422 of that kind of options. `applyPatch` is undefined for anything but a patch. */
export function decodeWriteOptions(query: Query, kind: WriteOptionsKind, applyPatch?: boolean): DecodedWriteOptions {
  const dryRun = query.all('dryRun');
  const fieldManager = query.first('fieldManager') ?? '';
  const fieldValidation = query.first('fieldValidation') ?? '';
  const force = kind === 'PatchOptions' ? decodeOptionalBool(query, 'force') : undefined;
  const causes: FieldErrorCause[] = [];
  if (kind === 'PatchOptions') {
    if (applyPatch !== true && force !== undefined) {
      causes.push(forbidden('force', 'may not be specified for non-apply patch'));
    }
    if (applyPatch === true && fieldManager === '') {
      causes.push(required('fieldManager', 'is required for apply patch'));
    }
    causes.push(...managerCauses(fieldManager), ...dryRunCauses(dryRun));
  } else {
    causes.push(...dryRunCauses(dryRun), ...managerCauses(fieldManager));
  }
  if (!['', 'Ignore', 'Strict', 'Warn'].includes(fieldValidation)) {
    causes.push(notSupported('fieldValidation', goQuote(fieldValidation), ['', 'Ignore', 'Strict', 'Warn']));
  }
  if (causes.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind }, '', causes);
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    force: force ?? false,
  };
}

function dryRunCauses(dryRun: readonly string[]): readonly FieldErrorCause[] {
  if (dryRun.every((value) => value === 'All')) return [];
  return [notSupported('dryRun', `[]string{${dryRun.map(goQuote).join(', ')}}`, ['All'])];
}

function managerCauses(manager: string): readonly FieldErrorCause[] {
  const causes: FieldErrorCause[] = [];
  if (Buffer.byteLength(manager) > MAX_MANAGER_BYTES) causes.push(tooLong('fieldManager', MAX_MANAGER_BYTES));
  let position = 0;
  for (const char of manager) {
    if (!isPrintable(char)) {
      const code = char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
      causes.push(invalid('fieldManager', goQuote(manager), `invalid character U+${code} (at position ${position})`));
    }
    position += Buffer.byteLength(char);
  }
  return causes;
}

/** The options of a DELETE without a body. */
export function decodeDeleteOptions(query: Query): DeleteOptions {
  const gracePeriodSeconds = decodeOptionalInt64(query, 'gracePeriodSeconds');
  const orphanDependents = decodeOptionalBool(query, 'orphanDependents');
  const propagationPolicy = query.first('propagationPolicy');
  const uid = query.first('uid');
  const resourceVersion = query.first('resourceVersion');
  const dryRun = query.all('dryRun');
  return {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy: propagationPolicy as DeletionPropagation }),
    ...(uid === undefined && resourceVersion === undefined ? {} : { preconditions: { uid, resourceVersion } }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
  };
}

const POLICIES = ['Foreground', 'Background', 'Orphan'];

/** Throws a 422; options from a body pass through here, too. */
export function validateDeleteOptions(options: DeleteOptions): void {
  const causes: FieldErrorCause[] = [];
  const policy: string | undefined = options.propagationPolicy;
  if (policy !== undefined && options.orphanDependents !== undefined) {
    causes.push(
      invalid('propagationPolicy', goQuote(policy), 'orphanDependents and deletionPropagation cannot be both set'),
    );
  }
  if (policy !== undefined && !POLICIES.includes(policy)) {
    causes.push(notSupported('propagationPolicy', goQuote(policy), [...POLICIES, 'nil']));
  }
  causes.push(...dryRunCauses(options.dryRun ?? []));
  if (causes.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', causes);
}

/** The manager a write is recorded under when the client names none: its user agent up to the first slash. */
export function managerOrUserAgent(manager: string, userAgent: string): string {
  if (manager !== '') return manager;
  let prefix = '';
  for (const char of userAgent.split('/', 1)[0] ?? '') {
    if (!isPrintable(char)) continue;
    if (Buffer.byteLength(prefix + char) > MAX_MANAGER_BYTES) break;
    prefix += char;
  }
  return prefix === '' ? 'unknown' : prefix;
}
