// What the router itself answers, before any handler is asked.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/responsewriters/errors.go
import { newStatusError, type StatusError } from '@kube-rx/apimachinery';

const ROUTER_ANSWERS = new WeakSet<object>();

export function notFoundRoute(): StatusError {
  const error = newStatusError(404, 'NotFound', 'the server could not find the requested resource', {});
  ROUTER_ANSWERS.add(error);
  return error;
}
/** Whether an error is the router's own 404 and no handler's. */
export const isRouteNotFound = (error: unknown): boolean => ROUTER_ANSWERS.has(error as object);
export const methodNotAllowed = (): StatusError =>
  newStatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
