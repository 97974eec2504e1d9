// YAML as sigs.k8s.io/yaml writes it: keys sorted, sequences not indented, lines broken at the first space past column 80.
// Upstream: sigs.k8s.io/yaml@v1.3.0:yaml.go#Marshal, gopkg.in/yaml.v2 emitterc.go
import { needsQuotes, plainAllowed, singleQuotesAllowed } from './yaml-scalars.ts';

const BEST_WIDTH = 80;

/** A JSON value as a YAML document. */
export function writeYaml(value: unknown): string {
  const writer = new Writer();
  writer.node(value, 0, true);
  return writer.text;
}

class Writer {
  text = '';
  #column = 0;

  /** `indent` is the column of the keys or dashes of this node; `fresh` when it starts a line there. */
  node(value: unknown, indent: number, fresh: boolean): void {
    if (Array.isArray(value) && value.length > 0) this.#sequence(value, indent, fresh);
    else if (isMap(value) && Object.keys(value).length > 0) this.#mapping(value, indent, fresh);
    else {
      this.#scalar(value, indent, true);
      this.#newline();
    }
  }

  #put(text: string): void {
    this.text += text;
    this.#column += text.length;
  }

  #newline(): void {
    this.text += '\n';
    this.#column = 0;
  }

  #indent(columns: number): void {
    this.#put(' '.repeat(columns));
  }

  #sequence(items: readonly unknown[], indent: number, fresh: boolean): void {
    for (const [index, item] of items.entries()) {
      if (index > 0 || !fresh) this.#indent(indent);
      this.#put('- ');
      this.node(item, indent + 2, true);
    }
  }

  #mapping(map: Readonly<Record<string, unknown>>, indent: number, fresh: boolean): void {
    for (const [index, key] of Object.keys(map).sort().entries()) {
      if (index > 0 || !fresh) this.#indent(indent);
      this.#scalar(key, indent, false);
      this.#put(':');
      const value = map[key];
      const block = (Array.isArray(value) && value.length > 0) || (isMap(value) && Object.keys(value).length > 0);
      if (block) {
        this.#newline();
        // Items of a list stand below their key, keys of a map two columns further in.
        this.node(value, Array.isArray(value) ? indent : indent + 2, false);
      } else {
        this.#put(' ');
        this.node(value, indent, true);
      }
    }
  }

  #scalar(value: unknown, indent: number, breaks: boolean): void {
    if (typeof value !== 'string') {
      this.#put(Array.isArray(value) ? '[]' : isMap(value) ? '{}' : String(value ?? null));
      return;
    }
    if (value.includes('\n') && breaks) this.#literal(value, indent + 2);
    else if (needsQuotes(value)) this.#double(value, indent + 2, breaks);
    else if (plainAllowed(value)) this.#folded(value, indent + 2, breaks);
    else if (!singleQuotesAllowed(value)) this.#double(value, indent + 2, breaks);
    else {
      this.#put("'");
      this.#folded(value.replaceAll("'", "''"), indent + 2, breaks);
      this.#put("'");
    }
  }

  /** A line ends at the first single space past the width. */
  #folded(text: string, indent: number, breaks: boolean): void {
    for (let at = 0; at < text.length; at++) {
      const inner = at > 0 && at < text.length - 1 && text[at - 1] !== ' ' && text[at + 1] !== ' ';
      if (breaks && text[at] === ' ' && inner && this.#column > BEST_WIDTH) {
        this.#newline();
        this.#indent(indent);
      } else this.#put(text[at]!);
    }
  }

  #double(value: string, indent: number, breaks: boolean): void {
    this.#put('"');
    const chars = [...value];
    for (const [at, char] of chars.entries()) {
      const inner = at > 0 && at < chars.length - 1 && chars[at - 1] !== ' ';
      if (breaks && char === ' ' && inner && this.#column > BEST_WIDTH) {
        this.#newline();
        this.#indent(indent);
        if (chars[at + 1] === ' ') this.#put('\\');
      } else this.#put(escapeDouble(char));
    }
    this.#put('"');
  }

  #literal(value: string, indent: number): void {
    this.#put('|');
    if (value.startsWith(' ') || value.startsWith('\n')) this.#put('2');
    if (!value.endsWith('\n')) this.#put('-');
    else if (value.endsWith('\n\n') || value === '\n') this.#put('+');
    const body = value.endsWith('\n') ? value.slice(0, -1) : value;
    for (const line of body.split('\n')) {
      this.#newline();
      if (line !== '') {
        this.#indent(indent);
        this.#put(line);
      }
    }
  }
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\u0007': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\u001b': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\u0085': '\\N',
  '\u00a0': '\\_',
  '\u2028': '\\L',
  '\u2029': '\\P',
};

function escapeDouble(char: string): string {
  const short = ESCAPES[char];
  if (short !== undefined) return short;
  const code = char.codePointAt(0)!;
  if (code >= 0x20 && code !== 0x7f && !(code >= 0x80 && code < 0xa0) && code !== 0xfeff) return char;
  return code <= 0xff ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
}

const hex = (code: number, digits: number): string => code.toString(16).toUpperCase().padStart(digits, '0');
