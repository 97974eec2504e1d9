// What the verbs in files of their own need of the Store they work for.
import type { GroupResource } from '@kube-rx/apimachinery';
import type { StoredObject } from '../storage/stored-object.ts';
import type { AdmissionBase, ResourceCore, VersionView } from './resource-core.ts';
import type { RequestContext, ResourceStore, WriteCall } from './rest.ts';
import type { StrategyContext } from './strategy.ts';

export interface VerbTarget extends ResourceStore {
  readonly core: ResourceCore;
  readonly view: VersionView;
  /** As errors name the resource. */
  readonly qualified: GroupResource;
  keyOf(namespace: string, name: string): string;
  /** The object as this version shows it. */
  show(stored: StoredObject): StoredObject;
  contextOf(request: RequestContext, call: WriteCall, name: string, subresource?: string): StrategyContext;
  /** What admission hears of a write; the operation and the objects are the caller's to add. */
  admissionAttributes(ctx: RequestContext, call: WriteCall, name: string, subresource?: string): AdmissionBase;
}
