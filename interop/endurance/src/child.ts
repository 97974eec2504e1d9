// A program started here: its lines as they come, its end, and no way for it to stay behind.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly onLine: (line: string) => void;
}

export class Child implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #exited: Promise<number | undefined>;
  readonly #errors: string[] = [];
  #ended = false;

  constructor({ command, args, cwd, onLine }: ChildOptions) {
    // A group of its own: npm starts others, and none of them may outlive this program.
    this.#process = spawn(command, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const { stdout, stderr } = this.#process;
    createInterface({ input: stdout! }).on('line', onLine);
    createInterface({ input: stderr! }).on('line', (line) => {
      this.#errors.push(line);
      if (this.#errors.length > 100) this.#errors.shift();
    });
    this.#exited = new Promise((resolve, reject) => {
      this.#process.once('error', reject);
      this.#process.once('close', (code) => {
        this.#ended = true;
        resolve(code ?? undefined);
      });
    });
    // Whoever asks gets it; nobody has to.
    this.#exited.catch(() => {});
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** The last lines of its error stream. */
  get errors(): readonly string[] {
    return this.#errors;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Resolves with the exit code when the program and its output have ended; undefined when a signal ended it. */
  get exited(): Promise<number | undefined> {
    return this.#exited;
  }

  /** To the program itself, not to what it started. */
  signal(name: 'SIGINT' | 'SIGTERM'): void {
    this.#process.kill(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid } = this.#process;
    if (!this.#ended && pid !== undefined) {
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {
        // It was about to end.
      }
    }
    await this.#exited.catch(() => {});
  }
}
