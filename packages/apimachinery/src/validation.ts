// Rules for names, label keys and label values. Each check returns what is wrong in the words of the API server, nothing
// when all is well. Lengths count UTF-8 bytes, as the server does.
// Upstream: apimachinery@v0.30.3:pkg/util/validation/validation.go

const DNS1123_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DNS1123_SUBDOMAIN = `${DNS1123_LABEL}(\\.${DNS1123_LABEL})*`;
const DNS1035_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED_NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${QUALIFIED_NAME})?`;
const CONFIG_MAP_KEY = '[-._a-zA-Z0-9]+';
const WILDCARD = `\\*\\.${DNS1123_SUBDOMAIN}`;
const C_IDENTIFIER = '[A-Za-z_][A-Za-z0-9_]*';
const ENV_VAR_NAME = '[-._a-zA-Z][-._a-zA-Z0-9]*';
const PERCENT = '[0-9]+%';
const HTTP_HEADER_NAME = '[-A-Za-z0-9]+';

const MAX_LABEL_LENGTH = 63;
const MAX_SUBDOMAIN_LENGTH = 253;
const MAX_PORT_NAME_LENGTH = 15;

const QUALIFIED_NAME_TEXT =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

// `$` of JavaScript without the flag m is the end of the input, as in Go: a trailing newline does not pass.
const matcher = (source: string): RegExp => new RegExp(`^${source}$`);
const RE = {
  dns1123Label: matcher(DNS1123_LABEL),
  dns1123Subdomain: matcher(DNS1123_SUBDOMAIN),
  dns1035Label: matcher(DNS1035_LABEL),
  qualifiedName: matcher(QUALIFIED_NAME),
  labelValue: matcher(LABEL_VALUE),
  configMapKey: matcher(CONFIG_MAP_KEY),
  wildcard: matcher(WILDCARD),
  cIdentifier: matcher(C_IDENTIFIER),
  envVarName: matcher(ENV_VAR_NAME),
  percent: matcher(PERCENT),
  httpHeaderName: matcher(HTTP_HEADER_NAME),
} as const;

/** What a check has to say; empty means valid. */
export type ValidationMessages = readonly string[];

/** `must be no more than N characters`. */
export function maxLenError(length: number): string {
  return `must be no more than ${length} characters`;
}

/** Text of a failed pattern: what is expected, examples, the pattern itself. */
export function regexError(text: string, pattern: string, ...examples: readonly string[]): string {
  const suffix = `regex used for validation is '${pattern}')`;
  if (examples.length === 0) return `${text} (${suffix}`;
  return `${text} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}${suffix}`;
}

/** `must be between LOW and HIGH, inclusive`. */
export function inclusiveRangeError(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`;
}

const EMPTY_TEXT = 'must be non-empty';

function isLongerThan(value: string, maxBytes: number): boolean {
  // A UTF-16 unit is one to three bytes: the exact count is only needed in between.
  if (value.length > maxBytes) return true;
  if (value.length * 3 <= maxBytes) return false;
  return new TextEncoder().encode(value).length > maxBytes;
}

function check(value: string, maxBytes: number, pattern: RegExp, text: () => string): string[] {
  const messages: string[] = [];
  if (isLongerThan(value, maxBytes)) messages.push(maxLenError(maxBytes));
  if (!pattern.test(value)) messages.push(text());
  return messages;
}

/** Lower case letters, digits and `-`, at most 63: the names of namespaces. */
export function isDNS1123Label(value: string): ValidationMessages {
  return check(value, MAX_LABEL_LENGTH, RE.dns1123Label, () =>
    RE.dns1123Subdomain.test(value)
      ? 'must not contain dots'
      : regexError(
          "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
          DNS1123_LABEL,
          'my-name',
          '123-abc',
        ),
  );
}

/** Labels joined by dots, at most 253: the names of most objects. */
export function isDNS1123Subdomain(value: string): ValidationMessages {
  return check(value, MAX_SUBDOMAIN_LENGTH, RE.dns1123Subdomain, () =>
    regexError(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      DNS1123_SUBDOMAIN,
      'example.com',
    ),
  );
}

/** As {@link isDNS1123Label}, but the first character is a letter: the names of services. */
export function isDNS1035Label(value: string): ValidationMessages {
  return check(value, MAX_LABEL_LENGTH, RE.dns1035Label, () =>
    regexError(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
      DNS1035_LABEL,
      'my-name',
      'abc-123',
    ),
  );
}

/** `*.` and a subdomain: hosts of an ingress. */
export function isWildcardDNS1123Subdomain(value: string): ValidationMessages {
  return check(value, MAX_SUBDOMAIN_LENGTH, RE.wildcard, () =>
    regexError(
      "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
      WILDCARD,
      '*.example.com',
    ),
  );
}

/** Keys of labels and annotations: a name, optionally with a DNS subdomain and a slash in front. */
export function isQualifiedName(value: string): ValidationMessages {
  const text = (): string => regexError(QUALIFIED_NAME_TEXT, QUALIFIED_NAME, 'MyName', 'my.name', '123-abc');
  const parts = value.split('/');
  if (parts.length > 2) {
    return [`a qualified name ${text()} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const messages: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0]!;
    const wrong = prefix === '' ? [EMPTY_TEXT] : isDNS1123Subdomain(prefix);
    messages.push(...wrong.map((message) => `prefix part ${message}`));
  }
  const name = parts.at(-1)!;
  if (name === '') messages.push(`name part ${EMPTY_TEXT}`);
  else if (isLongerThan(name, MAX_LABEL_LENGTH)) messages.push(`name part ${maxLenError(MAX_LABEL_LENGTH)}`);
  if (!RE.qualifiedName.test(name)) messages.push(`name part ${text()}`);
  return messages;
}

/** Values of labels; the empty string is one. */
export function isValidLabelValue(value: string): ValidationMessages {
  return check(value, MAX_LABEL_LENGTH, RE.labelValue, () =>
    regexError(
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      LABEL_VALUE,
      'MyValue',
      'my_value',
      '12345',
    ),
  );
}

/** Keys of the data of config maps and secrets. */
export function isConfigMapKey(value: string): ValidationMessages {
  const messages = check(value, MAX_SUBDOMAIN_LENGTH, RE.configMapKey, () =>
    regexError(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
      CONFIG_MAP_KEY,
      'key.name',
      'KEY_NAME',
      'key-name',
    ),
  );
  return [...messages, ...parentDirectoryMessages(value)];
}

/** Names of environment variables. */
export function isEnvVarName(value: string): ValidationMessages {
  const messages = check(value, Number.POSITIVE_INFINITY, RE.envVarName, () =>
    regexError(
      "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
      ENV_VAR_NAME,
      'my.env-name',
      'MY_ENV.NAME',
      'MyEnvName1',
    ),
  );
  return [...messages, ...parentDirectoryMessages(value)];
}

/** Identifiers of the language C. */
export function isCIdentifier(value: string): ValidationMessages {
  return check(value, Number.POSITIVE_INFINITY, RE.cIdentifier, () =>
    regexError(
      "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
      C_IDENTIFIER,
      'my_name',
      'MY_NAME',
      'MyName',
    ),
  );
}

/** Names of HTTP headers. */
export function isHTTPHeaderName(value: string): ValidationMessages {
  return check(value, Number.POSITIVE_INFINITY, RE.httpHeaderName, () =>
    regexError("a valid HTTP header must consist of alphanumeric characters or '-'", HTTP_HEADER_NAME, 'X-Header-Name'),
  );
}

/** A number and `%`, as in `maxUnavailable: 25%`. */
export function isValidPercent(value: string): ValidationMessages {
  return check(value, Number.POSITIVE_INFINITY, RE.percent, () =>
    regexError("a valid percent string must be a numeric string followed by an ending '%'", PERCENT, '1%', '93%'),
  );
}

/** 1 to 65535. */
export function isValidPortNum(port: number): ValidationMessages {
  return isInRange(port, 1, 65_535);
}

/** Both ends belong to the range. */
export function isInRange(value: number, low: number, high: number): ValidationMessages {
  return value >= low && value <= high ? [] : [inclusiveRangeError(low, high)];
}

/** Names of container ports. */
export function isValidPortName(port: string): ValidationMessages {
  const messages: string[] = [];
  if (isLongerThan(port, MAX_PORT_NAME_LENGTH)) messages.push(maxLenError(MAX_PORT_NAME_LENGTH));
  if (!/^[-a-z0-9]+$/.test(port)) {
    messages.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(port)) messages.push('must contain at least one letter (a-z)');
  if (port.includes('--')) messages.push('must not contain consecutive hyphens');
  if (port.startsWith('-') || port.endsWith('-')) messages.push('must not begin or end with a hyphen');
  return messages;
}

function parentDirectoryMessages(value: string): string[] {
  if (value === '.') return ["must not be '.'"];
  if (value === '..') return ["must not be '..'"];
  if (value.startsWith('..')) return ["must not start with '..'"];
  return [];
}
