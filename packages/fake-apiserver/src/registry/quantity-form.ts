// Quantities as Go writes them after parsing: `0.5` is `500m`, `1024Mi` is `1Gi`.
import { canonicalQuantity as canonical } from '@kube-rx/apimachinery';

/** The canonical text; what is no quantity is handed back. */
export function canonicalQuantity(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value ?? undefined;
  try {
    return canonical(String(value));
  } catch {
    return value;
  }
}
