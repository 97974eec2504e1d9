// `Warning: 299 - "text"` headers, each text once, shortened when there are too many of them.
// Upstream: apiserver@v0.30.3:pkg/endpoints/filters/warning.go
import type { HttpResponse } from '../endpoints/http.ts';

const MAX_TOTAL = 4 * 1024;
const MAX_EACH_WHEN_FULL = 256;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be in a header
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

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
    // A header cannot say it, so nobody does.
    if (CONTROL.test(text)) return;
    let shown = printable(text);
    if (this.#total + shown.length > MAX_TOTAL) shown = [...shown].slice(0, MAX_EACH_WHEN_FULL).join('');
    if (this.#total + shown.length > MAX_TOTAL) return;
    this.#total += shown.length;
    this.#response.addHeader('warning', `299 - "${shown.replace(/[\\"]/g, '\\$&')}"`);
  }
}

/** A header value is bytes: non-ASCII goes out as UTF-8. */
const printable = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
