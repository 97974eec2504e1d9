// Paths that are no API resources: health, version, discovery, metrics, OpenAPI, control. Later parts register here.
// Upstream: apiserver@v0.30.3:pkg/server/mux/pathrecorder.go#PathRecorderMux
import type { HttpRequest, HttpResponse } from '../endpoints/http.ts';

export type PathHandler = (request: HttpRequest, response: HttpResponse) => Promise<void>;

export class PathRegistry {
  readonly #exact = new Map<string, PathHandler>();
  readonly #listed = new Set<string>();
  readonly #prefixes: { readonly prefix: string; readonly handler: PathHandler }[] = [];

  /** Serves exactly this path; the later registration wins. */
  handle(path: string, handler: PathHandler): void {
    this.#exact.set(path, handler);
    this.#listed.add(path);
  }

  /** The same for a path that the index does not name. */
  handleUnlisted(path: string, handler: PathHandler): void {
    this.#exact.set(path, handler);
  }

  /** Names a path in the index that a prefix serves. */
  list(path: string): void {
    this.#listed.add(path);
  }

  /** Serves everything below `prefix`, which ends in a slash. The longest prefix wins. */
  handlePrefix(prefix: string, handler: PathHandler): void {
    this.#prefixes.push({ prefix, handler });
    this.#prefixes.sort((a, b) => b.prefix.length - a.prefix.length);
  }

  find(path: string): PathHandler | undefined {
    return this.#exact.get(path) ?? this.#prefixes.find(({ prefix }) => path.startsWith(prefix))?.handler;
  }

  /** Sorted, for the index at `/`. */
  paths(): readonly string[] {
    return [...this.#listed].sort();
  }
}
