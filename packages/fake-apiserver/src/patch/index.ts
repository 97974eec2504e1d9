// Patches of API objects as pure functions: nothing here changes its input.
export { type DecodedPatch, decodePatch, type PatchFormat } from './decode-patch.ts';
export { goPrint } from './go-print.ts';
export { applyJsonPatch, MAX_JSON_PATCH_OPERATIONS } from './json-patch.ts';
export { applyMergePatch } from './merge-patch.ts';
export { PatchError, type PatchErrorKind } from './patch-error.ts';
export { applyStrategicMergePatch } from './strategic-merge-patch.ts';
