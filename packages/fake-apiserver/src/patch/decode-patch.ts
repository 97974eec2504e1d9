// Patch documents from text, with upstream's words for what is wrong with them.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/patch.go#applyJSPatch
import { DecodeError } from '../schema/decode-error.ts';
import { decodeJson } from '../schema/decode-json.ts';
import { isObject } from './json-value.ts';
import { PatchError } from './patch-error.ts';

export type PatchFormat = 'json-patch' | 'merge-patch' | 'strategic-merge-patch';

export interface DecodedPatch {
  readonly patch: unknown;
  /** What strict validation has to say of the patch itself; empty when `strict` is false. */
  readonly strictErrors: readonly string[];
}

const OPERATION_FIELDS: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value']);

/**
 * @param strict True for `fieldValidation` Warn and Strict: duplicates are looked for, and some messages differ.
 * @throws PatchError `bad-request`.
 */
export function decodePatch(format: PatchFormat, text: string, strict: boolean): DecodedPatch {
  const decoded = parse(text, format !== 'strategic-merge-patch' && strict ? 'error decoding patch: ' : '', format);
  const strictErrors = strict ? decoded.strictErrors : [];
  if (format === 'json-patch') return decodeJsonPatch(decoded.value, strictErrors, strict);
  if (isObject(decoded.value)) return { patch: decoded.value, strictErrors };
  // A null patch is an empty map to the decoder.
  if (decoded.value === null) return { patch: format === 'merge-patch' ? null : {}, strictErrors };
  if (format === 'merge-patch' && !strict) return { patch: decoded.value, strictErrors };
  const mismatch = `json: cannot unmarshal ${jsonKind(decoded.value)} into Go value of type map[string]interface {}`;
  throw new PatchError('bad-request', format === 'merge-patch' ? `error decoding patch: ${mismatch}` : mismatch);
}

function parse(text: string, prefix: string, format: PatchFormat): { value: unknown; strictErrors: readonly string[] } {
  try {
    return decodeJson(text);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const lenientMerge = format === 'merge-patch' && prefix === '';
    const message = lenientMerge ? 'Invalid JSON Patch' : prefix + error.message;
    throw new PatchError('bad-request', message, { cause: error });
  }
}

function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (isObject(value)) return 'object';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** Under strict validation the operations are first read into a struct, whose field types are checked then. */
function decodeJsonPatch(value: unknown, duplicates: readonly string[], strict: boolean): DecodedPatch {
  if (!strict) return { patch: value ?? [], strictErrors: [] };
  const fail = (found: unknown, where: string): never => {
    throw new PatchError(
      'bad-request',
      `error decoding patch: json: cannot unmarshal ${jsonKind(found)} into Go ${where}`,
    );
  };
  if (value === null) return { patch: [], strictErrors: [] };
  if (!Array.isArray(value)) return fail(value, 'value of type []handlers.jsonPatchOp');
  const unknown: string[] = [];
  for (const [index, operation] of value.entries()) {
    if (operation === null) continue;
    if (!isObject(operation)) return fail(operation, 'value of type handlers.jsonPatchOp');
    for (const key of Object.keys(operation)) {
      if (!OPERATION_FIELDS.has(key)) unknown.push(`unknown field "[${index}].${key}"`);
      else if (key !== 'value' && operation[key] !== null && typeof operation[key] !== 'string') {
        return fail(operation[key], `struct field jsonPatchOp.${key} of type string`);
      }
    }
  }
  const known = duplicates.filter((error) => /^duplicate field "\[\d+\]\.(op|path|from|value)/.test(error));
  return { patch: value, strictErrors: [...unknown, ...known].map((error) => `json patch ${error}`) };
}
