// Answers of the authorizer for expressions, which cannot wait: an expression that asks something new is stopped, and run again
// once the answer is known. Answers hold for one request.
// Upstream: apiserver@v0.30.3:pkg/admission/plugin/policy/validating/caching_authorizer.go
import type {
  AskAuthorizer,
  AuthorizerAnswer,
  AuthorizerQuestion,
} from '../../apiextensions/cel/authorizer-library.ts';
import type { AccessAuthorizer } from '../../registry/rbac/attributes.ts';

/** Not an error of the expression: stops its evaluation. */
class Unanswered {
  readonly question: AuthorizerQuestion;
  constructor(question: AuthorizerQuestion) {
    this.question = question;
  }
}

const keyOf = (question: AuthorizerQuestion): string => JSON.stringify(question);

export class AuthorizerAnswers {
  readonly #authorizer: AccessAuthorizer;
  readonly #answers = new Map<string, AuthorizerAnswer>();

  constructor(authorizer: AccessAuthorizer) {
    this.#authorizer = authorizer;
  }

  readonly ask: AskAuthorizer = (question) => {
    const answer = this.#answers.get(keyOf(question));
    if (answer === undefined) throw new Unanswered(question);
    return answer;
  };

  /** Runs something that asks until all it asks is answered. It must not change anything before it is done. */
  async complete<T>(run: () => T): Promise<T> {
    for (;;) {
      try {
        return run();
      } catch (stop) {
        if (!(stop instanceof Unanswered)) throw stop;
        this.#answers.set(keyOf(stop.question), await this.#decide(stop.question));
      }
    }
  }

  async #decide(question: AuthorizerQuestion): Promise<AuthorizerAnswer> {
    try {
      return await this.#authorizer.authorize(question);
    } catch (error) {
      return { allowed: false, reason: '', error: error instanceof Error ? error.message : String(error) };
    }
  }
}
