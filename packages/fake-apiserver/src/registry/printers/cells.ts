// Parts of cells that several kinds share.
// Upstream: kubernetes@v1.30.3:pkg/printers/internalversion/printers.go, apimachinery@v0.30.3:pkg/apis/meta/v1/helpers.go#FormatLabelSelector
import { labelSelectorFromObject } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, entries, get, num, str } from '../draft.ts';

export const NONE = '<none>';
export const UNKNOWN = '<unknown>';
export const UNSET = '<unset>';

/** `a=b,c=d`, `<none>` for no labels. */
export function formatLabels(parent: Draft | undefined, field: string): string {
  const text = entries(parent, field)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  return text === '' ? NONE : text;
}

/** The canonical text of a LabelSelector object; '' selects everything. */
export function selectorText(selector: Draft | undefined): string {
  return labelSelectorFromObject(selector).toString();
}

/** As {@link selectorText}, with a word for nothing and for what is no selector. */
export function formatSelector(selector: Draft | undefined): string {
  if (selector === undefined) return NONE;
  try {
    return selectorText(selector) || NONE;
  } catch {
    return '<error>';
  }
}

/** Names and images of the containers of a pod template's spec. */
export function containerCells(podSpec: Draft | undefined): readonly [string, string] {
  const containers = dicts(podSpec, 'containers');
  return [
    containers.map((container) => str(container, 'name')).join(','),
    containers.map((container) => str(container, 'image')).join(','),
  ];
}

export const templateSpec = (object: Draft): Draft | undefined => dict(object, 'spec', 'template', 'spec');
export const count = (parent: Draft | undefined, field: string): number => num(parent, field) ?? 0;

/** `a,b,c + 2 more...`: the first three of a list. */
export function firstThree(items: readonly string[], empty: string): string {
  if (items.length === 0) return empty;
  const shown = items.slice(0, 3).join(',');
  return items.length > 3 ? `${shown} + ${items.length - 3} more...` : shown;
}

/** The sorted addresses of a load balancer, as wide output shows them. */
export function loadBalancerAddresses(object: Draft): string {
  const addresses = dicts(dict(object, 'status', 'loadBalancer'), 'ingress')
    .map((ingress) => str(ingress, 'ip') || str(ingress, 'hostname'))
    .filter((address) => address !== '');
  return [...new Set(addresses)].sort().join(',');
}

const ACCESS_MODES: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

export function accessModes(parent: Draft | undefined): string {
  const modes = get(parent, 'accessModes');
  if (!Array.isArray(modes)) return '';
  return ACCESS_MODES.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

/** A value that may be a number or text, as text. */
export const text = (value: unknown): string => (value === undefined ? '' : String(value));
