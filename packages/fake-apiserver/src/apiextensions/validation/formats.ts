// String formats a schema may ask for; a format that is not here is ignored.
// Upstream: kube-openapi:pkg/validation/strfmt, apiextensions-apiserver@v0.30.3:pkg/apiserver/validation/formats.go
import { isIPv4, isIPv6 } from 'node:net';

const HEX = '[0-9a-f]';
const uuid = (version: string, variant: string): RegExp =>
  new RegExp(`^${HEX}{8}-?${HEX}{4}-?${version}${HEX}{3}-?${variant}${HEX}{3}-?${HEX}{12}$`, 'i');
const HOSTNAME =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u;
const CREDIT_CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11}|6[27][0-9]{14})$/;
const BYTE = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const RGB = '(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])';
const RGB_COLOR = new RegExp(`^rgb\\(\\s*${RGB}\\s*,\\s*${RGB}\\s*,\\s*${RGB}\\s*\\)$`);
const EMAIL =
  /^(?:[^<>@,;:"\\[\]()]*<)?[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[^\s<>@,;:"\\[\]()]+|\[[^\]]*\])>?$/u;
const GO_DURATION = /^[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const LOOSE_DURATION = /\d+\s*(?:ns|nano|us|µs|micro|ms|milli|s|sec|m|min|h|hr|hour|d|day|w|wk|week)/i;
const TIME = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/;
const OBJECT_ID = /^[0-9a-f]{24}$/i;

const looseIPv4 = (value: string): boolean => isIPv4(value.replace(/\b0+(?=\d)/g, ''));

function isHostname(value: string): boolean {
  return (
    HOSTNAME.test(value) &&
    Buffer.byteLength(value) <= 255 &&
    value.split('.').every((part) => Buffer.byteLength(part) <= 63)
  );
}

function isCidr(value: string): boolean {
  const [address = '', bits = '', ...more] = value.split('/');
  if (more.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  if (looseIPv4(address)) return Number(bits) <= 32;
  return isIPv6(address) && !address.includes('%') && Number(bits) <= 128;
}

function isMac(value: string): boolean {
  const octets = /^[0-9a-f]{2}([:-][0-9a-f]{2})+$/i.test(value) ? value.split(/[:-]/).length : 0;
  const dotted = /^[0-9a-f]{4}(\.[0-9a-f]{4})+$/i.test(value) ? value.split('.').length * 2 : 0;
  const mixed = value.includes(':') && value.includes('-');
  return !mixed && [6, 8, 20].includes(octets || dotted);
}

function isDate(value: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value);
  if (parts === null) return false;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return day <= [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]!;
}

function isDateTime(value: string): boolean {
  const [date = '', time] = value.toLowerCase().split('t');
  const match = time === undefined || !isDate(date) ? null : TIME.exec(time);
  return match !== null && match[1]! <= '23' && match[2]! <= '59' && match[3]! <= '59';
}

function isRequestUri(value: string): boolean {
  // As Go's url.ParseRequestURI: absolute, or an absolute path; no control characters, no fragment rules.
  if (/[\p{Cc} ]/u.test(value) || /%(?![0-9A-Fa-f]{2})/.test(value)) return false;
  if (value.startsWith('/')) return true;
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/.exec(value);
  if (scheme === null) return false;
  const host = /^\/\/([^/?#]*)/.exec(scheme[2]!);
  return host === null
    ? scheme[2] !== '' && !scheme[2]!.startsWith('?')
    : /^(?:[^@]*@)?(?:\[[^\]]*\]|[^:[\]<>"]*)(?::\d*)?$/.test(host[1]!);
}

function isbnDigits(value: string, length: number): string | undefined {
  const digits = value.replace(/[\s-]+/g, '');
  return digits.length === length && /^\d+[\dX]$/.test(digits) ? digits : undefined;
}

function isIsbn10(value: string): boolean {
  const digits = isbnDigits(value, 10);
  if (digits === undefined) return false;
  let sum = 0;
  for (let place = 0; place < 9; place++) sum += (place + 1) * Number(digits[place]);
  sum += digits[9] === 'X' ? 100 : 10 * Number(digits[9]);
  return sum % 11 === 0;
}

function isIsbn13(value: string): boolean {
  const digits = isbnDigits(value, 13);
  if (digits === undefined || digits.endsWith('X')) return false;
  let sum = 0;
  for (let place = 0; place < 12; place++) sum += (place % 2 === 0 ? 1 : 3) * Number(digits[place]);
  return (10 - (sum % 10)) % 10 === Number(digits[12]);
}

function isCreditCard(value: string): boolean {
  const digits = value.replace(/[^0-9]+/g, '');
  if (!CREDIT_CARD.test(digits)) return false;
  let sum = 0;
  for (let place = 0; place < digits.length; place++) {
    const digit = Number(digits[digits.length - 1 - place]);
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

const CHECKS: ReadonlyMap<string, (value: string) => boolean> = new Map<string, (value: string) => boolean>([
  ['bsonobjectid', (value) => OBJECT_ID.test(value)],
  ['uri', isRequestUri],
  ['email', (value) => EMAIL.test(value)],
  ['hostname', isHostname],
  ['ipv4', (value) => value.includes('.') && (looseIPv4(value) || isIPv6(value))],
  ['ipv6', (value) => value.includes(':') && isIPv6(value) && !value.includes('%')],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', (value) => uuid(HEX, HEX).test(value)],
  ['uuid3', (value) => uuid('3', HEX).test(value)],
  ['uuid4', (value) => uuid('4', '[89ab]').test(value)],
  ['uuid5', (value) => uuid('5', '[89ab]').test(value)],
  ['isbn', (value) => isIsbn10(value) || isIsbn13(value)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (value) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(value)],
  ['hexcolor', (value) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(value)],
  ['rgbcolor', (value) => RGB_COLOR.test(value)],
  ['byte', (value) => BYTE.test(value)],
  ['password', () => true],
  ['date', isDate],
  ['duration', (value) => GO_DURATION.test(value) || LOOSE_DURATION.test(value)],
  ['datetime', isDateTime],
]);

/** The check of a format, undefined for one the server ignores. Dashes in the name do not count. */
export function formatCheck(format: string): ((value: string) => boolean) | undefined {
  return CHECKS.get(format.replaceAll('-', ''));
}
