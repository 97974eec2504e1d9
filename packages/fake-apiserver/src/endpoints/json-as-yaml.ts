// A shortcut through YAML: most bodies in "YAML" are JSON as a program writes it, which both languages read alike.
import { scalarToJson } from './yaml-resolve.ts';

// Escapes, line breaks and other characters with a meaning of their own in YAML take the long way.
const PLAIN_TEXT = /^\{[ !#-[\]-~"]*\}$/;
const MAX_KEY_LENGTH = 200;
const MAX_DEPTH = 200;

/**
 * The document with sorted keys, as reading it as YAML would give it. Undefined when it is not compact JSON of simple characters,
 * whole numbers and unique keys: then only the YAML reader knows.
 */
export function simpleJson(text: string): string | undefined {
  if (!PLAIN_TEXT.test(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
    // Doubled keys, spaces and other spellings of numbers are gone now.
    if (JSON.stringify(value) !== text) return undefined;
  } catch {
    return undefined;
  }
  return sorted(value, 0);
}

function sorted(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return scalarToJson(value);
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  if (depth > MAX_DEPTH) return undefined;
  const parts: string[] = [];
  if (Array.isArray(value)) {
    for (const item of value) {
      const part = sorted(item, depth + 1);
      if (part === undefined) return undefined;
      parts.push(part);
    }
    return `[${parts.join(',')}]`;
  }
  const object = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(object).sort()) {
    const part = key.length > MAX_KEY_LENGTH ? undefined : sorted(object[key], depth + 1);
    if (part === undefined) return undefined;
    parts.push(`${JSON.stringify(key)}:${part}`);
  }
  return `{${parts.join(',')}}`;
}
