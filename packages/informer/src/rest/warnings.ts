// The Warning header: what the server wants its users to know about deprecated things.
// Upstream: apimachinery@v0.30.3:pkg/util/net/http.go#ParseWarningHeaders

export interface Warning {
  readonly code: number;
  readonly agent: string;
  readonly text: string;
}

// code SP agent SP "text" [SP "date"], comma separated
const ONE = /\s*([0-9]{3})\s+(\S+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"[^"]*")?\s*(?:,|$)/y;

/** Well-formed warnings in order; reading stops at the first malformed one. */
export function parseWarnings(header: string): Warning[] {
  const warnings: Warning[] = [];
  ONE.lastIndex = 0;
  while (ONE.lastIndex < header.length) {
    const match = ONE.exec(header);
    if (match === null) break;
    warnings.push({ code: Number(match[1]), agent: match[2]!, text: match[3]!.replace(/\\(.)/g, '$1') });
  }
  return warnings;
}
