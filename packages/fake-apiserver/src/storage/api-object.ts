// An object as the server holds it: plain JSON, frozen once it is committed.
import type { ObjectMeta } from '@kube-rx/apimachinery';

/** Plain JSON with metadata. Inside the server every object has `apiVersion` and `kind`, also items of lists. */
export interface ApiObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}
