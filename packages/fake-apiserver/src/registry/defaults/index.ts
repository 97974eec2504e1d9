// All defaults of the built-in types, by schema name.
import { coreDefaults } from './core.ts';
import type { TypeDefault } from './defaulter.ts';
import { policyDefaults } from './policies.ts';
import { appsDefaults, autoscalingV1Defaults, autoscalingV2Defaults, batchDefaults } from './workloads.ts';

export { Defaulter, type TypeDefault } from './defaulter.ts';

const byPackage: Readonly<Record<string, Readonly<Record<string, TypeDefault>>>> = {
  'io.k8s.api.core.v1': coreDefaults,
  'io.k8s.api.apps.v1': appsDefaults,
  'io.k8s.api.batch.v1': batchDefaults,
  'io.k8s.api.autoscaling.v1': autoscalingV1Defaults,
  'io.k8s.api.autoscaling.v2': autoscalingV2Defaults,
  ...policyDefaults,
};

export const builtInDefaults: ReadonlyMap<string, TypeDefault> = new Map(
  Object.entries(byPackage).flatMap(([pkg, types]) =>
    Object.entries(types).map(([name, fill]) => [`${pkg}.${name}`, fill] as const),
  ),
);
