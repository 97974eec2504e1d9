// Lets expressions ask what a user may do: `authorizer.group('apps').resource('deployments').check('get').allowed()`.
// Upstream: apiserver@v0.30.3:pkg/cel/library/authz.go
import { isDNS1123Label, isDNS1123Subdomain } from '@kube-rx/apimachinery';
import type { CelFunction } from './string-functions.ts';
import { CelError, type CelStruct, type CelValue, noSuchOverload } from './values.ts';

export interface AuthorizerUser {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** What a check asks; the fields of a resource are '' for a path, and the other way round. */
export interface AuthorizerQuestion {
  readonly user: AuthorizerUser;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly path: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
}

export interface AuthorizerAnswer {
  readonly allowed: boolean;
  readonly reason: string;
  /** Why there is no decision. */
  readonly error?: string | undefined;
}

/** Answers at once. What it throws that is no CelError ends the evaluation, so that it can start over once the answer is known. */
export type AskAuthorizer = (question: AuthorizerQuestion) => AuthorizerAnswer;

/** Has functions, but no fields that could be read. */
abstract class Receiver implements CelStruct {
  readonly struct = true;
  readonly fieldNames: readonly string[] = [];
  field(_name: string): CelValue | undefined {
    return undefined;
  }
}

const NOTHING: Omit<AuthorizerQuestion, 'user' | 'verb'> = {
  isResourceRequest: false,
  path: '',
  apiGroup: '',
  apiVersion: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
};

/** A question without its verb. */
export class CelAccessCheck extends Receiver {
  readonly #ask: AskAuthorizer;
  readonly #question: Omit<AuthorizerQuestion, 'verb'>;

  constructor(ask: AskAuthorizer, question: Omit<AuthorizerQuestion, 'verb'>) {
    super();
    this.#ask = ask;
    this.#question = question;
  }

  static ofResource(
    ask: AskAuthorizer,
    user: AuthorizerUser,
    resource: Pick<AuthorizerQuestion, 'apiGroup' | 'resource'> & Partial<AuthorizerQuestion>,
  ): CelAccessCheck {
    return new CelAccessCheck(ask, { ...NOTHING, isResourceRequest: true, apiVersion: '*', ...resource, user });
  }

  static ofPath(ask: AskAuthorizer, user: AuthorizerUser, path: string): CelAccessCheck {
    return new CelAccessCheck(ask, { ...NOTHING, path, user });
  }

  with(change: Partial<AuthorizerQuestion>): CelAccessCheck {
    if (!this.#question.isResourceRequest) throw noSuchOverload();
    return new CelAccessCheck(this.#ask, { ...this.#question, ...change });
  }

  check(verb: string): CelAccessDecision {
    return new CelAccessDecision(this.#ask({ ...this.#question, verb }));
  }
}

class CelGroupCheck extends Receiver {
  readonly ask: AskAuthorizer;
  readonly user: AuthorizerUser;
  readonly group: string;
  constructor(ask: AskAuthorizer, user: AuthorizerUser, group: string) {
    super();
    this.ask = ask;
    this.user = user;
    this.group = group;
  }
}

class CelAccessDecision extends Receiver {
  readonly answer: AuthorizerAnswer;
  constructor(answer: AuthorizerAnswer) {
    super();
    this.answer = answer;
  }
}

/** The variable `authorizer`; `requestResource` is a check of the request itself. */
export class CelAuthorizer extends Receiver {
  readonly ask: AskAuthorizer;
  readonly user: AuthorizerUser;
  readonly #requestResource: CelAccessCheck | undefined;

  constructor(ask: AskAuthorizer, user: AuthorizerUser, requestResource?: CelAccessCheck) {
    super();
    this.ask = ask;
    this.user = user;
    this.#requestResource = requestResource;
  }

  override field(name: string): CelValue | undefined {
    return name === 'requestResource' ? this.#requestResource : undefined;
  }
}

const text = (value: CelValue | undefined): string => {
  if (typeof value === 'string') return value;
  throw noSuchOverload();
};
const authorizer = (value: CelValue | undefined): CelAuthorizer => {
  if (value instanceof CelAuthorizer) return value;
  throw noSuchOverload();
};
const filled = (value: CelValue | undefined, what: string): string => {
  const given = text(value);
  if (given.trim() === '') throw new CelError(`${what} must not be empty`);
  return given;
};
const changes =
  (field: 'subresource' | 'namespace' | 'name'): CelFunction =>
  ([check, value]) => {
    if (check instanceof CelAccessCheck) return check.with({ [field]: text(value) });
    throw noSuchOverload();
  };
const tells =
  (read: (answer: AuthorizerAnswer) => CelValue): CelFunction =>
  ([decision]) => {
    if (decision instanceof CelAccessDecision) return read(decision.answer);
    throw noSuchOverload();
  };

function serviceAccount([of, namespaceValue, nameValue]: readonly CelValue[]): CelValue {
  const { ask } = authorizer(of);
  const [namespace, name] = [text(namespaceValue), text(nameValue)];
  if (isDNS1123Subdomain(name).length > 0) throw new CelError('Invalid service account name');
  if (isDNS1123Label(namespace).length > 0) throw new CelError('Invalid service account namespace');
  return new CelAuthorizer(ask, {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  });
}

export const authorizerFunctions: Readonly<Record<string, CelFunction>> = {
  path: ([of, path]) => CelAccessCheck.ofPath(authorizer(of).ask, authorizer(of).user, filled(path, 'path')),
  group: ([of, group]) => new CelGroupCheck(authorizer(of).ask, authorizer(of).user, text(group)),
  serviceAccount,
  resource: ([of, resource]) => {
    if (!(of instanceof CelGroupCheck)) throw noSuchOverload();
    return CelAccessCheck.ofResource(of.ask, of.user, { apiGroup: of.group, resource: filled(resource, 'resource') });
  },
  subresource: changes('subresource'),
  namespace: changes('namespace'),
  name: changes('name'),
  check: ([of, verb]) => {
    if (of instanceof CelAccessCheck) return of.check(text(verb));
    throw noSuchOverload();
  },
  allowed: tells((answer) => answer.allowed),
  reason: tells((answer) => answer.reason),
  errored: tells((answer) => answer.error !== undefined),
  error: tells((answer) => answer.error ?? ''),
};
