// What an authorizer is asked and how it answers.
// Upstream: apiserver@v0.30.3:pkg/authorization/authorizer/interfaces.go
import type { UserInfo } from '../rest.ts';

export interface AccessAttributes {
  readonly user: UserInfo;
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

export interface AccessDecision {
  readonly allowed: boolean;
  readonly reason: string;
}

export interface AccessAuthorizer {
  authorize(attributes: AccessAttributes): AccessDecision | Promise<AccessDecision>;
}
