// The conversion part of a CRD.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apis/apiextensions/validation/validation.go#validateCustomResourceConversion
import { isDNS1035Label } from '@kube-rx/apimachinery';
import { child, type FieldError, forbidden, index, invalid, notSupported, required } from '../field-error.ts';
import { isObject, type JsonObject } from '../schema/json.ts';
import { type CrdRules, REVIEW_VERSIONS } from './crd-rules.ts';
import { goStringList } from './go-crd.ts';
import type { InternalSpec } from './internal-spec.ts';
import { webhookServiceErrors, webhookUrlErrors } from './webhook-client-config.ts';

const PATH = 'spec.conversion';
const STRATEGIES = ['None', 'Webhook'];

export function conversionErrors(spec: InternalSpec, rules: CrdRules): FieldError[] {
  const { conversion } = spec;
  if (conversion === undefined) return [];
  const errors: FieldError[] = [];
  const { strategy } = conversion;
  if (strategy !== 'None' && spec.crd.preserveUnknownFields) {
    errors.push(invalid(`${PATH}.strategy`, strategy, 'must be None if spec.preserveUnknownFields is true'));
  }
  if (strategy === '') errors.push(required(`${PATH}.strategy`, ''));
  else if (!STRATEGIES.includes(strategy)) errors.push(notSupported(`${PATH}.strategy`, strategy, STRATEGIES));
  if (strategy === 'Webhook') {
    errors.push(...clientConfigErrors(conversion.clientConfig));
    errors.push(...reviewVersionErrors(conversion.reviewVersions, rules.requireRecognizedConversionReviewVersion));
    return errors;
  }
  const detail = 'should not be set when strategy is not set to Webhook';
  if (conversion.clientConfig !== undefined) errors.push(forbidden(`${PATH}.webhookClientConfig`, detail));
  if (conversion.reviewVersions.length > 0) errors.push(forbidden(`${PATH}.conversionReviewVersions`, detail));
  return errors;
}

function clientConfigErrors(config: JsonObject | undefined): FieldError[] {
  const path = `${PATH}.webhookClientConfig`;
  if (config === undefined) return [required(path, 'required when strategy is set to Webhook')];
  const { url, service } = config as { url?: unknown; service?: unknown };
  const [hasUrl, hasService] = [typeof url === 'string', isObject(service)];
  if (hasUrl === hasService) return [required(path, 'exactly one of url or service is required')];
  if (hasUrl) return webhookUrlErrors(url as string, child(path, 'url'));
  return webhookServiceErrors(service as JsonObject, child(path, 'service'));
}

function reviewVersionErrors(versions: readonly string[], requireRecognized: boolean): FieldError[] {
  const path = `${PATH}.conversionReviewVersions`;
  if (versions.length === 0) return [required(path, '')];
  const errors: FieldError[] = [];
  for (const [position, version] of versions.entries()) {
    if (versions.indexOf(version) < position) errors.push(invalid(index(path, position), version, 'duplicate version'));
    else for (const detail of isDNS1035Label(version)) errors.push(invalid(index(path, position), version, detail));
  }
  if (requireRecognized && !versions.some((version) => REVIEW_VERSIONS.includes(version))) {
    errors.push(invalid(path, goStringList(versions), `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  }
  return errors;
}
