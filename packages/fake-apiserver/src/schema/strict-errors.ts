// Collects what strict decoding finds, with the path to it.
// Upstream: sigs.k8s.io/json@bc3834ca7abd:internal/golang/encoding/json/kubernetes_patch.go#saveStrictError
import { goQuote } from '@kube-rx/apimachinery';

const MAX_ERRORS = 100;

export class StrictErrors {
  readonly #path: string[] = [];
  readonly #found = new Set<string>();
  #muted = 0;

  get list(): readonly string[] {
    return [...this.#found];
  }

  enterKey(key: string): void {
    this.#path.push(this.#path.length === 0 ? key : `.${key}`);
  }

  enterIndex(index: number): void {
    this.#path.push(`[${index}]`);
  }

  leave(): void {
    this.#path.pop();
  }

  /** Runs a part whose findings do not count. */
  muted<T>(run: () => T): T {
    this.#muted++;
    try {
      return run();
    } finally {
      this.#muted--;
    }
  }

  add(what: 'unknown field' | 'duplicate field', field: string): void {
    if (this.#muted > 0 || this.#found.size >= MAX_ERRORS) return;
    const path = this.#path.length === 0 ? field : `${this.#path.join('')}.${field}`;
    this.#found.add(`${what} ${goQuote(path)}`);
  }
}
