// IP addresses and ranges, read as leniently as upstream does (leading zeros in IPv4).
// Upstream: apimachinery@v0.30.3:pkg/util/validation/validation.go#IsValidIP, kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#ValidateNonSpecialIP
import { isIPv6 } from 'node:net';
import type { FieldErrors, FieldPath } from './field-errors.ts';

export type IpFamily = 'IPv4' | 'IPv6';

const V4 = /^\d{1,3}(\.\d{1,3}){3}$/;

/** The family of an address, undefined for what is none. */
export function ipFamily(text: string): IpFamily | undefined {
  if (V4.test(text) && text.split('.').every((part) => Number(part) <= 255)) return 'IPv4';
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return /^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(text) ? 'IPv4' : 'IPv6';
}

export function isCidr(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/');
  const family = ipFamily(address);
  if (family === undefined || rest.length > 0 || !/^\d+$/.test(bits)) return false;
  return Number(bits) <= (family === 'IPv4' ? 32 : 128);
}

export function validateIp(text: string, at: FieldPath, errors: FieldErrors): boolean {
  if (ipFamily(text) !== undefined) return true;
  errors.invalid(at, text, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)');
  return false;
}

export function validateCidr(text: string, at: FieldPath, errors: FieldErrors): boolean {
  if (isCidr(text)) return true;
  errors.invalid(at, text, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)');
  return false;
}

export function validateIpOfFamily(text: string, family: IpFamily, at: FieldPath, errors: FieldErrors): void {
  if (ipFamily(text) !== family) errors.invalid(at, text, `must be a valid ${family} address`);
}

/** Addresses endpoints may not have. */
export function validateNonSpecialIp(text: string, at: FieldPath, errors: FieldErrors): void {
  const family = ipFamily(text);
  if (family === undefined) {
    errors.invalid(at, text, 'must be a valid IP address');
    return;
  }
  const [first = 0, second = 0, third = 0] = text.split('.').map(Number);
  const v4 = family === 'IPv4' && V4.test(text);
  const lower = text.toLowerCase();
  if (v4 ? Number(text.replaceAll('.', '')) === 0 : /^[0:]+$/.test(lower))
    errors.invalid(at, text, `may not be unspecified (${text})`);
  if (v4 ? first === 127 : /^(0{0,4}:)*:?0{0,3}1$/.test(lower))
    errors.invalid(at, text, 'may not be in the loopback range (127.0.0.0/8, ::1/128)');
  if (v4 ? first === 169 && second === 254 : /^fe[89ab]/.test(lower))
    errors.invalid(at, text, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  if (v4 ? first === 224 && second === 0 && third === 0 : /^ff.2/.test(lower))
    errors.invalid(at, text, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
}
