// The value of a Content-Type header.
// Upstream: go1.22:mime/mediatype.go#ParseMediaType

export interface MediaType {
  /** In lower case, without parameters; '' when the header has none that can be read. */
  readonly type: string;
  /** Why the header is malformed. */
  readonly problem?: string;
}

// RFC 7230 token
const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
const TYPE = new RegExp(`^${TOKEN}(?:/${TOKEN})?$`);
const PARAMETER = new RegExp(`^\\s*;\\s*(${TOKEN})\\s*=\\s*(${TOKEN}|"(?:[^"\\\\]|\\\\.)*")`);

/** A parameter that is malformed leaves the type readable; a type that is malformed, or a parameter given twice, does not. */
export function parseMediaType(header: string): MediaType {
  const semicolon = header.indexOf(';');
  const type = (semicolon < 0 ? header : header.slice(0, semicolon)).trim().toLowerCase();
  if (!TYPE.test(type)) return { type: '', problem: 'malformed media type' };
  const seen = new Map<string, string>();
  let rest = semicolon < 0 ? '' : header.slice(semicolon);
  while (rest.trim() !== '') {
    const match = PARAMETER.exec(rest);
    if (match === null) return rest.trim() === ';' ? { type } : { type, problem: 'malformed parameter' };
    const name = match[1]!.toLowerCase();
    const value = match[2]!;
    if ((seen.get(name) ?? value) !== value) return { type: '', problem: 'duplicate parameter' };
    seen.set(name, value);
    rest = rest.slice(match[0].length);
  }
  return { type };
}
