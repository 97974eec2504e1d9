// Mistakes in YAML in the words of go-yaml.
// Upstream: gopkg.in/yaml.v2@v2.4.0:decode.go#parser.fail, scannerc.go, parserc.go
import type { YAMLParseError } from 'yaml';

export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

/** Without `yaml: ` in front. What the parser finds has lines counted from zero, and no number for the first. */
export function yamlErrorText({ code, pos, message }: YAMLParseError, text: string): string {
  const line = lineAt(text, pos[0]);
  const ends = pos[0] >= text.trimEnd().length;
  const scanned = (what: string, at = line): string => (at > 1 ? `line ${at}: ${what}` : what);
  const parsed = (what: string): string =>
    ends ? `line ${lineAt(text.trimEnd(), pos[0])}: ${what}` : scanned(what, line);
  const before = (what: string): string => (line > 1 ? `line ${line - 1}: ${what}` : what);
  switch (code) {
    case 'TAB_AS_INDENT':
    case 'BAD_SCALAR_START':
      return scanned('found character that cannot start any token');
    case 'BAD_DQ_ESCAPE':
      return scanned('found unknown escape character');
    case 'BAD_ALIAS':
      return scanned('did not find expected alphabetic or numeric character');
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'MULTILINE_IMPLICIT_KEY':
      return scanned('mapping values are not allowed in this context', lineAt(text, pos[1]));
  }
  if (/closing ["']quote/.test(message)) return scanned('found unexpected end of stream');
  if (/block-seq-ind/.test(message)) return scanned('block sequence entries are not allowed in this context');
  if (/^All mapping items/.test(message)) return before('did not find expected key');
  if (/^All sequence items|at node end/.test(message)) return before("did not find expected '-' indicator");
  if (/flow-(map|seq)-end/.test(message)) return before('did not find expected node content');
  const bracket = /end with a ([\]}])/.exec(message)?.[1];
  const opened = /[[{]$/.test(text.trimEnd());
  if (bracket !== undefined && !(ends && opened)) {
    const what = `did not find expected ',' or '${bracket}'`;
    return ends ? parsed(what) : before(what);
  }
  return parsed('did not find expected node content');
}
