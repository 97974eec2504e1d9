// `Warning: 299 - "text"` headers, each text once, shortened when there are too many of them.
// Upstream: apiserver@v0.30.3:pkg/endpoints/filters/warning.go
import type { HttpResponse } from '../endpoints/http.ts';

const MAX_TOTAL = 4 * 1024;
const MAX_EACH_WHEN_FULL = 256;

export class WarningHeaders {
  readonly #response: HttpResponse;
  readonly #seen = new Set<string>();
  #total = 0;

  constructor(response: HttpResponse) {
    this.#response = response;
  }

  add(text: string): void {
    if (text === '' || this.#seen.has(text)) return;
    this.#seen.add(text);
    let shown = printable(text);
    if (this.#total + shown.length > MAX_TOTAL) shown = [...shown].slice(0, MAX_EACH_WHEN_FULL).join('');
    if (this.#total + shown.length > MAX_TOTAL) return;
    this.#total += shown.length;
    this.#response.addHeader('warning', `299 - "${shown.replace(/[\\"]/g, '\\$&')}"`);
  }
}

/** A header value is bytes: non-ASCII goes out as UTF-8, control characters not at all. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be in a header
  const clean = text.replace(/[\u0000-\u001f\u007f]/g, ' ');
  return Buffer.from(clean, 'utf8').toString('latin1');
}
