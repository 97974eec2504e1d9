// Regular expressions of users, which Go matches in linear time: where backtracking could take ages, matching has a bound.
import { type Context, createContext, Script } from 'node:vm';

const LIMIT_MS = 500;
/** Below it even the worst pattern ends soon, and a guard would cost more than the match. */
const SHORT = 24;
const RUN = new Script('run()');

let context: Context | undefined;

/** A match that takes longer than half a second counts as none. */
export class BoundedRegExp extends RegExp {
  override exec(text: string): RegExpExecArray | null {
    if (text.length < SHORT) return super.exec(text);
    context ??= createContext({ run: undefined });
    context['run'] = (): RegExpExecArray | null => super.exec(text);
    try {
      return RUN.runInContext(context, { timeout: LIMIT_MS }) as RegExpExecArray | null;
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      return null;
    } finally {
      context['run'] = undefined;
    }
  }
}
