// Persistent volumes and claims.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/{persistentvolume,persistentvolumeclaim}/strategy.go
import { clone, type Draft, dict, ensure, get, has, put, str } from '../draft.ts';
import type { Strategy } from '../strategy.ts';
import { keep, statusPart, statusResetFields } from '../strategy-parts.ts';
import {
  validateClaim,
  validateClaimUpdate,
  validateVolume,
  validateVolumeUpdate,
} from '../validation/storage-volumes.ts';

export const persistentVolumeStrategy: Strategy = {
  namespaced: false,
  returnDeletedObject: true,
  resetFields: statusResetFields(),
  prepareForCreate(object, ctx) {
    put(object, 'status', { phase: 'Pending', lastPhaseTransitionTime: ctx.now });
  },
  prepareForUpdate: (object, old) => keep(object, old, 'status'),
  validateCreate: validateVolume,
  validateUpdate: validateVolumeUpdate,
  subresources: {
    status: {
      prepareForUpdate(object, old, ctx) {
        keep(object, old, 'spec');
        const status = ensure(object, 'status');
        const changed = str(status, 'phase') !== str(dict(old, 'status'), 'phase');
        const time = get(status, 'lastPhaseTransitionTime');
        const oldTime = get(dict(old, 'status'), 'lastPhaseTransitionTime');
        if (changed && (time === undefined || time === oldTime)) put(status, 'lastPhaseTransitionTime', ctx.now);
      },
    },
  },
};

const COPYABLE: ReadonlySet<string> = new Set(['PersistentVolumeClaim', 'VolumeSnapshot']);

/** The old and the new name of a claim's source follow each other. */
function normalizeSources(object: Draft): void {
  const spec = dict(object, 'spec');
  if (spec === undefined) return;
  const [source, ref] = [dict(spec, 'dataSource'), dict(spec, 'dataSourceRef')];
  if (source !== undefined && ref === undefined) {
    if (COPYABLE.has(str(source, 'kind'))) put(spec, 'dataSourceRef', clone(source));
    // Other kinds were never honoured under the old name.
    else delete spec['dataSource'];
  } else if (ref !== undefined && source === undefined && !has(ref, 'namespace')) put(spec, 'dataSource', clone(ref));
}

export const persistentVolumeClaimStrategy: Strategy = {
  namespaced: true,
  returnDeletedObject: true,
  resetFields: statusResetFields(),
  prepareForCreate(object) {
    put(object, 'status', { phase: 'Pending' });
    normalizeSources(object);
  },
  prepareForUpdate(object, old) {
    keep(object, old, 'status');
    normalizeSources(object);
  },
  validateCreate: validateClaim,
  validateUpdate: validateClaimUpdate,
  subresources: { status: statusPart() },
};
