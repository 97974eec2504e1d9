// Values of API types as Go's `%#v` prints them in field errors.
import { goQuote } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, has, str, strings } from '../draft.ts';
import { goStringList, goStringMap } from './field-errors.ts';

export function goLabelSelector(selector: Draft): string {
  const requirements = dicts(selector, 'matchExpressions').map((one) => {
    const values = has(one, 'values') ? goStringList(strings(one, 'values')) : '[]string(nil)';
    return `v1.LabelSelectorRequirement{Key:${goQuote(str(one, 'key'))}, Operator:${goQuote(str(one, 'operator'))}, Values:${values}}`;
  });
  const expressions =
    requirements.length === 0
      ? '[]v1.LabelSelectorRequirement(nil)'
      : `[]v1.LabelSelectorRequirement{${requirements.join(', ')}}`;
  return `v1.LabelSelector{MatchLabels:${goStringMap(dict(selector, 'matchLabels'))}, MatchExpressions:${expressions}}`;
}
