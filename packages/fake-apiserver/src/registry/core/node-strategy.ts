// Nodes.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/node/strategy.go, pkg/apis/core/validation/validation.go#ValidateNode
import { goQuote, isValidLabelValue } from '@kube-rx/apimachinery';
import type { ApiObject } from '../../storage/api-object.ts';
import { bool, type Draft, dict, dicts, get, semanticEqual, str, strings } from '../draft.ts';
import type { Strategy } from '../strategy.ts';
import { keep, statusPart, statusResetFields } from '../strategy-parts.ts';
import { type FieldErrors, go, path } from '../validation/field-errors.ts';
import { ipFamily, validateCidr } from '../validation/ip.ts';
import { validateLabelName } from '../validation/labels.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function validateTaints(object: Draft, errors: FieldErrors): void {
  const seen = new Set<string>();
  dicts(dict(object, 'spec'), 'taints').forEach((taint, index) => {
    // The path upstream tells is not that of the field.
    const at = path('metadata', 'taints').index(index);
    const [key, value, effect] = [str(taint, 'key'), str(taint, 'value'), str(taint, 'effect')];
    validateLabelName(key, at.child('key'), errors);
    const wrong = isValidLabelValue(value);
    if (wrong.length > 0) errors.invalid(at.child('value'), value, wrong.join(';'));
    if (effect === '') errors.required(at.child('effect'));
    else if (!EFFECTS.includes(effect)) errors.notSupported(at.child('effect'), effect, EFFECTS);
    const id = `${effect}\n${key}`;
    if (seen.has(id)) {
      const shown = `core.Taint{Key:${goQuote(key)}, Value:${goQuote(value)}, Effect:${goQuote(effect)}, TimeAdded:<nil>}`;
      errors.duplicate(at, go(shown), 'taints must be unique by key and effect pair');
    }
    seen.add(id);
  });
}

export const nodeStrategy: Strategy = {
  namespaced: false,
  resetFields: statusResetFields(),
  fieldLabels: new Map([
    ['metadata.name', 'metadata.name'],
    ['spec.unschedulable', 'spec.unschedulable'],
  ]),
  selectableFields: (object: ApiObject) => ({
    'spec.unschedulable': String(bool(dict(object as unknown as Draft, 'spec'), 'unschedulable')),
  }),
  prepareForUpdate(object, old) {
    keep(object, old, 'status');
  },
  validateCreate(object, errors) {
    validateTaints(object, errors);
    const ranges = strings(dict(object, 'spec'), 'podCIDRs');
    const at = path('spec', 'podCIDRs');
    ranges.forEach((range, index) => {
      validateCidr(range, at.index(index), errors);
    });
    if (ranges.length < 2) return;
    const families = new Set(ranges.map((range) => ipFamily(range.split('/')[0]!)));
    if (families.size < 2 || ranges.length > 2)
      errors.invalid(at, ranges, 'may specify no more than one CIDR for each IP family');
    ranges.forEach((range, index) => {
      if (ranges.indexOf(range) < index) errors.duplicate(at.index(index), range);
    });
  },
  validateUpdate(object, old, errors) {
    validateTaints(object, errors);
    const [spec, oldSpec] = [dict(object, 'spec'), dict(old, 'spec')];
    const providerId = str(oldSpec, 'providerID');
    if (providerId !== '' && providerId !== str(spec, 'providerID'))
      errors.forbidden(path('spec', 'providerID'), 'node updates may not change providerID except from "" to valid');
    const ranges = strings(oldSpec, 'podCIDRs');
    if (ranges.length > 0 && !semanticEqual(get(spec, 'podCIDRs'), ranges))
      errors.forbidden(path('spec', 'podCIDRs'), 'node updates may not change podCIDR except from "" to valid');
  },
  subresources: { status: statusPart() },
};
