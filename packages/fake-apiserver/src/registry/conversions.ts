// Kinds served in more than one version: which version is stored, and how the others are made of it.

import type { Conversion } from './conversion.ts';
import { eventConversion } from './core/event-conversion.ts';
import type { Draft } from './draft.ts';
import { autoscalerConversion } from './workloads/autoscaler-conversion.ts';

interface StoredVersion {
  readonly group: string;
  readonly version: string;
}

const setVersion =
  (apiVersion: string) =>
  (object: Draft): Draft => {
    object['apiVersion'] = apiVersion;
    return object;
  };

/** Versions that differ in their name only. */
const renamed = (stored: string, served: string): Conversion => ({
  toStorage: setVersion(stored),
  fromStorage: setVersion(served),
});

const FLOW_CONTROL = 'flowcontrol.apiserver.k8s.io';
const flowControl = renamed(`${FLOW_CONTROL}/v1`, `${FLOW_CONTROL}/v1beta3`);

const CONVERSIONS: Readonly<Record<string, { readonly stored: StoredVersion; readonly conversion: Conversion }>> = {
  'events.k8s.io/v1/events': { stored: { group: '', version: 'v1' }, conversion: eventConversion },
  'autoscaling/v1/horizontalpodautoscalers': {
    stored: { group: 'autoscaling', version: 'v2' },
    conversion: autoscalerConversion,
  },
  [`${FLOW_CONTROL}/v1beta3/flowschemas`]: {
    stored: { group: FLOW_CONTROL, version: 'v1' },
    conversion: flowControl,
  },
  [`${FLOW_CONTROL}/v1beta3/prioritylevelconfigurations`]: {
    stored: { group: FLOW_CONTROL, version: 'v1' },
    conversion: flowControl,
  },
};

/** The version in which objects of a served version are stored. */
export function storageVersionOf(group: string, version: string, resource: string): StoredVersion {
  return CONVERSIONS[`${group}/${version}/${resource}`]?.stored ?? { group, version };
}

/** Undefined for the stored version itself. */
export function conversionOf(group: string, version: string, resource: string): Conversion | undefined {
  return CONVERSIONS[`${group}/${version}/${resource}`]?.conversion;
}
