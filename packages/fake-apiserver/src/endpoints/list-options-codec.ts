// ListOptions from a query: decoding (400), defaults and validation (422), in that order.
// Upstream: apimachinery@v0.30.3:pkg/apis/meta/internalversion/{defaults.go,validation/validation.go}
import type { FieldErrorCause, FieldSelector, LabelSelector, ListOptions } from '@kube-rx/apimachinery';
import { goQuote, newBadRequest, newInvalid, parseFieldSelector, parseLabelSelector } from '@kube-rx/apimachinery';
import { forbidden, notSupported } from './field-errors.ts';
import { decodeBool, decodeOptionalBool, decodeOptionalInt64, readOptionalInt64 } from './parameter-codec.ts';
import type { Query } from './query.ts';

export interface DecodedListOptions {
  readonly labelSelector: LabelSelector;
  readonly fieldSelector: FieldSelector;
  readonly watch: boolean;
  readonly allowWatchBookmarks: boolean;
  readonly resourceVersion: string;
  /** Any text until it is validated. */
  readonly resourceVersionMatch: string;
  readonly timeoutSeconds: bigint | undefined;
  readonly limit: number;
  readonly continue: string;
  readonly sendInitialEvents: boolean | undefined;
}

/** Numbers are read before selectors: of two mistakes the client sees the number. */
export function decodeListOptions(query: Query): DecodedListOptions {
  const timeoutSeconds = readOptionalInt64(query, 'timeoutSeconds');
  const limit = decodeOptionalInt64(query, 'limit') ?? 0;
  return {
    labelSelector: asBadRequest(() => parseLabelSelector(query.first('labelSelector') ?? '')),
    fieldSelector: asBadRequest(() => parseFieldSelector(query.first('fieldSelector') ?? '')),
    watch: decodeBool(query, 'watch'),
    allowWatchBookmarks: decodeBool(query, 'allowWatchBookmarks'),
    resourceVersion: query.first('resourceVersion') ?? '',
    resourceVersionMatch: query.first('resourceVersionMatch') ?? '',
    timeoutSeconds,
    limit,
    continue: query.first('continue') ?? '',
    sendInitialEvents: decodeOptionalBool(query, 'sendInitialEvents'),
  };
}

function asBadRequest<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw newBadRequest(error instanceof Error ? error.message : String(error));
  }
}

/** With the gate WatchList a plain watch from nothing or from "0" asks for the initial state explicitly. */
export function defaultListOptions(options: DecodedListOptions, watchListEnabled: boolean): DecodedListOptions {
  const fromStart = options.resourceVersion === '' || options.resourceVersion === '0';
  if (!watchListEnabled || !options.watch || !fromStart) return options;
  if (options.sendInitialEvents !== undefined || options.resourceVersionMatch !== '') return options;
  return { ...options, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
}

const MATCH = 'resourceVersionMatch';
const SEND = 'sendInitialEvents';

/** Throws a 422 that names every forbidden combination. */
export function validateListOptions(options: DecodedListOptions, watchListEnabled: boolean): void {
  const causes = options.watch ? watchCauses(options, watchListEnabled) : listCauses(options);
  if (causes.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', causes);
}

function listCauses(options: DecodedListOptions): readonly FieldErrorCause[] {
  const causes: FieldErrorCause[] = [];
  const match = options.resourceVersionMatch;
  if (match !== '') {
    if (options.resourceVersion === '') {
      causes.push(forbidden(MATCH, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    }
    if (options.continue !== '') {
      causes.push(forbidden(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      causes.push(notSupported(MATCH, goQuote(match), ['Exact', 'NotOlderThan', '']));
    }
    if (match === 'Exact' && options.resourceVersion === '0') {
      causes.push(forbidden(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (options.sendInitialEvents !== undefined) {
    causes.push(forbidden(SEND, 'sendInitialEvents is forbidden for list'));
  }
  return causes;
}

function watchCauses(options: DecodedListOptions, watchListEnabled: boolean): readonly FieldErrorCause[] {
  const causes: FieldErrorCause[] = [];
  const match = options.resourceVersionMatch;
  if (options.sendInitialEvents !== undefined) {
    if (match !== 'NotOlderThan') {
      causes.push(forbidden(MATCH, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
    }
    if (!watchListEnabled) {
      causes.push(
        forbidden(SEND, 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled'),
      );
    }
  }
  if (match !== '') {
    if (options.sendInitialEvents === undefined) {
      causes.push(forbidden(MATCH, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
    }
    if (match !== 'NotOlderThan') causes.push(notSupported(MATCH, goQuote(match), ['NotOlderThan']));
    if (options.continue !== '') {
      causes.push(forbidden(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
    }
  }
  return causes;
}

/** After validation only the two known values or nothing can be left. */
export function validatedMatch(options: DecodedListOptions): ListOptions['resourceVersionMatch'] | undefined {
  const match = options.resourceVersionMatch;
  return match === 'Exact' || match === 'NotOlderThan' ? match : undefined;
}
