// Certificate signing requests.
// Upstream: kubernetes@v1.30.3:pkg/apis/certificates/validation/validation.go
// Differs: the request's signature is not checked.
import { X509Certificate } from 'node:crypto';
import { goQuote, isDNS1123Subdomain } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, num, semanticEqual, str, strings } from '../draft.ts';
import { type FieldErrors, type FieldPath, go, goBytes, path } from './field-errors.ts';
import { messages } from './values.ts';

const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const SHORTEST_SECONDS = 600;
const PEM = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n[\s\S]*?-----END \1-----/;

/** A signer is `domain/path`. */
function validateSignerName(name: string, at: FieldPath, errors: FieldErrors): void {
  if (name === '') {
    errors.required(at);
    return;
  }
  const [domain = '', ...rest] = name.split('/');
  if (rest.length !== 1) {
    errors.invalid(at, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
    return;
  }
  messages(name, isDNS1123Subdomain(domain), at, errors);
  if (!domain.includes('.'))
    errors.invalid(at, name, 'should be a domain with at least two segments separated by dots');
  const path = rest[0]!;
  if (path === '') errors.invalid(at, name, `validating label "": must be non-empty`);
}

function validateConditions(object: Draft, errors: FieldErrors): void {
  const seen = new Set<string>();
  dicts(dict(object, 'status'), 'conditions').forEach((condition, index) => {
    const at = path('status', 'conditions').index(index);
    const [type, status] = [str(condition, 'type'), str(condition, 'status')];
    if (type === '') errors.required(at.child('type'));
    const allowed = ['Approved', 'Denied', 'Failed'].includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    if (status === '') errors.required(at.child('status'));
    else if (!allowed.includes(status)) errors.notSupported(at.child('status'), status, allowed);
    const rival = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined;
    if (rival !== undefined && seen.has(rival))
      errors.invalid(at.child('type'), type, 'Approved and Denied conditions are mutually exclusive');
    if (seen.has(type)) errors.duplicate(at.child('type'), type);
    seen.add(type);
  });
}

export function validateSigningRequest(object: Draft, errors: FieldErrors, old?: Draft): void {
  const spec = dict(object, 'spec');
  const at = path('spec');
  if (old === undefined || !semanticEqual(dict(old, 'spec'), spec)) {
    const request = Buffer.from(str(spec, 'request'), 'base64');
    const block = PEM.exec(request.toString('latin1'));
    if (block?.[1] !== 'CERTIFICATE REQUEST')
      errors.invalid(
        at.child('request'),
        go(request.length === 0 ? '[]byte(nil)' : goBytes(request)),
        'PEM block type must be CERTIFICATE REQUEST',
      );
  }
  const usages = strings(spec, 'usages');
  if (usages.length === 0) errors.required(at.child('usages'));
  usages.forEach((usage, index) => {
    if (!USAGES.includes(usage)) errors.notSupported(at.child('usages').index(index), usage, USAGES);
  });
  usages.forEach((usage, index) => {
    if (usages.indexOf(usage) < index) errors.duplicate(at.child('usages').index(index), usage);
  });
  const signer = str(spec, 'signerName');
  if (signer === 'kubernetes.io/legacy-unknown')
    errors.invalid(at.child('signerName'), signer, 'the legacy signerName is not allowed via this API version');
  else validateSignerName(signer, at.child('signerName'), errors);
  const seconds = num(spec, 'expirationSeconds');
  if (seconds !== undefined && seconds < SHORTEST_SECONDS)
    errors.invalid(
      at.child('expirationSeconds'),
      seconds,
      'may not specify a duration less than 600 seconds (10 minutes)',
    );
  validateConditions(object, errors);
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([\s\S]*?)-----END \1-----/g;

/** Why an issued certificate cannot be taken; undefined when it can. */
function certificateProblem(pem: string): string | undefined {
  const blocks = [...pem.matchAll(BLOCK)];
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block';
  for (const [, type, body = ''] of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${goQuote(type ?? '')}`;
    if (body.includes(':')) return 'no PEM block headers are permitted';
    try {
      new X509Certificate(Buffer.from(body, 'base64'));
    } catch {
      return 'x509: malformed certificate';
    }
  }
  return undefined;
}

/** What a write may touch: conditions that decide, the certificate, or neither. */
export type SigningRequestPart = 'approval' | 'status' | '';

export function validateSigningRequestUpdate(
  object: Draft,
  old: Draft,
  errors: FieldErrors,
  part: SigningRequestPart,
): void {
  validateSigningRequest(object, errors, old);
  const [status, before] = [dict(object, 'status'), dict(old, 'status')];
  const [certificate, issued] = [str(status, 'certificate'), str(before, 'certificate')];
  const problem =
    certificate === issued || certificate === ''
      ? undefined
      : certificateProblem(Buffer.from(certificate, 'base64').toString('latin1'));
  const at = path('status', 'certificate');
  if (problem !== undefined) errors.invalid(at, '<certificate data>', problem);
  const conditions = path('status', 'conditions');
  const count = (parent: Draft | undefined, type: string): number =>
    dicts(parent, 'conditions').filter((condition) => str(condition, 'type') === type).length;
  for (const type of ['Approved', 'Denied', 'Failed'])
    if (count(status, type) < count(before, type))
      errors.forbidden(conditions, `updates may not remove a condition of type ${goQuote(type)}`);
  if (part !== 'approval')
    for (const type of ['Approved', 'Denied'])
      if (count(status, type) > count(before, type))
        errors.forbidden(conditions, `updates may not add a condition of type ${goQuote(type)}`);
  if (certificate === issued) return;
  if (part !== 'status') errors.forbidden(at, 'updates may not set certificate content');
  else if (issued !== '') errors.forbidden(at, 'updates may not modify existing certificate content');
}
