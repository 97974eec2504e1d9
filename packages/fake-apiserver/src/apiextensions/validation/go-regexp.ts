// Go's regular expressions, in time linear in the text: patterns come from whoever may write a CRD, and a backtracking engine
// could be made to hang by one. The only place that knows the library.
// Upstream: Go's regexp/syntax
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

/** What Go refuses, in Go's words. */
export class GoRegexpError extends Error {
  override readonly name = 'GoRegexpError';
}

/** A compiled pattern, unanchored. */
export class GoRegexp {
  readonly #compiled: RE2JS;

  constructor(compiled: RE2JS) {
    this.#compiled = compiled;
  }

  test(text: string): boolean {
    return this.#compiled.test(text);
  }

  /** The leftmost match. */
  find(text: string): string | undefined {
    const matcher = this.#compiled.matcher(text);
    return matcher.find() ? (matcher.group() ?? undefined) : undefined;
  }

  /** All matches in order; an empty one right behind another does not count. */
  findAll(text: string): readonly string[] {
    const matcher = this.#compiled.matcher(text);
    const all: string[] = [];
    for (let end = -1; matcher.find(); end = matcher.end()) {
      const match = matcher.group() ?? '';
      if (match !== '' || matcher.start() !== end) all.push(match);
    }
    return all;
  }
}

const CACHE_LIMIT = 1000;
const cache = new Map<string, GoRegexp>();
// Loaded with the first pattern: most servers never see one.
const require = createRequire(import.meta.url);

/** Throws {@link GoRegexpError} with Go's text for what Go would refuse. */
export function compileGoRegexp(pattern: string): GoRegexp {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  const { RE2JS: Compiler } = require('re2js') as typeof import('re2js');
  let compiled: GoRegexp;
  try {
    compiled = new GoRegexp(Compiler.compile(pattern));
  } catch (cause) {
    const { message } = cause as Error;
    // Go names the place of every error, also of this one, where there is nothing to show.
    throw new GoRegexpError(message.endsWith('at end of expression') ? `${message}: \`\`` : message, { cause });
  }
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(pattern, compiled);
  return compiled;
}
