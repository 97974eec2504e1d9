// Which strings need quotes in YAML 1.1, and which.
// Upstream: gopkg.in/yaml.v2 resolve.go, emitterc.go#yaml_emitter_analyze_scalar

const WORDS = new Set(
  ['', '~', 'null', 'y', 'yes', 'true', 'on', 'n', 'no', 'false', 'off', '<<'].flatMap((word) => [
    word,
    word.toUpperCase(),
    word.slice(0, 1).toUpperCase() + word.slice(1),
  ]),
);
const NUMBER =
  /^[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*|([0-9][0-9_]*)?\.[0-9_]+([eE][-+]?[0-9]+)?|[0-9][0-9_]*\.?[0-9_]*([eE][-+]?[0-9]+)?|\.(inf|Inf|INF))$|^\.(nan|NaN|NAN)$/;
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const TIMESTAMP =
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\.[0-9]*)?(Z| ?[-+][0-9:]+)?)?$/;

/** A text that would be read as something else than a string. */
export function needsQuotes(text: string): boolean {
  return WORDS.has(text) || NUMBER.test(text) || BASE_60.test(text) || TIMESTAMP.test(text);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones a YAML stream may not hold
const SPECIAL = /[\u0000-\u001f\u007f-\u009f\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])/;

export function plainAllowed(text: string): boolean {
  if (text === '' || SPECIAL.test(text) || /^ | $/.test(text)) return false;
  if (text.startsWith('---') || text.startsWith('...')) return false;
  if (/^[#,[\]{}&*!|>'"%@`]/.test(text)) return false;
  if (/^[?:-](\s|$)/.test(text)) return false;
  return !/:(\s|$)/.test(text) && !/\s#/.test(text);
}

export function singleQuotesAllowed(text: string): boolean {
  return !SPECIAL.test(text) && !/^ | $/.test(text);
}
