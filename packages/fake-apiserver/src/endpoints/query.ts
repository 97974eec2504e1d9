// The query of a URL, read as Go reads it.
// Upstream: go1.22:src/net/url/url.go#ParseQuery

/** Decoded parameters in order of appearance. Of duplicates most readers take the first. */
export class Query {
  readonly #values = new Map<string, string[]>();

  constructor(raw: string) {
    for (const pair of raw.split('&')) {
      // A semicolon makes the pair invalid and Go drops it.
      if (pair === '' || pair.includes(';')) continue;
      const cut = pair.indexOf('=');
      const key = unescapeComponent(cut < 0 ? pair : pair.slice(0, cut), true);
      const value = unescapeComponent(cut < 0 ? '' : pair.slice(cut + 1), true);
      if (key === undefined || value === undefined) continue;
      const known = this.#values.get(key);
      if (known === undefined) this.#values.set(key, [value]);
      else known.push(value);
    }
  }

  /** The first value, or undefined when the parameter is absent. */
  first(name: string): string | undefined {
    return this.#values.get(name)?.[0];
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }
}

const ESCAPE = /%[0-9a-fA-F]{2}/g;

/** Percent-decoding; undefined when an escape is malformed. Bytes that are no UTF-8 become U+FFFD. */
export function unescapeComponent(text: string, plusIsSpace: boolean): string | undefined {
  const spaced = plusIsSpace && text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  if (spaced.replace(ESCAPE, '').includes('%')) return undefined;
  try {
    return decodeURIComponent(spaced);
  } catch {
    const bytes: Buffer[] = [];
    let last = 0;
    for (const match of spaced.matchAll(ESCAPE)) {
      bytes.push(Buffer.from(spaced.slice(last, match.index)), Buffer.from(match[0].slice(1), 'hex'));
      last = match.index + 3;
    }
    bytes.push(Buffer.from(spaced.slice(last)));
    return Buffer.concat(bytes).toString('utf8');
  }
}
