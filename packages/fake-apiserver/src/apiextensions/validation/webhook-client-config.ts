// Where a webhook is reached: a URL, or a service in the cluster.
// Upstream: apiserver@v0.30.3:pkg/util/webhook/validation.go
import { isDNS1123Subdomain } from '@kube-rx/apimachinery';
import { child, type FieldError, invalid, required } from '../field-error.ts';
import type { JsonObject } from '../schema/json.ts';

export function webhookUrlErrors(url: string, path: string): FieldError[] {
  const form = '; desired format: https://host[/path]';
  const parts = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/(?:([^@/?#]*)@)?([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/.exec(url);
  const errors: FieldError[] = [];
  const [scheme, user, host, query, fragment] = [
    parts?.[1] ?? '',
    parts?.[2],
    parts?.[3] ?? '',
    parts?.[5],
    parts?.[6],
  ];
  if (scheme !== 'https') errors.push(invalid(path, scheme, `'https' is the only allowed URL scheme${form}`));
  if (host === '') errors.push(invalid(path, host, `host must be specified${form}`));
  if (user !== undefined) errors.push(invalid(path, user, 'user information is not permitted in the URL'));
  if (fragment !== undefined) errors.push(invalid(path, fragment.slice(1), 'fragments are not permitted in the URL'));
  if (query !== undefined) errors.push(invalid(path, query.slice(1), 'query parameters are not permitted in the URL'));
  return errors;
}

export function webhookServiceErrors(service: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  // Upstream hands the two over in the wrong order, so each is reported under the other's name.
  for (const [name, reported] of [
    ['namespace', 'name'],
    ['name', 'namespace'],
  ] as const) {
    if (typeof service[name] === 'string' && service[name] !== '') continue;
    errors.push(required(child(path, reported), `service ${reported} is required`));
  }
  const port = service['port'];
  if (typeof port === 'number' && (port < 1 || port > 65535)) {
    errors.push(invalid(child(path, 'port'), port, 'port is not valid: must be between 1 and 65535, inclusive'));
  }
  const urlPath = service['path'];
  if (typeof urlPath !== 'string') return errors;
  const at = child(path, 'path');
  if (urlPath === '/' || urlPath === '') return errors;
  if (urlPath === '//') return [...errors, invalid(at, urlPath, 'segment[0] may not be empty')];
  if (!urlPath.startsWith('/')) errors.push(invalid(at, urlPath, "must start with a '/'"));
  const steps = urlPath.slice(1).replace(/\/$/, '').split('/');
  for (const [position, step] of steps.entries()) {
    if (step === '') errors.push(invalid(at, urlPath, `segment[${position}] may not be empty`));
    else
      for (const failure of isDNS1123Subdomain(step))
        errors.push(invalid(at, urlPath, `segment[${position}]: ${failure}`));
  }
  return errors;
}
