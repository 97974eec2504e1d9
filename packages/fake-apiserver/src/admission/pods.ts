// What every new pod gets: its priority, and tolerations that let it survive a node's short absence.
// Upstream: kubernetes@v1.30.3:plugin/pkg/admission/{priority,defaulttolerationseconds}/admission.go
import { newForbidden } from '@kube-rx/apimachinery';
import { bool, type Draft, dict, dicts, list, num, put, str } from '../registry/draft.ts';
import type { ApiObject } from '../storage/api-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts';

/** All priority classes there are. */
export type PriorityClasses = (signal: AbortSignal) => Promise<readonly ApiObject[]>;

const isPodWrite = ({ resource, subresource, operation }: AdmissionAttributes): boolean =>
  (operation === 'CREATE' || operation === 'UPDATE') &&
  resource.group === '' &&
  resource.resource === 'pods' &&
  subresource === '';

const isPod = (attributes: AdmissionAttributes): boolean => attributes.operation === 'CREATE' && isPodWrite(attributes);

const TOLERATION_SECONDS = 300;
const UNSTABLE = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/** Tolerates a node that is not ready or unreachable for five minutes. */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  admit(attributes) {
    if (!isPodWrite(attributes)) return;
    const spec = dict(attributes.object, 'spec');
    if (spec === undefined) return;
    const present = dicts(spec, 'tolerations');
    const missing = UNSTABLE.filter((key) => !present.some((toleration) => covers(toleration, key)));
    if (missing.length === 0) return;
    put(spec, 'tolerations', [
      ...list(spec, 'tolerations'),
      ...missing.map((key) => ({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: TOLERATION_SECONDS,
      })),
    ]);
  },
};

function covers(toleration: Draft, key: string): boolean {
  const own = str(toleration, 'key');
  const effect = str(toleration, 'effect');
  return (own === key || own === '') && (effect === 'NoExecute' || effect === '');
}

/** Resolves a pod's priority class to its number. */
export class Priority implements AdmissionPlugin {
  readonly name = 'Priority';
  readonly #classes: PriorityClasses;

  constructor(classes: PriorityClasses) {
    this.#classes = classes;
  }

  async admit(attributes: AdmissionAttributes): Promise<void> {
    if (!isPod(attributes)) return;
    const spec = dict(attributes.object, 'spec');
    if (spec === undefined) return;
    const classes = (await this.#classes(attributes.request.signal)) as readonly unknown[] as readonly Draft[];
    const { value, policy } = this.#resolve(attributes, spec, classes);
    const asked = num(spec, 'priority');
    if (asked !== undefined && asked !== value)
      throw this.#refuse(
        attributes,
        `the integer value of priority (${asked}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
      );
    put(spec, 'priority', value);
    const preemption = str(spec, 'preemptionPolicy');
    if (preemption !== '' && preemption !== policy)
      throw this.#refuse(
        attributes,
        `the string value of PreemptionPolicy (${preemption}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
      );
    put(spec, 'preemptionPolicy', policy);
  }

  #resolve(
    attributes: AdmissionAttributes,
    spec: Draft,
    classes: readonly Draft[],
  ): { readonly value: number; readonly policy: string } {
    const asked = str(spec, 'priorityClassName');
    const found =
      asked === ''
        ? classes
            .filter((one) => bool(one, 'globalDefault'))
            .sort((a, b) => (num(a, 'value') ?? 0) - (num(b, 'value') ?? 0))[0]
        : classes.find((one) => str(dict(one, 'metadata'), 'name') === asked);
    if (found === undefined) {
      if (asked !== '') throw this.#refuse(attributes, `no PriorityClass with name ${asked} was found`);
      return { value: 0, policy: 'PreemptLowerPriority' };
    }
    if (asked === '') put(spec, 'priorityClassName', str(dict(found, 'metadata'), 'name'));
    return { value: num(found, 'value') ?? 0, policy: str(found, 'preemptionPolicy') || 'PreemptLowerPriority' };
  }

  #refuse({ resource, object, name }: AdmissionAttributes, why: string): Error {
    const own = str(dict(object, 'metadata'), 'name') || name;
    return newForbidden(resource, own, why);
  }
}
