// The four kinds of patches as functions from the existing object to the new one.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/patch.go#{jsonPatcher,smpPatcher,applyPatcher}
import {
  type FieldErrorCause,
  goJsonStringify,
  goQuote,
  newBadRequest,
  newInternalError,
  newStatusError,
  newUnknownError,
} from '@kube-rx/apimachinery';
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  decodePatch,
  goPrint,
  type PatchFormat,
} from '../patch/index.ts';
import type { ResourceStore } from '../registry/rest.ts';
import { DecodeError, strictDecodingError } from '../schema/decode-error.ts';
import { decodeJson } from '../schema/decode-json.ts';
import type { ApiObject } from '../storage/api-object.ts';
import type { EndpointsContext } from './exchange.ts';
import { invalid } from './field-errors.ts';
import { duplicateWarnings } from './object-decoder.ts';
import type { DecodedWriteOptions } from './write-options-codec.ts';
import { readYaml } from './yaml-reader.ts';

export type PatchType =
  | 'application/json-patch+json'
  | 'application/merge-patch+json'
  | 'application/strategic-merge-patch+json'
  | 'application/apply-patch+yaml';

const ALL: readonly PatchType[] = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];

const FORMAT: Readonly<Record<string, PatchFormat>> = {
  'application/json-patch+json': 'json-patch',
  'application/merge-patch+json': 'merge-patch',
  'application/strategic-merge-patch+json': 'strategic-merge-patch',
};

/** Custom resources have no Go type, which strategic merging needs. */
export function patchTypesOf(custom: boolean): readonly PatchType[] {
  return custom ? ALL.filter((type) => type !== 'application/strategic-merge-patch+json') : ALL;
}

export interface PatchContext {
  readonly manager: string;
  readonly subresource: string;
  readonly warn: (text: string) => void;
}

export type Patch = (existing: ApiObject | undefined) => ApiObject;

/** Reads the patch once; the function it returns may run several times. Throws PatchErrors and StatusErrors. */
export function preparePatch(
  server: EndpointsContext,
  store: ResourceStore,
  type: PatchType,
  body: Buffer,
  options: DecodedWriteOptions,
  context: PatchContext,
): Patch {
  const text = body.toString('utf8');
  if (type === 'application/apply-patch+yaml') return prepareApply(server, store, text, options, context);
  const findings = new Findings(options, context);
  const patch = readPatch(text, type, findings);
  return (existing) => {
    const current = existing!;
    const object =
      type === 'application/strategic-merge-patch+json'
        ? strategic(server, store, current, patch, findings)
        : textual(server, store, current, patch, type, findings);
    const defaulted = store.applyDefaults(object);
    return server.fieldManagers.update(store, current, defaulted, context.manager, context.subresource);
  };
}

/** Unknown and duplicate fields: of the patch itself, then of what it makes. */
class Findings {
  readonly #options: DecodedWriteOptions;
  readonly #context: PatchContext;
  ofPatch: readonly string[] = [];

  constructor(options: DecodedWriteOptions, context: PatchContext) {
    this.#options = options;
    this.#context = context;
  }

  get wanted(): boolean {
    return this.#options.fieldValidation !== 'Ignore';
  }

  settle(strictErrors: readonly string[], shown: () => string): void {
    const all = [...this.ofPatch, ...strictErrors];
    if (all.length === 0 || !this.wanted) return;
    if (this.#options.fieldValidation === 'Strict') throw invalidPatch(shown(), strictDecodingError(all));
    for (const text of all) this.#context.warn(text);
  }
}

function readPatch(text: string, type: PatchType, findings: Findings): unknown {
  const { patch, strictErrors } = decodePatch(FORMAT[type]!, text, findings.wanted);
  findings.ofPatch = strictErrors;
  return patch;
}

function textual(
  server: EndpointsContext,
  store: ResourceStore,
  current: ApiObject,
  patch: unknown,
  type: PatchType,
  findings: Findings,
): ApiObject {
  const patched =
    type === 'application/json-patch+json' ? applyJsonPatch(current, patch) : applyMergePatch(current, patch);
  const text = goJsonStringify(sortTopLevel(patched));
  const named = namedKind(patched);
  if (named.apiVersion === '') throw withoutVersion(store, current);
  try {
    if (named.kind === '' && store.info.custom) throw new DecodeError(`Object 'Kind' is missing in '${text}'`);
    const { object, strictErrors } = server.decoder.decodePatched(text, named, store);
    findings.settle(strictErrors, () => goQuote(text));
    return object;
  } catch (error) {
    if (error instanceof DecodeError) throw invalidPatch(goQuote(text), error.message);
    throw error;
  }
}

/** Built-in kinds are decoded as the internal version then, which knows no JSON. */
function withoutVersion(store: ResourceStore, current: ApiObject): Error {
  if (store.info.custom) return newInternalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  const { name } = current.metadata;
  return newBadRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
}

function strategic(
  server: EndpointsContext,
  store: ResourceStore,
  current: ApiObject,
  patch: unknown,
  findings: Findings,
): ApiObject {
  const patched = applyStrategicMergePatch({ ...current }, patch as Record<string, unknown>, store.info.schema);
  try {
    const { object, strictErrors } = server.decoder.convert(patched, store.info);
    findings.settle(strictErrors, () => goQuote(goPrint(patch)));
    return object;
  } catch (error) {
    if (error instanceof DecodeError) throw invalidPatch(goQuote(goPrint(patch)), error.message);
    throw error;
  }
}

function prepareApply(
  server: EndpointsContext,
  store: ResourceStore,
  text: string,
  options: DecodedWriteOptions,
  context: PatchContext,
): Patch {
  let config: unknown;
  let duplicates: string | undefined;
  try {
    const yaml = readYaml(text);
    config = decodeJson(yaml.json).value;
    duplicates = yaml.duplicates;
    requireMap(config);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw newBadRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
  }
  const { manager, subresource } = context;
  const { group, version, kind, custom } = store.info;
  return (existing) => {
    const applied = server.fieldManagers.apply(store, existing, (config ?? {}) as ApiObject, {
      manager,
      force: options.force,
      subresource,
    });
    try {
      if (!custom) server.decoder.convert(applied, store.info);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      const gvk = `${group}/${version}, Kind=${kind}`;
      const { namespace = '', name = '' } = (config as ApiObject).metadata;
      const shown = `${namespace}/${name}`;
      throw newUnknownError(
        `failed to convert new object (${shown}; ${gvk}) to proper version: unable to convert unstructured object to ${gvk}: ${error.message}`,
      );
    }
    if (duplicates !== undefined && options.fieldValidation === 'Strict') {
      throw newBadRequest(`error strict decoding YAML: error converting YAML to JSON: ${duplicates}`);
    }
    if (options.fieldValidation === 'Warn') for (const text of duplicateWarnings(duplicates)) context.warn(text);
    return applied;
  };
}

function requireMap(config: unknown): void {
  if (config === null || (typeof config === 'object' && !Array.isArray(config))) return;
  const kind = Array.isArray(config) ? 'array' : typeof config === 'boolean' ? 'bool' : typeof config;
  throw newBadRequest(
    `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
  );
}

/** Upstream decodes and encodes the top level of a document into a sorted map; messages show it. */
function sortTopLevel(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, (value as Record<string, unknown>)[key]]));
}

function namedKind(value: unknown): { readonly apiVersion: string; readonly kind: string } {
  const { apiVersion, kind } = (value ?? {}) as { apiVersion?: unknown; kind?: unknown };
  return {
    apiVersion: typeof apiVersion === 'string' ? apiVersion : '',
    kind: typeof kind === 'string' ? kind : '',
  };
}

/** A 422 that names no kind, only the patch. */
function invalidPatch(shown: string, why: string): Error {
  const cause: FieldErrorCause = invalid('patch', shown, why);
  return newStatusError(422, 'Invalid', ` "" is invalid: patch: ${cause.message}`, { causes: [cause] });
}
