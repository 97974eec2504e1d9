// Credentials that live in files and are rotated under a running process.
// Upstream: client-go@v0.30.3:transport/token_source.go#fileTokenSource, transport/cert_rotation.go
import { readFile } from 'node:fs/promises';
import type { Clock } from '@kube-rx/apimachinery';
import { ConfigError } from '../errors.ts';
import type { AuthProvider } from '../rest/auth.ts';
import type { TlsMaterial } from '../rest/tls-material.ts';

const TOKEN_PERIOD_MS = 60_000;
// A file read so shortly before is not read again because of a 401.
const TOKEN_LEEWAY_MS = 10_000;
const CERTIFICATE_PERIOD_MS = 300_000;

/** Reads the file at most once a minute; when it cannot be read, the token before stays in use. */
export function tokenFileAuth(path: string, clock: Clock): AuthProvider {
  let token: string | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  async function current(): Promise<string> {
    if (token !== undefined && clock.now() - readAt < TOKEN_PERIOD_MS) return token;
    try {
      const text = (await readFile(path, 'utf8')).trim();
      if (text === '') throw new Error('the file is empty');
      token = text;
      readAt = clock.now();
    } catch (cause) {
      if (token === undefined) {
        throw new ConfigError('NO_SUCH_FILE', `token file ${path}: ${(cause as Error).message}`, { cause });
      }
      readAt = clock.now();
    }
    return token;
  }
  return {
    headers: async () => ({ authorization: `Bearer ${await current()}` }),
    rejected() {
      const old = clock.now() - readAt > TOKEN_LEEWAY_MS;
      if (old) readAt = Number.NEGATIVE_INFINITY;
      return old;
    },
  };
}

export interface TlsFiles {
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

/** The same object until a file has changed; files are looked at every five minutes. */
export function tlsFromFiles(fixed: TlsMaterial, files: TlsFiles, clock: Clock): () => Promise<TlsMaterial> {
  let current: TlsMaterial | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  const read = async (path: string | undefined): Promise<string | undefined> => {
    if (path === undefined) return undefined;
    try {
      return await readFile(path, 'utf8');
    } catch (cause) {
      throw new ConfigError('NO_SUCH_FILE', `certificate file ${path}: ${(cause as Error).message}`, { cause });
    }
  };
  return async () => {
    if (current !== undefined && clock.now() - readAt < CERTIFICATE_PERIOD_MS) return current;
    try {
      const [ca, cert, key] = await Promise.all([read(files.caFile), read(files.certFile), read(files.keyFile)]);
      const next: TlsMaterial = { ...fixed, ca: ca ?? fixed.ca, cert: cert ?? fixed.cert, key: key ?? fixed.key };
      if (current === undefined || next.ca !== current.ca || next.cert !== current.cert || next.key !== current.key)
        current = next;
    } catch (error) {
      // A file that is being replaced must not take down what works.
      if (current === undefined) throw error;
    }
    readAt = clock.now();
    return current;
  };
}
