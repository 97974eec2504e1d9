// What to do with the warnings a server sends.
// Upstream: client-go@v0.30.3:rest/warnings.go#NewWarningWriter
import type { Logger } from '@kube-rx/apimachinery';
import type { Warning } from '../rest/warnings.ts';

export interface WarningLoggerOptions {
  readonly logger: Logger;
  /** Logs each text once. @defaultValue true */
  readonly deduplicate?: boolean;
  /** Texts that are remembered; the oldest is forgotten beyond. @defaultValue 1000 */
  readonly maxRemembered?: number;
}

const KUBERNETES_WARNING = 299;

/** For `onWarning` of the REST client: logs warnings of code 299 that have a text. */
export function warningLogger(options: WarningLoggerOptions): (warning: Warning) => void {
  const { logger, deduplicate = true, maxRemembered = 1000 } = options;
  const seen = new Set<string>();
  return ({ code, agent, text }) => {
    if (code !== KUBERNETES_WARNING || text === '') return;
    if (deduplicate) {
      if (seen.has(text)) return;
      for (const oldest of seen) {
        if (seen.size < maxRemembered) break;
        seen.delete(oldest);
      }
      seen.add(text);
    }
    logger.warn('warning of the API server', { text, agent });
  };
}
